"""Several devices side by side, `--device=orin-1,orin-2`: each is measured by a pytest of its own.

Devices of one host come one after another: what shares a host shares its processors and buses, if not its
disk. The others are measured at once. Where two hosts turn out to be one, the locks of targets and disks
keep the second run from measuring.
"""

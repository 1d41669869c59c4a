"""The machine that iogate runs on: processes, signals, mounts, block devices, and what /sys and /proc say."""

"""What fio itself would refuse, asked of `fio --parse-only`."""

from __future__ import annotations
from collections.abc import Sequence
from iogate.errors import InputError
from iogate.model import Workload


def check(workloads: Sequence[Workload]) -> list[InputError]:
    return []

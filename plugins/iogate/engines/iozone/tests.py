"""The tests that iozone has, by the names that suites give them."""

from __future__ import annotations

from collections.abc import Mapping

TESTS: Mapping[str, int] = {
    "write": 0, "read": 1, "random": 2, "backward_read": 3, "record_rewrite": 4, "stride_read": 5,
    "fwrite": 6, "fread": 7, "mixed": 8, "pwrite": 9, "pread": 10,
}  # fmt: skip
"""The tests by iozone's numbers (-i)."""

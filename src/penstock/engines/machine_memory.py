"""Whether the machine has memory for what is still to come of an answer."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.engines.driver_memory import machine_memory

_SHARE = 2
"""Rows that have been fetched become terms, and those an evaluation: as much again."""


def check_memory() -> None:
    """Raises MemoryError where this process has taken half of the memory that it may use."""
    if used_memory() > machine_memory() // _SHARE:
        raise MemoryError


def used_memory(status: Path = Path("/proc/self/statm")) -> int:
    """The bytes that this process has taken; 0 where the system does not say."""
    try:
        pages = int(status.read_text().split()[1])
    except (OSError, ValueError, IndexError):  # not on Linux
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")

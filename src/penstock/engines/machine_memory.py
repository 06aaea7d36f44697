"""The memory that this process may use, and the memory that it has taken."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_SHARE = 2
"""Fetched rows become terms, and terms an evaluation: both take as much memory again."""


_UNKNOWN = 2 << 30
"""Assumed if the system does not report it."""

_CGROUP_LIMITS = ("memory.max", "memory.limit_in_bytes")
_CGROUP_FOLDERS = ("", "memory")


def check_memory() -> None:
    """Raises MemoryError if this process has taken half of the memory that it may use."""
    if used_memory() > machine_memory() // _SHARE:
        raise MemoryError


def used_memory(status: Path = Path("/proc/self/statm")) -> int:
    """The bytes that this process has taken; 0 if the system does not report it."""
    try:
        pages = int(status.read_text().split()[1])
    except (OSError, ValueError, IndexError):  # not on Linux
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@cache
def machine_memory(cgroups: Path = Path("/sys/fs/cgroup"), own: Path = Path("/proc/self/cgroup")) -> int:
    """The bytes that this process may use: the memory of the machine, or of its container if that has less.

    It is read once, because every portion of an answer is checked.
    """
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on Unix
        physical = _UNKNOWN
    return min([physical, *_limits(cgroups, own)])


def _limits(cgroups: Path, own: Path) -> list[int]:
    """The memory limits of this process's control groups and their parents."""
    try:
        lines = own.read_text().splitlines()
    except OSError:
        return []
    groups = [Path(line.split(":", 2)[-1].lstrip("/")) for line in lines]
    parts = [part for group in groups for part in (group, *group.parents)]
    files = [cgroups / folder / part / name for part in parts for folder in _CGROUP_FOLDERS for name in _CGROUP_LIMITS]
    return [limit for limit in map(_limit, files) if limit is not None]


def _limit(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None  # "max" means that there is no limit

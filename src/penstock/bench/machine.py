"""The time and the environment of a measurement."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import penstock

PACKAGES = ("duckdb", "pyspark", "pyarrow", "pyoxigraph", "rdflib")


def surroundings() -> dict[str, Any]:
    """The date, the machine, and the versions of the measured software."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {
            "cores": cores(),
            "memory [GB]": _memory(),
            "processor": platform.machine(),
            "system": platform.system(),
            "load at the beginning": round(os.getloadavg()[0], 2),
        },
        "versions": {
            "penstock": penstock.__version__,
            "python": platform.python_version(),
            **{name: found for name in PACKAGES if (found := _version(name)) is not None},
        },
    }


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int | None:
    information = Path("/proc/meminfo")
    if not information.exists():
        return None
    fields = dict(line.split(":", 1) for line in information.read_text().splitlines())
    return round(int(fields["MemTotal"].split()[0]) / (1 << 20))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None

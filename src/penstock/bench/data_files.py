"""Data files, each written once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_once(path: Path, lines: Iterable[str]) -> Path:
    """Writes lines, which include their line ends, to a file, unless it exists: the data is always the same."""
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.unfinished")
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(lines)
        unfinished.rename(path)
    return path

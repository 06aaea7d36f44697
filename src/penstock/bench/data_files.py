"""Files of data, each written once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def write_once(path: Path, lines: Iterable[str]) -> Path:
    """The file of these lines, which have their ends; data are always the same, so one that is there will do."""
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.unfinished")
        with unfinished.open("w", encoding="utf-8") as file:
            file.writelines(lines)
        unfinished.rename(path)
    return path

"""The walk of docs/design/architecture.md §15: a plain query passes through these modules, and they are few."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import penstock
from penstock.cli import commands

ROOT = Path(__file__).parent.parent
SOURCE = Path(penstock.__file__).parent
MOST = 40

_HOP = re.compile(r"^\| \d+ \| ([^|]+) \|", re.MULTILINE)
_MODULE = re.compile(r"`([\w/]+\.py)`")


def hops() -> list[list[str]]:
    """The modules of each hop; where a hop has several, the first one names their folder."""
    page = (ROOT / "docs" / "design" / "architecture.md").read_text(encoding="utf-8")
    section = page.partition("\n## 15. ")[2]
    found = []
    for cell in _HOP.findall(section):
        first, *others = _MODULE.findall(cell)
        folder = Path(first).parent
        found.append([first, *(str(folder / other) for other in others)])
    return found


def modules_called(arguments: list[str]) -> set[str]:
    """The modules whose functions a command calls; importing a module is no call."""
    called: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            called.add(frame.f_code.co_filename)

    before = sys.getprofile()
    sys.setprofile(note)
    threading.setprofile(note)
    try:
        commands.main(arguments, standalone_mode=False)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)  # type: ignore[arg-type]
    return {str(path.relative_to(SOURCE)) for path in map(Path, called) if path.is_relative_to(SOURCE)}


def test_the_walk_is_short_and_on_the_path(tmp_path: Path) -> None:
    walk = [module for hop in hops() for module in hop]
    assert 0 < len(walk) == len(set(walk)) <= MOST
    folder = ROOT / "examples" / "tollgates"
    query, stream = str(folder / "query.rq"), str(folder / "tollgates.tnt")
    called = modules_called(["run", "--engine", "duckdb", query, "--stream", stream, "--out", str(tmp_path / "a")])
    assert [module for module in walk if module not in called] == []


def test_names_of_the_design_page_are_in_their_modules() -> None:
    """As in: `Run._commit` in `runtime/run.py`."""
    page = (ROOT / "docs" / "design" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w.]+)` in\s`([\w/]+\.py)`", page)
    assert named
    texts = {module: (SOURCE / module).read_text(encoding="utf-8") for _, module in named}
    missing = [
        f"{name} in {module}"
        for name, module in named
        for part in name.split(".")
        if not re.search(rf"^\s*(def|class) {part}\b", texts[module], re.MULTILINE)
    ]
    assert missing == []

"""A class name means one thing in the rooms that a run passes through."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import penstock

ROOMS = ("runtime", "engines", "relational", "sources", "sinks", "api", "cli")


def test_no_class_name_occurs_twice() -> None:
    root = Path(penstock.__file__).parent
    places: dict[str, list[str]] = defaultdict(list)
    for room in ROOMS:
        for path in sorted((root / room).rglob("*.py")):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    places[node.name.lstrip("_")].append(str(path.relative_to(root)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}

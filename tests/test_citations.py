"""Citations resolve: `semantics.md §3` is a section of docs/design/semantics.md, and modules that texts name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DESIGN = ROOT / "docs" / "design"
CITING = (
    "src/**/*.py",
    "tests/**/*.py",
    "tests/**/*.toml",
    "benchmarks/**/*.py",
    "scripts/**/*.py",
    "examples/**/*.rq",
)

_PAGE = re.compile(r'(?<![\w/.*"])([a-z]+)\.md\b((?:,? (?:and )?§\d+)*)')
_NUMBER = re.compile(r"§(\d+)")
_MODULE = re.compile(r"(?<![\w/.])([a-z_0-9]+(?:/[a-z_0-9]+)*\.py)\b")
_HEADING = re.compile(r"^## (\d+)\. ", re.MULTILINE)


def citations(text: str) -> list[tuple[str, list[int]]]:
    """The design pages that a text names, each with the numbers of the sections that follow its name."""
    return [(page, [int(number) for number in _NUMBER.findall(sections)]) for page, sections in _PAGE.findall(text)]


def sections(page: str) -> list[int]:
    return [int(number) for number in _HEADING.findall((DESIGN / f"{page}.md").read_text(encoding="utf-8"))]


def citing_files() -> list[Path]:
    found = {path for pattern in CITING for path in ROOT.glob(pattern)}
    return sorted(path for path in found if path != Path(__file__) and path.name != "documents.py")


def test_what_counts_as_a_citation() -> None:
    assert citations("a window (semantics.md §3, §5) or contract.md") == [("semantics", [3, 5]), ("contract", [])]
    assert citations("semantics.md §3 and §4; docs/semantics.md, README.md") == [("semantics", [3, 4])]


def test_every_citation_resolves() -> None:
    pages = {path.stem: sections(path.stem) for path in DESIGN.glob("*.md")}
    broken = [
        f"{path.relative_to(ROOT)}: {page}.md {', '.join(f'§{number}' for number in missing)}"
        for path in citing_files()
        for page, numbers in citations(path.read_text(encoding="utf-8"))
        if (missing := [number for number in numbers if number not in pages.get(page, [])]) or page not in pages
    ]
    assert broken == []


@pytest.mark.parametrize("page", sorted(path.stem for path in DESIGN.glob("*.md")))
def test_sections_are_numbered_in_order(page: str) -> None:
    assert sections(page) == list(range(1, len(sections(page)) + 1)) != []


def test_every_module_that_is_named_exists() -> None:
    """By its path, or by the end of it."""
    modules = [
        f"/{path.relative_to(ROOT)}" for room in ("src", "tests", "benchmarks") for path in ROOT.glob(f"{room}/**/*.py")
    ]
    naming = [*DESIGN.glob("*.md"), *ROOT.glob("src/**/*.py")]
    missing = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in naming
        for module in set(_MODULE.findall(path.read_text(encoding="utf-8")))
        if not any(known.endswith(f"/{module}") for known in modules)
    ]
    assert missing == []

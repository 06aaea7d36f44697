"""README.md and the other pages for newcomers are true; `test_docs.py` runs the code in README.md."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.documents import ROOT, blocks, check_command, make_targets
from tests.examples import QUERIES

import penstock
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.recognition import recognise
from penstock.syntax.tokens import tokenize

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
AT_THE_TOP = sorted(ROOT.glob("*.md"))

_DIALECT = re.compile(r"^\| [^|`]+ \| `([a-z-]+)` \| ([^|]+) \| `([^`]+)` \|$", re.MULTILINE)
_FOLDERS_AND_FILES = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_RELEASE = re.compile(r"^## \[([^]]+)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def test_a_query_is_one_of_the_examples() -> None:
    shown = [block.text for block in blocks(ROOT / "README.md") if block.kind == "sparql"]
    assert shown
    assert set(shown) <= {path.read_text() for path in QUERIES}


def test_the_table_of_dialects_is_true() -> None:
    rows = _DIALECT.findall(README)
    assert [name for name, _, _ in rows] == list(DIALECTS)
    for name, windows, story in rows:
        assert recognise(tokenize((ROOT / "examples" / story / "query.rq").read_text())) == name
        for snippet in re.findall(r"`([^`]+)`", windows):
            assert recognise(tokenize(snippet)) == name


def test_the_make_targets_exist() -> None:
    for page in (README, CONTRIBUTING):
        named = set(re.findall(r"(?:^|`)make ([a-z]+)", page, re.MULTILINE))
        assert named
        assert named <= make_targets()


def test_commands_in_the_text_exist() -> None:
    """`pip install penstock` is for the day when Penstock is on PyPI."""
    named = {command for command in re.findall(r"`(pip install [^`]+)`", README) if command != "pip install penstock"}
    assert named
    for command in named:
        check_command(command)


def test_the_files_and_folders_exist() -> None:
    named = _FOLDERS_AND_FILES.findall(CONTRIBUTING.partition("## Where things are")[2])
    assert {"src/penstock/", "tests/", "docs/"} <= set(named)
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", AT_THE_TOP, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for path, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name} links to {path}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


def anchors(page: Path) -> set[str]:
    """The anchors of a page on GitHub: its headings in lower case, without punctuation, with hyphens for spaces."""
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_picture_is_the_one_that_explain_draws(tmp_path: Path) -> None:
    drawn = tmp_path / "explain.svg"
    subprocess.run([sys.executable, ROOT / "scripts" / "readme_picture.py", drawn], check=True, timeout=120)
    assert "](docs/pictures/explain.svg)" in README
    assert drawn.read_text(encoding="utf-8") == (ROOT / "docs" / "pictures" / "explain.svg").read_text(encoding="utf-8")


def test_the_changelog_has_a_dated_release_in_sections() -> None:
    releases = _RELEASE.findall(CHANGELOG)
    assert CHANGELOG.count("\n## ") == len(releases)
    assert releases[0] == ("Unreleased", "")
    assert all(date for _, date in releases[1:])
    assert penstock.__version__ in dict(releases)
    sections = set(re.findall(r"^### (.+)$", CHANGELOG, re.MULTILINE))
    assert sections <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_citation_is_of_the_current_version() -> None:
    citation = dict(re.findall(r"^(\S+): (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE))
    assert citation["version"] == penstock.__version__
    assert citation["date-released"] == dict(_RELEASE.findall(CHANGELOG))[penstock.__version__]


def test_the_workflow_tries_every_python_that_is_promised() -> None:
    """And each of its steps that calls make has a target."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    [tried] = re.findall(r"^ +python: \[(.+)\]$", workflow, re.MULTILINE)
    assert re.findall(r"3\.\d+", tried) == promised
    assert set(re.findall(r"^ +- run: make (\w+)", workflow, re.MULTILINE)) <= make_targets()

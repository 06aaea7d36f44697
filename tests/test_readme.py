"""What README.md says in tables and in passing is so; `test_docs.py` tries its code."""

from __future__ import annotations

import re

from tests.documents import ROOT, blocks, make_targets
from tests.examples import QUERIES

from penstock.syntax.dialects import DIALECTS
from penstock.syntax.recognition import recognise
from penstock.syntax.tokens import tokenize

README = (ROOT / "README.md").read_text()

_DIALECT = re.compile(r"^\| [^|`]+ \| `([a-z-]+)` \| ([^|]+) \| `([^`]+)` \|$", re.MULTILINE)
_FOLDERS_AND_FILES = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


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
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named <= make_targets()


def test_the_files_and_folders_exist() -> None:
    named = _FOLDERS_AND_FILES.findall(README.partition("## Where things are")[2])
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []

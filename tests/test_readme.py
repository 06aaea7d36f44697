"""README.md says nothing that is not so: every block of code in it is run, or compared with the file it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock.syntax.dialects import DIALECTS
from penstock.syntax.recognition import recognise
from penstock.syntax.tokens import tokenize

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_PRINTED = re.compile(r"^print\(.*\)  # (.+)$", re.MULTILINE)
_DIALECT = re.compile(r"^\| [^|`]+ \| `([a-z-]+)` \| ([^|]+) \| `([^`]+)` \|$", re.MULTILINE)
_FOLDERS_AND_FILES = re.compile(r"^\| `([^`]+)` \|", re.MULTILINE)


class Command(NamedTuple):
    """A line after `$`, and what is shown beneath it."""

    line: str
    output: str


def blocks(language: str) -> list[str]:
    return [content for kind, content in _BLOCK.findall(README) if kind == language]


def commands() -> list[Command]:
    return [Command(*found) for block in blocks("console") for found in _COMMAND.findall(block)]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """One in which `penstock` is the package under test, wherever it is installed."""
    command = tmp_path / "penstock"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m penstock "$@"\n')
    command.chmod(0o755)
    return {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}


def test_every_block_is_of_a_kind_that_is_tried_here() -> None:
    assert {kind for kind, _ in _BLOCK.findall(README)} == {"console", "python", "sh", "sparql"}


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.line)
def test_a_command_prints_what_is_shown(command: Command, environment: dict[str, str]) -> None:
    shown = subprocess.run(
        ["sh", "-c", command.line],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=300,
    )
    assert shown.stdout == command.output


@pytest.mark.parametrize("program", blocks("python"))
def test_a_python_program_prints_what_its_comments_say(program: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300, check=True
    )
    lines = iter(ran.stdout.splitlines())
    for expected in _PRINTED.findall(program):
        assert expected in lines, f"{expected!r} is not printed, or not in that order"


@pytest.mark.parametrize("query", blocks("sparql"))
def test_a_query_is_one_of_the_examples(query: str) -> None:
    assert query in {path.read_text() for path in (ROOT / "examples").glob("*.rq")}


def test_the_table_of_dialects_is_true() -> None:
    rows = _DIALECT.findall(README)
    assert [name for name, _, _ in rows] == list(DIALECTS)
    for name, windows, sample in rows:
        assert recognise(tokenize((ROOT / "examples" / sample).read_text())) == name
        for snippet in re.findall(r"`([^`]+)`", windows):
            assert recognise(tokenize(snippet)) == name


def test_the_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert named
    assert named <= targets


def test_the_files_and_folders_exist() -> None:
    named = _FOLDERS_AND_FILES.findall(README.partition("## Where things are")[2])
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []

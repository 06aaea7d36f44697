"""Each story of `examples/` comes out as its `expected.jsonl` says, whoever answers it.

What a story reads is said once, in its README: the command that begins with `penstock run`.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.documents import blocks
from tests.examples import DIALECTS, EXAMPLES
from tests.nightly import IS_NIGHTLY

from penstock.cli import commands

ON_SPARK = list(DIALECTS) if IS_NIGHTLY else ["coupons", "tollgates"]
"""Each takes some seconds there, so that they are all tried at night only."""

each_story = pytest.mark.parametrize("story", DIALECTS)


def told(story: str, *command: str) -> str:
    """What a command says over the query and the data of a story."""
    arguments = [*command, *data(EXAMPLES / story)]
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def data(folder: Path) -> list[str]:
    """The query of a story and the options that name its data, with whole paths."""
    lines = [line for block in blocks(folder / "README.md") for line, _ in block.commands]
    line = next(line for line in lines if line.startswith("penstock run "))
    words = shlex.split(line.replace("\\\n", ""))
    bound = [f"{option}={_whole(value, folder)}" for option, value in re.findall(r"(--(?:stream|graph)) (\S+)", line)]
    assert "query.rq" in words
    return [str(folder / "query.rq"), *bound]


def _whole(value: str, folder: Path) -> str:
    iri, equals, file = value.rpartition("=")
    assert (folder / file).exists()
    return f"{iri}{equals}{folder / file}"


def expected(story: str) -> str:
    return (EXAMPLES / story / "expected.jsonl").read_text()


def test_each_folder_is_a_story() -> None:
    assert {path.name for path in EXAMPLES.iterdir() if path.is_dir()} == set(DIALECTS)


@each_story
def test_it_is_told_in_its_dialect(story: str) -> None:
    first = (EXAMPLES / story / "query.rq").read_text().splitlines()[0]
    assert first.startswith("# ")
    assert f'"dialect": "{DIALECTS[story]}"' in told_of_query(story)


def told_of_query(story: str) -> str:
    return CliRunner().invoke(commands, ["check", "--format", "json", str(EXAMPLES / story / "query.rq")]).stdout


@each_story
def test_the_embedded_engine_writes_it(story: str) -> None:
    assert told(story, "run", "--engine", "duckdb", "--format", "jsonl") == expected(story)


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("story", ON_SPARK)
def test_spark_writes_it(story: str) -> None:
    assert told(story, "run", "--engine", "spark", "--format", "jsonl") == expected(story)


@each_story
def test_the_oracle_finds_it_right(story: str) -> None:
    judged = told(story, "oracle", "--judge", str(EXAMPLES / story / "expected.jsonl"))
    assert judged.startswith("right for t0 = ")

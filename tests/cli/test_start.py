"""What commands load: nothing that they do not use, so that they start quickly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from penstock import sinks
from penstock.cli import commands, output

PROGRAM = """
import sys
from penstock.cli import commands
sys.argv = ["penstock", *sys.argv[1:]]
try:
    commands.main(prog_name="penstock")
finally:
    print(*sys.modules, file=sys.stderr)
"""

QUERY = "SELECT ?a FROM STREAM <http://ex.org/s> [RANGE 5s STEP 5s] WHERE { ?a <http://ex.org/p> ?b }"
LINES = "".join(f'<http://ex.org/a{n}> <http://ex.org/p> <http://ex.org/b> "{n}000" .\n' for n in range(1, 11))

LIBRARIES = ("pyarrow", "duckdb", "sqlglot", "pandas", "pyspark")


def loaded(*arguments: str, folder: Path) -> set[str]:
    (folder / "q.rq").write_text(QUERY)
    (folder / "s.tnt").write_text(LINES)
    command = [sys.executable, "-c", PROGRAM, *arguments]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], (*LIBRARIES, "rich", "penstock.syntax", "penstock.cli.run")),
        (["check", "q.rq"], (*LIBRARIES, "rich", "pyoxigraph", "penstock.algebra")),
        *(
            ([command, "--help"], (*LIBRARIES, "penstock.api.engine", "penstock.oracle"))
            for command in ("demo", "explain", "run", "oracle", "verify", "bench")
        ),
        (
            ["run", "q.rq", "--stream", "s.tnt", "--engine", "duckdb"],
            (
                *("pandas", "pyspark", "rich", "http.client", "penstock.oracle", "penstock.explain", "penstock.bench"),
                *("penstock.engines.spark", "penstock.sources.spark", "penstock.syntax.printer"),
            ),
        ),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_a_command_loads_only_what_it_uses(arguments: list[str], absent: tuple[str, ...], tmp_path: Path) -> None:
    assert not loaded(*arguments, folder=tmp_path).intersection(absent)


def test_the_formats_of_help_are_those_of_the_sinks() -> None:
    assert output.FORMATS == sinks.FORMATS


def test_help_has_the_first_sentence_of_each_command() -> None:
    for name, summary in commands.summaries.items():  # type: ignore[attr-defined]
        command = commands.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert (command.help or "").split("\n\n")[0].replace("\n", " ") == summary

"""Documents that say nothing that is not so: the blocks of code of a Markdown page, and how they are run.

A page is run from its top to its end in a folder of its own, with a copy of `examples`. What a block is for
is said where it begins:

    console           after each `$` a command, and beneath it what the command shows, on standard output and error; a
                      line `…` stands for lines that are left out
    python            a program that prints what the comments behind its `print(…)` say; later ones know its names
    sparql            a query in which there is nothing to complain about
    json              result lines
    ebnf              a grammar, which is only read
    sh                commands that succeed; those of `ONLY_READ` are not run, those of `BY_NIGHT` when all tests are
    … title="FILE"    whatever it is, it is in FILE from then on

Where a page says http://localhost:7878/sparql, a SPARQL endpoint with the floor plan of `examples/rooms` is meant;
the other servers that it names are those of `KAFKA`, `MQTT` and `WEBHOOK`. A command that goes on in the background
leaves its number in a file `….pid`.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from contextlib import chdir, redirect_stdout, suppress
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.testing import CliRunner
from tests.nightly import IS_NIGHTLY

import penstock
from penstock.cli import commands
from penstock.rdf.results import from_json_line

ROOT = Path(__file__).parent.parent
ENDPOINT = "http://localhost:7878/sparql"
KAFKA, MQTT, WEBHOOK = "localhost:9092", "localhost:1883", "http://localhost:8080/hook"
WEB, WEBSOCKET = "localhost:8081", "localhost:8082"
"""Servers that a page may name: a Kafka broker, an MQTT broker, a webhook, and a web server with streams."""
KINDS = {"console", "ebnf", "json", "python", "sh", "sparql"}

ONLY_READ = {
    r"make (demo|test)\b": "sets Penstock up, or starts these tests again",
    r"pip install ": "changes the environment; tests/test_wheel.py installs Penstock into an empty one",
    r"penstock bench (throughput|all) --quick": "takes minutes; tests/bench runs each experiment over less",
    r".* --master (spark:|yarn|k8s:)": "needs a cluster",
    r"python scripts/brokers start": "starts a broker that nobody would stop; all tests share one that it has started",
}
"""Commands of `sh` that are not run, and why not; but their names and options exist."""

BY_NIGHT = {r".* --master 'local\[": "starts another Java beside that of the tests"}
"""Commands of `sh` that are run when PENSTOCK_TESTS is `nightly`, and why not always."""

_BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_PRINTED = re.compile(r"^ *print\(.*\)  # (.+)$", re.MULTILINE)
_SHELL = set("|<>&;$`*(){}~")
_LEFT_OUT = "…\n"


@dataclass(frozen=True)
class Block:
    """A block of code: its language, the file that it is in, its text, and the line of the page where it stands."""

    kind: str
    title: str
    text: str
    line: int

    @property
    def commands(self) -> list[tuple[str, str]]:
        """Each command after a `$`, and what is shown beneath it."""
        return _COMMAND.findall(self.text)

    @property
    def lines(self) -> list[str]:
        """The commands of a block without `$`."""
        return [line for line in self.text.replace("\\\n", "").splitlines() if line and not line.startswith("#")]

    @property
    def needs_spark(self) -> bool:
        if self.kind == "console":
            return any(_is_on_spark(line) for line, _ in self.commands)
        if self.kind == "sh":
            return any(_is_on_spark(line) for line in self.lines if is_tried(line))
        return self.kind == "python" and not self.title and "spark" in self.text


def pages() -> list[Path]:
    """README.md, the guide, and what the examples say of themselves."""
    return [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("examples/**/README.md"))]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(kind, title, content, line=text.count("\n", 0, found.start()) + 1)
        for found in _BLOCK.finditer(text)
        for kind, title, content in [found.groups(default="")]
    ]


def is_tried(line: str) -> bool:
    """Whether a command of `sh` is run, tonight or always."""
    left_out = [*ONLY_READ] if IS_NIGHTLY else [*ONLY_READ, *BY_NIGHT]
    return not any(re.match(pattern, line) for pattern in left_out)


def _is_on_spark(command: str) -> bool:
    return bool(re.match(r"penstock (run|verify|demo)\b", command)) and not re.search(
        r"--engine[ =]duckdb|--save|--answer", command
    )


class Ran(NamedTuple):
    """What a command has shown, on standard output and error, and its exit status."""

    shown: str
    status: int


@dataclass
class Reader:
    """Somebody who reads a page and tries everything in it, with a shell and a Python in which there are `names`."""

    folder: Path
    endpoint: str
    names: dict[str, Any] = field(default_factory=dict)
    servers: Mapping[str, str] = field(default_factory=dict)
    """The addresses that stand for those in the page."""

    def __post_init__(self) -> None:
        self.here = self.folder / "work"
        self.here.mkdir()
        shutil.copytree(ROOT / "examples", self.here / "examples")
        for name, python in {"penstock": "-m penstock", "python": ""}.items():
            command = self.folder / name
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {python} "$@"\n')
            command.chmod(0o755)
        folders = (str(self.folder), str(Path(sys.executable).parent), os.environ["PATH"])
        self.environment = {**os.environ, "PATH": os.pathsep.join(folders), "COLUMNS": "80"}

    def read(self, block: Block) -> None:
        if block.title:
            (self.here / block.title).write_text(self._with_servers(block.text), encoding="utf-8")
        if block.kind == "console":
            for line, shown in block.commands:
                _check_shown(line, self.run(line.replace("\\\n", "")).shown, shown)
        elif block.kind == "python" and not block.title:
            _check_printed(block.text, self.execute(self._with_servers(block.text)))
        elif block.kind == "sparql":
            assert penstock.check(block.text) == []
        elif block.kind == "json":
            for line in block.lines:
                from_json_line(line)
        elif block.kind == "sh":
            for line in block.lines:
                check_command(line)
                if is_tried(line):
                    ran = self.run(line)
                    assert ran.status == 0, f"{line} ends with status {ran.status}:\n{ran.shown}"

    def run(self, line: str) -> Ran:
        """One of Penstock's commands alone is run in this process, which is quicker."""
        line = self._with_servers(line)
        words = shlex.split(line)
        if words[0] == "cd":
            self.here = self.here / words[1]
            return Ran("", 0)
        if words[0] == "penstock" and not _SHELL & set(line) and "--master" not in words:
            with chdir(self.here):
                result = CliRunner(env={"COLUMNS": "80"}).invoke(commands, words[1:], prog_name="penstock")
            return Ran(result.output, result.exit_code)
        ran = subprocess.run(
            ["sh", "-c", line],
            cwd=self.here,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
        )
        return Ran(ran.stdout, ran.returncode)

    def stop(self) -> None:
        """End the commands in the background that still run."""
        for file in self.folder.glob("**/*.pid"):
            with suppress(ProcessLookupError):
                os.kill(int(file.read_text()), signal.SIGKILL)

    def _with_servers(self, text: str) -> str:
        for named, meant in {ENDPOINT: self.endpoint, **self.servers}.items():
            text = text.replace(named, meant)
        return text

    def execute(self, program: str) -> str:
        """What a program prints; its names are there for the next one."""
        with chdir(self.here), redirect_stdout(StringIO()) as printed:
            exec(program, self.names)
        return printed.getvalue()


def _check_shown(line: str, found: str, shown: str) -> None:
    if _LEFT_OUT not in shown.splitlines(keepends=True):
        assert found == shown, f"{line} shows\n{found}"
        return
    parts = [re.escape(part) for part in re.split(r"^…\n", shown, flags=re.MULTILINE)]
    assert re.fullmatch("(?:.*\n)*".join(parts), found), f"{line} shows\n{found}"


def _check_printed(program: str, printed: str) -> None:
    lines = iter(printed.splitlines())
    for expected in _PRINTED.findall(program):
        assert expected in lines, f"{expected!r} is not printed, or not in that order:\n{printed}"


def check_command(line: str) -> None:
    """Its name is one that there is, and its options are."""
    words = shlex.split(line, comments=True)
    if words[0] == "penstock":
        with click.Context(commands, info_name="penstock") as context:
            name, command, arguments = commands.resolve_command(context, words[1:])
            assert command is not None
            command.make_context(name, list(arguments), parent=context)
    elif words[0] == "make":
        assert set(words[1:]) <= make_targets(), line
    elif words[0] == "pip":
        assert words[1:] in (["install", "."], *(["install", f".[{extra}]"] for extra in extras())), line
    else:
        assert words[0] in {"cd", "spark-submit"} or words[:2] == ["python", "scripts/brokers"], line


def extras() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"])


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))

"""Any engine as a peer: a command that reads the stream and writes result lines.

It is called with two files: `COMMAND QUERY GRAPH`. QUERY is in RSP-QL, GRAPH is N-Triples. The command reads the stream
from standard input, as timestamped N-Triples ordered by time. It writes a line of JSON for each evaluation (SPARQL 1.1
results with `query` and `time`) to standard output, in any order. The origin of windows is 0. The measured time is that
of the whole process.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.bench.peers import Rows, WindowQuery
from penstock.rdf.results import ResultLineError, from_json_line

MOST_SECONDS = 120


class PeerError(Exception):
    """A command returned no answer; the message explains why."""


@dataclass(frozen=True, slots=True)
class CommandPeer:
    name: str
    command: tuple[str, ...]
    most_triples: int | None = None
    environment: Mapping[str, str] | None = field(default=None)

    @classmethod
    def of(cls, name: str, command: str) -> CommandPeer:
        return cls(name, tuple(shlex.split(command)))

    def evaluate(self, asked: WindowQuery, stream: Path, graph: Path) -> Iterator[tuple[int, Rows]]:
        """Raises PeerError."""
        with tempfile.TemporaryDirectory() as folder:
            query, out = Path(folder) / "query.rq", Path(folder) / "answer.jsonl"
            query.write_text(asked.rspql)
            self._call(query, stream, graph, out)
            for number, line in enumerate(out.read_text().splitlines(), 1):
                try:
                    evaluation = from_json_line(line)
                except ResultLineError as error:
                    raise PeerError(
                        f"line {number} of the output of {self.name} is not a result line: {error}"
                    ) from None
                places = self._places(asked, evaluation.variables or ())
                yield evaluation.time, [tuple(row[place] for place in places) for row in evaluation.rows or ()]

    def _call(self, query: Path, stream: Path, graph: Path, out: Path) -> None:
        command = [*self.command, str(query), str(graph)]
        try:
            with stream.open("rb") as given, out.open("wb") as written:
                done = subprocess.run(
                    command,
                    stdin=given,
                    stdout=written,
                    stderr=subprocess.PIPE,
                    cwd=query.parent,
                    env=self.environment,
                    timeout=MOST_SECONDS,
                    check=False,
                )
        except OSError as error:
            raise PeerError(f"{self.name} cannot be run: {command[0]}: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise PeerError(f"{self.name} did not finish within {MOST_SECONDS} s") from None
        if done.returncode:
            told = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise PeerError(f"{self.name} ended with status {done.returncode}: {told[-1]}")

    def _places(self, asked: WindowQuery, variables: tuple[str, ...]) -> list[int]:
        if sorted(variables) != sorted(asked.variables):
            names = ", ".join(asked.variables)
            raise PeerError(f"{self.name} returned the variables {', '.join(variables)} instead of {names}")
        return [variables.index(name) for name in asked.variables]

    def as_terms(self, rows: Rows) -> Rows:
        return rows

    def run(self, asked: WindowQuery, stream: Path, graph: Path) -> None:
        """Runs the process and ignores its output. Raises PeerError."""
        with tempfile.TemporaryDirectory() as folder:
            query = Path(folder) / "query.rq"
            query.write_text(asked.rspql)
            self._call(query, stream, graph, Path(folder) / "answer.jsonl")

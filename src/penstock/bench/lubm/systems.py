"""The systems that answer the queries over universities; each reads the files and yields rows as it finds them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, Store, parse_query_results

from penstock.bench.peers import Rows
from penstock.bench.peers.commands import PeerError
from penstock.bench.peers.rdflib_windows import RdflibWindows
from penstock.bench.pipes import piped
from penstock.bench.systems import DUCKDB, DataFiles, Penstock, run_command
from penstock.rdf.results import from_json_line

STREAM = "http://ex.org/universities"
PIECE = 1 << 16
"""The number of bytes written to a pipe at once."""


class System(Protocol):
    @property
    def name(self) -> str: ...

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        """Rows as they are found. `triples` is the stream without timestamps, for systems without streams."""

    def as_terms(self, rows: Rows) -> Rows:
        """The same rows with pyoxigraph's terms."""


@dataclass(frozen=True, slots=True)
class FilePenstock:
    """Penstock over a file."""

    penstock: Penstock

    @property
    def name(self) -> str:
        return self.penstock.name

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        inputs = DataFiles({STREAM: stream}, {})
        for evaluation in self.penstock.evaluations(query.read_text(), inputs, dialect="sparql"):
            yield evaluation.rows or ()

    def as_terms(self, rows: Rows) -> Rows:
        return rows


@dataclass(frozen=True, slots=True)
class LivePenstock:
    """The embedded engine over a pipe; it answers elements as they arrive."""

    name: str = f"{DUCKDB}, as it comes"

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        with piped(_pieces(stream)) as pipe:
            inputs = DataFiles({STREAM: pipe}, {})
            for evaluation in Penstock().evaluations(query.read_text(), inputs, dialect="sparql"):
                yield evaluation.rows or ()

    def as_terms(self, rows: Rows) -> Rows:
        return rows


def _pieces(stream: Path) -> Iterator[bytes]:
    with stream.open("rb") as file:
        while piece := file.read(PIECE):
            yield piece


@dataclass(frozen=True, slots=True)
class Pyoxigraph:
    """Loads all triples into a store, then runs the query."""

    name: str = "pyoxigraph"

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        store = Store()
        store.bulk_load(path=str(triples), format=RdfFormat.N_TRIPLES)
        solutions = store.query(query.read_text())
        assert isinstance(solutions, QuerySolutions)
        for solution in solutions:
            yield [tuple(solution)]

    def as_terms(self, rows: Rows) -> Rows:
        return rows


@dataclass(frozen=True, slots=True)
class Rdflib:
    """Loads all triples into a graph, then runs the query."""

    name: str = "rdflib"

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        from rdflib import Graph

        solutions: Any = Graph().parse(triples, format="nt").query(query.read_text())
        for solution in solutions:
            yield [tuple(solution)]

    def as_terms(self, rows: Rows) -> Rows:
        return RdflibWindows().as_terms(rows)


@dataclass(frozen=True, slots=True)
class Command:
    """`penstock run` on DuckDB as a process, for comparison with Jena."""

    name: str = "penstock run"

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "answers.jsonl"
            asked = [str(query), "--dialect", "sparql", "--engine", "duckdb", "--stream", f"{STREAM}={stream}"]
            run_command([*asked, "--out", str(out)])
            for line in out.read_text().splitlines():
                yield from_json_line(line).rows or ()

    def as_terms(self, rows: Rows) -> Rows:
        return rows


@dataclass(frozen=True, slots=True)
class Jena:
    """Jena's command `arq`: loads the data, runs the query and writes SPARQL JSON results; all rows arrive at once."""

    command: str
    name: str = "Jena"

    def portions(self, query: Path, stream: Path, triples: Path) -> Iterator[Rows]:
        """Raises PeerError."""
        with tempfile.NamedTemporaryFile() as out:
            command = [self.command, "--data", str(triples), "--query", str(query), "--results", "JSON"]
            try:
                subprocess.run(command, stdout=out, stderr=subprocess.PIPE, check=True)
            except OSError as error:
                raise PeerError(f"Jena cannot be run: {self.command}: {error.strerror}") from None
            except subprocess.CalledProcessError as error:
                told = error.stderr.decode(errors="replace").strip().splitlines() or ["it says nothing"]
                raise PeerError(f"Jena ended with status {error.returncode}: {told[-1]}") from None
            solutions = parse_query_results(path=out.name, format=QueryResultsFormat.JSON)
            assert isinstance(solutions, QuerySolutions)
            yield [tuple(solution) for solution in solutions]

    def as_terms(self, rows: Rows) -> Rows:
        return rows

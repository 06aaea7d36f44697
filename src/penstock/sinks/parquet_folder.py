"""Answers as a folder of Parquet files, partitioned by query: `FOLDER/query=NAME/…parquet`.

The columns are `time`, in milliseconds, and the variables; terms are N-Triples. A triple has s, p and o, ASK has a
boolean. Files are made in `FOLDER/_penstock`, whose name begins with an underscore because readers of Parquet leave
such folders out, and move to their place when the state of their batch is committed. A run that continues moves those
of the last commit, and removes the others: so the folder contains every answer once.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Self, TypedDict
from urllib.parse import quote
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.term_columns import formatted, n_triples
from penstock.sinks.errors import SinkError, told
from penstock.sinks.lines import time_column

_NEW = "_penstock"
_MOST_BYTES = 64 << 20
"""When this many bytes of answers are in memory, they are written to files."""


class Written(TypedDict):
    """A committed position: the name of the run, how many files it has written, and those that may have to move."""

    run: str
    files: int
    waiting: list[str]


class ParquetFolder:
    """`keeps`: files wait for a commit."""

    def __init__(self, folder: Path, *, keeps: bool, written: Written | None = None) -> None:
        self._folder = folder
        self._keeps = keeps
        self._run = uuid4().hex[:12] if written is None else written["run"]
        self._files = 0 if written is None else written["files"]
        self._waiting: list[str] = [] if written is None else written["waiting"]
        self._tables: dict[str, list[pa.Table]] = {}
        self._bytes = 0
        with told(str(folder)):
            if written is None:
                check_new(folder)
            self._new.mkdir(parents=True, exist_ok=True)
            for path in self._new.iterdir():
                if path.name not in self._waiting:
                    path.unlink()

    @property
    def _new(self) -> Path:
        return self._folder / _NEW

    def write(self, batch: ResultBatch, which: range | None = None) -> None:
        part = batch.part(range(len(batch)) if which is None else which)
        for member, query in enumerate(part.queries):
            table = _table(part, part.members == member)
            if table.num_rows:
                self._tables.setdefault(query, []).append(table)
                self._bytes += table.nbytes
        if self._bytes > _MOST_BYTES:
            self._write_files()

    def flush(self) -> None:
        if not self._keeps:
            self._write_files()
            self.deliver()

    def position(self) -> Written | None:
        if not self._keeps:
            return None
        self._write_files()
        return {"run": self._run, "files": self._files, "waiting": list(self._waiting)}

    def deliver(self) -> None:
        with told(str(self._folder)):
            for name in self._waiting:
                query, _, file = name.partition("@")
                place = self._folder / query
                place.mkdir(exist_ok=True)
                if (self._new / name).exists():
                    (self._new / name).rename(place / file)
        self._waiting.clear()

    def close(self) -> None:
        with told(str(self._folder)):
            if not any(self._new.iterdir()):
                self._new.rmdir()

    def _write_files(self) -> None:
        for query, tables in self._tables.items():
            name = f"{partition(query)}@part-{self._run}-{self._files:06}.parquet"
            with told(str(self._new / name)), (self._new / name).open("wb") as file:
                pq.write_table(pa.concat_tables(tables), file)
                file.flush()
                os.fsync(file.fileno())
            self._files += 1
            self._waiting.append(name)
        self._tables.clear()
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.flush()
        self.close()


def partition(query: str) -> str:
    """The folder of a query, as Hive and Spark write partitions."""
    return f"query={quote(query, safe=' ')}"


def check_new(folder: Path) -> None:
    """Raises SinkError where a folder contains something already, besides what no commit contains."""
    if folder.exists() and (not folder.is_dir() or any(path.name != _NEW for path in folder.iterdir())):
        raise SinkError(f"{folder}: the folder is not empty: name a new one")


def _table(batch: ResultBatch, chosen: npt.NDArray[np.bool_]) -> pa.Table:
    """A row for each solution of the chosen evaluations."""
    is_chosen = chosen[batch.numbers]
    rows = batch.rows.take(pa.array(batch.places[is_chosen]))
    columns = tuple(rows.column_names)
    if batch.kind == "boolean":
        values = [pa.array([text == "btrue" for text in rows["boolean"].to_pylist()], pa.bool_())]
    else:
        values = [formatted(column, n_triples) for column in rows.columns]
    times = pa.array(batch.times[batch.numbers[is_chosen]])
    return pa.table([times, *values], names=[time_column(columns), *columns])

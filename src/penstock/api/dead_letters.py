"""Dead letters: late and malformed elements are counted, reported, and written to a file if one is set."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from penstock.api.run_messages import RunMessages
from penstock.rdf.conversion import decode_oxigraph
from penstock.rdf.elements import Malformed
from penstock.rdf.format_advice import FormatAdvice
from penstock.runtime.outlets import Outlet, Written
from penstock.runtime.queries import Late
from penstock.sinks import SinkError
from penstock.sinks.targets import Target, open_target

LATE = "it arrived too late: the instants at which it would have counted had been evaluated"
_MOST_REPORTED = 3


class MalformedError(ValueError):
    """Malformed input in a strict run: `malformed` says what and where."""

    def __init__(self, malformed: Malformed) -> None:
        self.malformed = malformed
        super().__init__(f"{malformed.place}: {malformed.reason}")


class DeadLettersError(SinkError):
    """A file for dead letters that cannot be written."""


class DeadLetters:
    """The input that a run drops. Each query may name a file; a line of it is a JSON object.

    A late element has `stream`, `time` and `triples`, a malformed one `place` and `text`; both have `reason`. A strict
    query ends the run at malformed input.
    """

    def __init__(self, messages: RunMessages) -> None:
        self._messages = messages
        self._advice = FormatAdvice()
        self._malformed = 0
        self._strict: set[str] = set()
        self._files: dict[str, str] = {}
        """By query."""
        self._targets: dict[str, tuple[str, Target]] = {}
        """By file: the query that opened it, and the open file."""

    def add(self, query: str, file: str | Path | None, *, is_strict: bool = False) -> None:
        """Write the input that a query drops to a file, which `open` opens."""
        if is_strict:
            self._strict.add(query)
        if file is not None:
            self._files[query] = str(file)

    def open(self, query: str, position: int | None = None) -> None:
        """Open the file of a query, if it has one; continue at a position that an earlier run returned.

        Raises DeadLettersError.
        """
        file = self._files.get(query)
        if file is not None and file not in self._targets:
            try:
                self._targets[file] = query, open_target(file, position)
            except SinkError as error:
                raise DeadLettersError(str(error)) from None

    def position(self, query: str) -> int | None:
        """How many bytes of the file that this query has opened are safe on disk; None without such a file."""
        opened = [target for opener, target in self._targets.values() if opener == query]
        return opened[0].position() if opened else None

    def late(self, query: str, late: Late) -> None:
        if query in self._files:
            for time, triples in _elements(late):
                self.late_element(query, late.stream, time, triples)

    def late_element(self, query: str, stream: str, time: int, triples: Sequence[str]) -> None:
        """An element that arrived too late for a query, its triples as N-Triples."""
        letter = {"reason": LATE, "stream": stream, "time": time, "triples": triples}
        if query in self._files:
            self._write(self._files[query], letter)

    def malformed(self, stream: str, malformed: Malformed) -> None:
        malformed = self._advice(malformed)
        for file in list(self._targets):
            self._write(file, {"reason": malformed.reason, "place": malformed.place, "text": malformed.text})
        if self._strict:
            raise MalformedError(malformed)
        self._malformed += 1
        if self._malformed <= _MOST_REPORTED:
            self._messages.left_out(malformed)

    def drop(self, query: str, late: int) -> None:
        """A query has ended; this many elements arrived too late for it."""
        self._strict.discard(query)
        if late:
            self._messages.late(query, late)

    def sum_up(self) -> None:
        """The run has ended: report how many malformed elements were not reported."""
        if self._malformed > _MOST_REPORTED:
            self._messages.more_left_out(self._malformed - _MOST_REPORTED)

    def close(self) -> None:
        for _, target in self._targets.values():
            target.close()
        self._targets.clear()

    def _write(self, file: str, letter: dict[str, Any]) -> None:
        _, target = self._targets[file]
        target.write(f"{json.dumps(letter, ensure_ascii=False)}\n".encode())
        target.flush()


@dataclass(frozen=True, slots=True)
class LettersOutlet(Outlet):
    """Receives no answers; its position in a checkpoint is that of the file of dead letters of a query."""

    letters: DeadLetters
    query: str

    def resume(self, written: Written) -> None:
        self.letters.open(self.query, written)

    def position(self) -> Written:
        return self.letters.position(self.query)


def _elements(late: Late) -> Iterator[tuple[int, list[str]]]:
    """The timestamp and the triples of each element."""
    rows = sorted(late.triples.to_pylist(), key=lambda row: (row["element"], row["arrival"]))
    for _, group in groupby(rows, key=lambda row: row["element"]):
        element = list(group)
        yield element[0]["ts"], [_line(row) for row in element if row["s"] is not None]


def _line(row: dict[str, Any]) -> str:
    return " ".join(str(decode_oxigraph(row[name])) for name in "spo") + " ."

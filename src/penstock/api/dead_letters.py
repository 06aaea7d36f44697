"""Dead letters: late and malformed elements, each a line of JSON that says why it does not count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.rdf.conversion import decode_oxigraph
from penstock.rdf.elements import Malformed
from penstock.sinks.targets import Target, open_target

if TYPE_CHECKING:
    from penstock.runtime.running import Late

LATE = "it came too late to count anywhere: the instants at which it would have counted were evaluated before"


class MalformedError(ValueError):
    """Malformed input where the user wants none: `malformed` says what and where."""

    def __init__(self, malformed: Malformed) -> None:
        self.malformed = malformed
        super().__init__(f"{malformed.place}: {malformed.reason}")


class DeadLetters:
    """A file of dead letters; it goes on where `position` says, if that is given.

    A late element has `stream`, `time` and `triples`; what is malformed has `place` and `text`; both have `reason`.

    Raises `SinkError` where the file cannot be written.
    """

    def __init__(self, file: str | Path, position: int | None = None) -> None:
        self._target: Target = open_target(file, position)

    def late(self, late: Late) -> None:
        for time, triples in _elements(late):
            self.late_element(late.stream, time, triples)

    def late_element(self, stream: str, time: int, triples: Sequence[str]) -> None:
        """An element, its triples as N-Triples."""
        self._write({"reason": LATE, "stream": stream, "time": time, "triples": triples})

    def malformed(self, malformed: Malformed) -> None:
        self._write({"reason": malformed.reason, "place": malformed.place, "text": malformed.text})

    def position(self) -> int | None:
        """How many bytes there are, all of them safe on the disk; None where the file keeps nothing."""
        return self._target.position()

    def close(self) -> None:
        self._target.close()

    def _write(self, letter: dict[str, Any]) -> None:
        self._target.write(json.dumps(letter, ensure_ascii=False) + "\n")
        self._target.flush()


def _elements(late: Late) -> Iterator[tuple[int, list[str]]]:
    """The timestamp and the triples of each element."""
    rows = sorted(late.triples.to_pylist(), key=lambda row: (row["element"], row["arrival"]))
    for _, group in groupby(rows, key=lambda row: row["element"]):
        element = list(group)
        yield element[0]["ts"], [_line(row) for row in element if row["s"] is not None]


def _line(row: dict[str, Any]) -> str:
    return " ".join(str(decode_oxigraph(row[name])) for name in "spo") + " ."

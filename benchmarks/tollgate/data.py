"""Streams of tollgates and the graph of their districts, always the same.

100 gates in 10 districts, 20,000 cars, and one triple per millisecond, so 1,000 per second of event time:

- `passages`: a gate registers a car, `<…gate7> t:registers <…car123> "3600001" .`
- `speeds`: a gate measures a speed, `<…gate7> t:measures "87.25"^^xsd:decimal "3600001" .`
- `payments`: nine passages, then `<…car123> t:pays "3.50"^^xsd:decimal "3600010" .`, and so on
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

NAMESPACE = "http://ex.org/"
STREAM = f"{NAMESPACE}tollgates"
GATES, CARS, DISTRICTS = 100, 20_000, 10
FIRST = 3_600_001
"""The first timestamp. Windows have begun to close by then, and all that are measured have a boundary just before."""

_DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
_REGISTERS, _MEASURES, _PAYS = (f" <{NAMESPACE}{name}> " for name in ("registers", "measures", "pays"))


def _passage(chance: random.Random, number: int) -> str:
    gate, car = chance.randrange(GATES), chance.randrange(CARS)
    return f"<{NAMESPACE}gate{gate}>{_REGISTERS}<{NAMESPACE}car{car}>"


def _speed(chance: random.Random, number: int) -> str:
    gate, speed = chance.randrange(GATES), chance.randrange(3000, 13000)
    return f'<{NAMESPACE}gate{gate}>{_MEASURES}"{speed // 100}.{speed % 100:02}"^^<{_DECIMAL}>'


def _payment(chance: random.Random, number: int) -> str:
    if number % 10 < 9:
        return _passage(chance, number)
    car, half_euros = chance.randrange(CARS), chance.randrange(2, 20)
    return f'<{NAMESPACE}car{car}>{_PAYS}"{half_euros // 2}.{half_euros % 2 * 5}0"^^<{_DECIMAL}>'


KINDS: dict[str, Callable[[random.Random, int], str]] = {"passages": _passage, "speeds": _speed, "payments": _payment}


def stream_lines(kind: str, count: int) -> Iterator[str]:
    """The lines of a stream, with their ends."""
    chance = random.Random(1)
    triple = KINDS[kind]
    for number in range(count):
        yield f'{triple(chance, number)} "{FIRST + number}" .\n'


def write_stream(folder: Path, kind: str, count: int) -> Path:
    path = folder / f"{kind}-{count}.tnt"
    if not path.exists():
        with path.open("w", encoding="utf-8") as file:
            file.writelines(stream_lines(kind, count))
    return path


def write_districts(folder: Path) -> Path:
    path = folder / "districts.nt"
    path.write_text(
        "".join(
            f"<{NAMESPACE}gate{gate}> <{NAMESPACE}district> <{NAMESPACE}district{gate % DISTRICTS}> .\n"
            for gate in range(GATES)
        )
    )
    return path

"""Generates streams of tollgates and the graph of their districts; the data is always the same.

100 gates in 10 districts, 20,000 cars, and one triple per millisecond, so 1,000 per second of event time:

- `passages`: a gate registers a car, `<…gate7> t:registers <…car123> "3600001" .`
- `speeds`: a gate measures a speed, `<…gate7> t:measures "87.25"^^xsd:decimal "3600001" .`
- `payments`: nine passages, then `<…car123> t:pays "3.50"^^xsd:decimal "3600010" .`, and so on
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

from penstock.bench.data_files import write_once

NAMESPACE = "http://ex.org/"
STREAM = f"{NAMESPACE}tollgates"
GATES, CARS, DISTRICTS = 100, 20_000, 10
PROPERTIES = 5
FIRST = 3_600_001
"""The first timestamp. Windows already close by then, and all measured windows have a boundary just before it."""

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
    """The lines of a stream, including line ends."""
    chance = random.Random(1)
    triple = KINDS[kind]
    for number in range(count):
        yield f'{triple(chance, number)} "{FIRST + number}" .\n'


def write_stream(folder: Path, kind: str, count: int) -> Path:
    return write_once(folder / f"{kind}-{count}.tnt", stream_lines(kind, count))


def write_districts(folder: Path) -> Path:
    return write_once(
        folder / "districts.nt",
        (
            f"<{NAMESPACE}gate{gate}> <{NAMESPACE}district> <{NAMESPACE}district{gate % DISTRICTS}> .\n"
            for gate in range(GATES)
        ),
    )


def write_share(folder: Path, count: int, number: int, shares: int) -> Path:
    """Every n-th passage (n is `shares`), beginning with `number`."""
    lines = (line for place, line in enumerate(stream_lines("passages", count)) if place % shares == number)
    return write_once(folder / f"share-{number}-of-{shares}-{count}.tnt", lines)


def write_readings(folder: Path, count: int) -> Path:
    return write_once(folder / f"readings-{count}.tnt", _readings(count))


def _readings(count: int) -> Iterator[str]:
    """Readings of five properties each, `<…reading3> <…property2> <…value71> "3600004" .`, at one timestamp."""
    chance = random.Random(1)
    for number in range(count // PROPERTIES):
        for place in range(1, PROPERTIES + 1):
            reading, value = f"<{NAMESPACE}reading{number}>", f"<{NAMESPACE}value{chance.randrange(100)}>"
            yield f'{reading} <{NAMESPACE}property{place}> {value} "{FIRST + number * PROPERTIES}" .\n'

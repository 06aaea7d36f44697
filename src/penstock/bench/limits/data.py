"""Generates the stream of gates that register cars, and the graph of their streets; the data is always the same.

1,000 triples per second of event time, at random intervals: `<…gate/7> t:registers <…car/123> "3600001" .`. 200 gates
are placed in 60 streets, which 12 districts contain, and there are 20,000 cars.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

from penstock.bench.data_files import write_once

NAMESPACE = "http://ex.org/"
STREAM = f"{NAMESPACE}streams/tollgates"
REGISTERS, PLACED_IN, CONTAINS = f"{NAMESPACE}t#registers", f"{NAMESPACE}c#placedIn", f"{NAMESPACE}c#contains"
GATES, CARS, STREETS, DISTRICTS = 200, 20_000, 60, 12
BEGIN = 3_600_000
"""Windows already close by then, and all measured windows have a boundary here."""


def write_passages(folder: Path, count: int) -> Path:
    return write_once(folder / f"gates-{count}.tnt", _passages(count))


def write_streets(folder: Path) -> Path:
    return write_once(folder / "streets.nt", _streets())


def _passages(count: int) -> Iterator[str]:
    chance = random.Random(20)
    for passed in accumulate(chance.expovariate(1) for _ in range(count)):
        gate, car = chance.randrange(GATES), chance.randrange(CARS)
        yield f'<{NAMESPACE}gate/{gate}> <{REGISTERS}> <{NAMESPACE}car/{car}> "{BEGIN + 1 + int(passed)}" .\n'


def _streets() -> Iterator[str]:
    for gate in range(GATES):
        yield f"<{NAMESPACE}gate/{gate}> <{PLACED_IN}> <{NAMESPACE}street/{gate % STREETS}> .\n"
    for street in range(STREETS):
        yield f"<{NAMESPACE}district/{street % DISTRICTS}> <{CONTAINS}> <{NAMESPACE}street/{street}> .\n"

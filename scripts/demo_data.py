"""Writes the stream and the graph of `penstock demo`, always the same: `python scripts/demo_data.py`.

A Monday morning from 7 to 8: cars pass the gates of five districts, with increasing traffic towards the centre. From
7:25 on, the bridge to the harbour is closed.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "src" / "penstock" / "demo"

NAMESPACE = "http://example.org/"
XSD_DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"
BEGINNING = int(datetime(2026, 3, 2, 7, tzinfo=UTC).timestamp() * 1000)
MINUTE = 60_000
PASSAGES = 20_000
BRIDGE_CLOSED = 25 * MINUTE

# For each district: its gates, its share of the traffic, the growth of this share until 8, and its toll in cents.
DISTRICTS: dict[str, tuple[int, float, float, int]] = {
    "Centre": (12, 3.0, 3.0, 420),
    "Harbour": (8, 4.0, 0.0, 350),
    "Old Town": (6, 1.5, 1.0, 380),
    "Airport": (4, 2.0, 0.5, 550),
    "Hillside": (10, 2.5, -0.5, 250),
}


def graph() -> Iterator[str]:
    """The lines of the graph: the districts and their gates."""
    yield f"@prefix t: <{NAMESPACE}traffic#> .\n"
    for place, (name, (gates, *_)) in enumerate(DISTRICTS.items()):
        district = f"<{NAMESPACE}district/{place + 1}>"
        yield f'\n{district} t:name "{name}" .\n'
        for gate in range(gates):
            yield f"<{_gate(place, gate)}> t:district {district} .\n"


def stream() -> Iterator[str]:
    """The lines of the stream: a passage is two triples at one instant, and the last one is after eight."""
    chance = random.Random(1)
    for number in range(PASSAGES + 1):
        after = number * 60 * MINUTE // PASSAGES
        place, cents = _district(chance, after)
        gate = _gate(place, chance.randrange(list(DISTRICTS.values())[place][0]))
        passage, time = f"<{NAMESPACE}passage/{number + 1}>", f'"{BEGINNING + after + 1}"'
        toll = cents * chance.choice((1, 1, 1, 1, 2))  # twice as much with a trailer
        yield f"{passage} <{NAMESPACE}traffic#gate> <{gate}> {time} .\n"
        yield f'{passage} <{NAMESPACE}traffic#toll> "{toll // 100}.{toll % 100:02}"^^<{XSD_DECIMAL}> {time} .\n'


def _gate(place: int, gate: int) -> str:
    return f"{NAMESPACE}gate/{'ABCDE'[place]}{gate + 1}"


def _district(chance: random.Random, after: int) -> tuple[int, int]:
    """The gate that a car passes this many milliseconds after 7, and the toll that it pays."""
    weights = [now + more * after / (60 * MINUTE) for _, now, more, _ in DISTRICTS.values()]
    if after >= BRIDGE_CLOSED:
        weights[list(DISTRICTS).index("Harbour")] = 0.1
    (place,) = chance.choices(range(len(DISTRICTS)), weights)
    return place, list(DISTRICTS.values())[place][3]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "city.ttl").write_text("".join(graph()))
    (FOLDER / "stream.tnt.gz").write_bytes(gzip.compress("".join(stream()).encode(), mtime=0))


if __name__ == "__main__":
    main()

"""The stories of `examples/`, a folder each, and the dialect that each is told in."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parent.parent / "examples"

DIALECTS = {
    "books": "sparql",
    "coupons": "rspql",
    "rooms": "cqels",
    "sensors": "sparqlstream",
    "tollgates": "csparql",
    "turbines": "streaming-sparql",
}

QUERIES = [EXAMPLES / story / "query.rq" for story in DIALECTS]

BOOKS, COUPONS, ROOMS, SENSORS, TOLLGATES, TURBINES = QUERIES


def story(query: Path) -> str:
    """The name of the story that a query is from; of other queries, that of their file."""
    return query.parent.name if query.name == "query.rq" else query.name

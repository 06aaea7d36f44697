"""Documents to look at: the examples, the papers' listings, and the paper's two small streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests import examples
from tests.corpora.papers import listings

from penstock.algebra import Settings
from penstock.explain import Document, describe
from penstock.oracle import Inputs
from penstock.rdf.elements import Element
from penstock.rdf.stream_reader import read_stream
from penstock.syntax.query_reader import read

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
STREAMS = HERE / "streams"
EXPECTED = HERE / "expected"

LISTINGS = {sample.path: sample for sample in listings() if sample.path is not None}
QUERIES = [*examples.QUERIES, *LISTINGS]

COUPONS = ROOT / "tests" / "papers" / "rspql" / "coupons.rq"
TOLLGATES = examples.TOLLGATES
TURBINES = examples.TURBINES
FULL_STREETS = ROOT / "tests" / "papers" / "csparql" / "full-streets.rq"

SHOPS = "http://example.org/shops#"
STREAM_OF = {
    COUPONS: {f"{SHOPS}nearby": "nearby", f"{SHOPS}coupon": "coupon"},
    TOLLGATES: {"http://example.org/streams/tollgates": "tollgates"},
    TURBINES: {"http://example.org/streams/turbines": "turbines"},
}


def stream(name: str) -> list[Element]:
    def fail(malformed: object) -> None:
        raise AssertionError(malformed)

    return list(read_stream(STREAMS / f"{name}.tnt", scope=name, on_malformed=fail))


def document(query: str | Path, settings: Settings | None = None, **streams: list[Element]) -> Document:
    """The document about a query; one in a file has its streams, where there are some for it."""
    prefixes: Mapping[str, str] = {}
    dialect = "auto"
    inputs = {SHOPS + name: elements for name, elements in streams.items()}
    if isinstance(query, Path):
        if query in LISTINGS:
            prefixes, dialect = LISTINGS[query].prefixes, LISTINGS[query].dialect
        inputs |= {iri: stream(name) for iri, name in STREAM_OF.get(query, {}).items()}
        query = query.read_text()
    reading = read(query, dialect, prefixes=prefixes)
    return describe(reading.query, query, settings, Inputs(inputs), prefixes=prefixes)

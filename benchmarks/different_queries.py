"""Different queries over one stream: what the pattern matcher saves.

    python benchmarks/different_queries.py [--most 100]

1, 10 and 100 queries that cannot be fused: each reads its own predicate, in windows of various lengths. A stream of
4,000 triples arrives in 40 batches. Most triples have one of five predicates; one in a hundred has any predicate.
Everything runs twice, in turns: with the pattern matcher, and with every query evaluated at each of its instants. The
answers must be equal. The output is the processor time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

from pyoxigraph import Literal, NamedNode, Triple

from penstock import parse
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.matcher import Demanded
from penstock.rdf.elements import Element
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.sources.files import ElementFile

STREAM, NAMES = "http://example.org/readings", "http://example.org/"
TRIPLES, BATCH = 4000, 100


def query(number: int) -> str:
    return f"""
    PREFIX : <{NAMES}>
    SELECT ?car (COUNT(*) AS ?readings)
    FROM NAMED WINDOW :w ON <{STREAM}> [RANGE PT{2 + number % 7}S STEP PT2S]
    WHERE {{ WINDOW :w {{ ?car :p{number} ?value . FILTER (?value > {number}) }} }}
    GROUP BY ?car HAVING (COUNT(*) > {number % 3})
    """


def readings(predicates: int) -> list[Element]:
    chance = random.Random(1)
    found = []
    for number in range(TRIPLES):
        predicate = chance.randrange(predicates if number % 100 == 0 else min(5, predicates))
        car, name = NamedNode(f"{NAMES}car{chance.randrange(100)}"), NamedNode(f"{NAMES}p{predicate}")
        found.append(Element(50 * number, (Triple(car, name, Literal(number)),)))
    return found


def measure(queries: int) -> tuple[float, list[str]]:
    """Processor time, and the answers."""
    standing = [QuerySpec(parse(query(number)), f"q{number}") for number in range(queries)]
    elements = readings(queries)
    sources = {STREAM: ElementFile(STREAM, lambda report: iter(elements), BATCH)}
    engine = DuckDBStore()
    run = Run(engine, SourceIntake(), standing, sources, RunSettings(is_prompt=True))
    start = time.process_time()
    answers = [str(evaluation) for evaluation in run.evaluations() if evaluation.rows]
    seconds = time.process_time() - start
    engine.close()
    return seconds, answers


@contextmanager
def everybody_asked() -> Iterator[None]:
    may_hold_in, may_hold_ever = Demanded.may_hold_in, Demanded.may_hold_ever
    Demanded.may_hold_in = lambda self, part: True  # type: ignore[method-assign]
    Demanded.may_hold_ever = lambda self: True  # type: ignore[method-assign]
    try:
        yield
    finally:
        Demanded.may_hold_in, Demanded.may_hold_ever = may_hold_in, may_hold_ever  # type: ignore[method-assign]


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--most", type=int, default=100, help="queries (%(default)s)")
    given = options.parse_args()
    measure(1)
    print(f"{'queries':>8}{'as it is':>12}{'all asked':>12}{'ratio':>8}")
    queries = 1
    while queries <= given.most:
        seconds, answers = measure(queries)
        with everybody_asked():
            all_asked, same = measure(queries)
        assert answers == same, "the answers differ"
        print(f"{queries:>8}{seconds:>10.2f} s{all_asked:>10.2f} s{seconds / all_asked:>8.2f}", flush=True)
        queries *= 10


if __name__ == "__main__":
    main()

"""Queries that come and go while others run live on Spark: each answers as if it were alone, after its coming."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.nightly import some_of
from tests.runtime.chains import TOLL, Scenario, an_element
from tests.runtime.live import micro_batches, run_to_the_end, write_folder

from penstock.algebra.chaining import elements_of
from penstock.algebra.inputs import Inputs
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.results import Evaluation
from penstock.runtime.outlets import Callback
from penstock.runtime.queries import QuerySpec
from penstock.runtime.settings import RunSettings
from penstock.sources.spark.live import GrowingFolder
from penstock.syntax import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = some_of(range(20), every=20)

SEEN, LAST = "http://ex.org/seen", "http://ex.org/last"
COPY = "SELECT ?gate {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} }}"
BODIES = (
    COPY,
    COPY,
    "SELECT ?gate (COUNT(*) AS ?n) {window} WHERE {{ WINDOW :w {{ ?gate :lets ?car }} }} GROUP BY ?gate",
    "SELECT ?car {window} WHERE {{ WINDOW :w {{ ?a :lets ?car . ?b :lets ?car FILTER (?a != ?b) }} }}",
    "ASK {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} }}",
)
WINDOWS = ("RANGE PT4S STEP PT2S", "RANGE PT4S STEP PT2S", "RANGE PT1S STEP PT3S", "ELEMENTS 3", "RANGE PT3S STEP PT1S")


def _scenario(chance: random.Random) -> Scenario:
    """Copies and others; elements in order, and some behind the lateness."""
    texts = [
        "CONSTRUCT { ?car :at ?gate } FROM NAMED WINDOW :w ON :toll [RANGE PT2S STEP PT2S] "
        "WHERE { WINDOW :w { ?gate :lets ?car } }"
    ]
    for body, window in zip(BODIES, WINDOWS, strict=True):
        car = f"car{chance.randrange(3)}"
        texts.append(body.format(window=f"FROM NAMED WINDOW :w ON :toll [{window}]", car=car))
    registered = [
        f"PREFIX : <http://ex.org/> REGISTER {chance.choice(('RSTREAM', 'ISTREAM'))} :q{place} AS {text}"
        for place, text in enumerate(texts)
    ]
    times = [500 * place for place in range(1, 60)]
    late = [max(500, time - (4000 if chance.random() < 0.1 else 0)) for time in times]
    elements = [an_element(time, chance.randrange(3), chance.randrange(3)) for time in late]
    return Scenario(tuple(registered), tuple(elements), 1000, flush=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_comes_and_goes_changes_nothing_for_others(spark: SparkSession, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    scenario = _scenario(chance)
    write_folder(tmp_path / "toll", scenario.elements, files=6)
    standing = {f"http://ex.org/q{place}": query for place, query in enumerate(scenario.standing)}
    names = list(standing)
    coming = {name: chance.randrange(1, 12) for name in names[2:]}
    going = {name: coming[name] + chance.randrange(1, 9) for name in names[2:] if chance.random() < 0.4}
    came: dict[str, int | None] = dict.fromkeys(names[:2])
    went: set[str] = set()
    found: list[Evaluation] = []

    def take(evaluation: Evaluation) -> None:
        assert evaluation.query not in went, "what has been dropped answers no more"
        found.append(evaluation)
        for name, number in coming.items():
            if number == len(found):
                run.run.join(name, standing[name], {}, Callback(take))
                came[name] = run.run.changes.reached
        for name, number in going.items():
            if number == len(found):
                run.run.drop(name)
                went.add(name)

    run = micro_batches(
        spark,
        [(standing[name], Callback(take)) for name in names[:2]],
        {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
        settings=RunSettings(lateness=scenario.lateness, flush=scenario.flush),
        is_bounded=True,
    )
    run_to_the_end(run)
    assert len(came) > 3, "some came while it was running"
    for name, after in came.items():
        place = names.index(name)
        alone = replace(
            scenario,
            texts=(scenario.texts[place],),
            elements=tuple(element for element in scenario.elements if after is None or element.time > after),
        )
        alone.check([evaluation for evaluation in found if evaluation.query == name], is_whole=name not in going)


def test_what_a_query_gives_is_read_by_one_that_comes(spark: SparkSession, tmp_path: Path) -> None:
    elements = [an_element(500 * place, place % 3, place % 2) for place in range(1, 41)]
    write_folder(tmp_path / "toll", elements, files=5)
    giver, reader = (
        QuerySpec(parse(f"PREFIX : <http://ex.org/> {text}", "rspql"))
        for text in (
            "REGISTER RSTREAM :seen AS CONSTRUCT { ?car :at ?gate } "
            "FROM NAMED WINDOW :w ON :toll [RANGE PT1S STEP PT1S] WHERE { WINDOW :w { ?gate :lets ?car } }",
            "REGISTER RSTREAM :last AS SELECT ?car (COUNT(*) AS ?n) "
            "FROM NAMED WINDOW :w ON :seen [RANGE PT3S STEP PT1S] WHERE { WINDOW :w { ?car :at ?gate } } GROUP BY ?car",
        )
    )
    given: list[Evaluation] = []
    found: list[Evaluation] = []

    def give(evaluation: Evaluation) -> None:
        given.append(evaluation)
        if len(given) == 4:
            run.run.join(LAST, reader, {}, Callback(found.append))

    run = micro_batches(
        spark,
        [(giver, Callback(give))],
        {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
        is_bounded=True,
    )
    run_to_the_end(run)
    (after,) = [query.after for query in run.run.queries if query.name == LAST]
    assert after == given[3].time, "what the same micro-batch gives later is seen"
    later = [element for evaluation in given if evaluation.time > after for element in elements_of(evaluation)]
    expected = list(answer(reader.query, Inputs({SEEN: later})).with_solutions())
    assert len(found) > 5
    assert first_difference(found, expected, False) is None


def test_whoever_comes_at_the_end_is_answered(spark: SparkSession, tmp_path: Path) -> None:
    """Nothing is certain before the stream has ended: then all instants are answered at once."""
    window = "FROM NAMED WINDOW :w ON :toll [RANGE PT2S STEP PT1S]"
    texts = [
        f"PREFIX : <http://ex.org/> REGISTER RSTREAM :q{car} AS {COPY.format(window=window, car=f'car{car}')}"
        for car in range(2)
    ]
    elements = [an_element(500 * place, place % 3, place % 2) for place in range(1, 21)]
    scenario = Scenario(tuple(texts), tuple(elements), 60_000, flush=False)
    write_folder(tmp_path / "toll", elements, files=1)
    first, second = scenario.standing
    found: list[Evaluation] = []
    after: list[int | None] = []

    def take(evaluation: Evaluation) -> None:
        found.append(evaluation)
        if len(found) == 2:
            run.run.join("http://ex.org/q1", second, {}, Callback(found.append))
            after.append(run.run.changes.reached)

    run = micro_batches(
        spark,
        [(first, Callback(take))],
        {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
        settings=RunSettings(lateness=scenario.lateness),
        is_bounded=True,
    )
    run_to_the_end(run)
    (since,) = after
    assert since is not None
    later = tuple(element for element in elements if element.time > since)
    replace(scenario, texts=(texts[0],)).check([one for one in found if one.query == "http://ex.org/q0"])
    own = [one for one in found if one.query == "http://ex.org/q1"]
    assert len(own) > 3
    replace(scenario, texts=(texts[1],), elements=later).check(own)

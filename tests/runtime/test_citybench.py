"""CityBench end to end: its sensor readings in Kafka, its queries as shipped, the answers those of the oracle.

The readings of a sensor are a topic of two partitions. The oracle reads them from files.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

import pyoxigraph as ox
import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.brokers import Message, new_topic
from tests.corpora import citybench
from tests.corpora.citybench import GRAPHS, REPOSITORY, SENSORS
from tests.corpora.samples import Sample
from tests.nightly import IS_NIGHTLY

import penstock as ps
from penstock.cli import commands
from penstock.oracle.judging import first_difference
from penstock.rdf.results import Evaluation, from_json_line
from penstock.syntax import ast

SECONDS = 180 if IS_NIGHTLY else 12
"""Of event time."""
_RDF_TYPE = ox.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")

pytestmark = pytest.mark.usefixtures("connector")
Answers: TypeAlias = dict[str, list[Evaluation]]
each_dialect = pytest.mark.parametrize("dialect", citybench.DIALECTS)


class City(NamedTuple):
    topics: dict[str, str]
    files: dict[str, str]
    """Addresses of the streams, by IRI: topics in Kafka, and files with the same elements."""
    graphs: dict[str, Path]


@pytest.fixture(scope="module")
def city(shared: Path, kafka: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> City:
    folder = tmp_path_factory.mktemp("citybench")
    found = City({}, {}, {iri: _part(file, folder) for iri, file in GRAPHS.items()})
    for sensor in SENSORS:
        readings = list(citybench.readings(sensor, 1000 * SECONDS // sensor.period))
        topic = new_topic(kafka["address"], 2)
        messages = enumerate(readings)
        topic.write(Message(reading.triples, number % 2, reading.time) for number, reading in messages)
        found.topics[sensor.iri] = f"{topic.address}?until=now&format=ntriples"
        file = folder / f"{sensor.name}.trig"
        file.write_text("".join(reading.graph for reading in readings))
        found.files[sensor.iri] = str(file)
    return found


def _part(file: Path, folder: Path) -> Path:
    """Of the repository of sensors, a tenth, so that the oracle is quick; and all that the five sensors observe."""
    if file != REPOSITORY or IS_NIGHTLY:
        return file
    part = folder / "repository.nt"
    if not part.exists():
        whole = ox.Store()
        whole.load(path=file, format=ox.RdfFormat.TURTLE)
        observed = [ox.NamedNode(citybench.SERVICES + name) for sensor in SENSORS for name in sensor.properties]
        places = [quad.object for one in observed for quad in whole.quads_for_pattern(one, None, None)]
        others = islice((quad.subject for quad in whole.quads_for_pattern(None, _RDF_TYPE, None)), 0, None, 10)
        chosen = {*observed, *places, *others}
        triples = {
            quad.triple
            for one in chosen
            if not isinstance(one, ox.Literal)
            for quad in whole.quads_for_pattern(one, None, None)
        }
        part.write_bytes(ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES))
    return part


def _queries(dialect: ast.DialectName) -> list[Sample]:
    return [sample for sample in citybench.queries() if sample.dialect == dialect]


def _graphs(city: City, dialect: ast.DialectName) -> list[tuple[str | None, Path]]:
    texts = "".join(sample.text for sample in _queries(dialect))
    named: list[tuple[str | None, Path]] = [(iri, file) for iri, file in city.graphs.items() if f"<{iri}>" in texts]
    if dialect == "cqels":
        named.append((None, next(iter(city.graphs.values()))))
    return named


@pytest.fixture(scope="module")
def expected(city: City) -> dict[str, Answers]:
    """The oracle's answers, by dialect and query."""
    found = {}
    for dialect in citybench.DIALECTS:
        command = ["oracle", *(str(sample.path) for sample in _queries(dialect))]
        command += [part for iri, file in city.files.items() for part in ("--stream", f"{iri}={file}")]
        for iri, file in _graphs(city, dialect):
            command += ["--graph", str(file) if iri is None else f"{iri}={file}"]
        done = CliRunner().invoke(commands, command)
        assert done.exit_code == 0, done.stderr
        found[dialect] = _by_query(from_json_line(line) for line in done.stdout.splitlines())
    return found


def _by_query(evaluations: Iterable[Evaluation]) -> Answers:
    found: Answers = {}
    for evaluation in evaluations:
        if evaluation.rows:
            found.setdefault(evaluation.query, []).append(evaluation)
    return found


def _check(on: ps.Engine, dialect: ast.DialectName, city: City, expected: Answers) -> None:
    """All queries of a dialect, in one run."""
    for iri, address in city.topics.items():
        on.stream(iri, address)
    for name, file in _graphs(city, dialect):
        on.graph(file, name if name is None or ":" in name else f"<{name}>")
    for sample in _queries(dialect):
        on.register(sample.text, name=Path(sample.name).stem)
    found = _by_query(on.results())
    assert found.keys() == expected.keys() == {Path(sample.name).stem for sample in _queries(dialect)}
    for query, evaluations in found.items():
        difference = first_difference(evaluations, expected[query], False)
        assert difference is None, f"{query}: {difference.text}"


@each_dialect
def test_the_embedded_engine(city: City, expected: dict[str, Answers], dialect: ast.DialectName) -> None:
    _check(ps.Engine(), dialect, city, expected[dialect])


@each_dialect
def test_spark(city: City, expected: dict[str, Answers], dialect: ast.DialectName, spark: SparkSession) -> None:
    _check(ps.Engine(spark), dialect, city, expected[dialect])

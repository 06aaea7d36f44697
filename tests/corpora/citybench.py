"""CityBench: six queries, each as shipped in C-SPARQL and in CQELS-QL, and the readings of its sensors as elements.

A row of a sensor's CSV is an element: an observation for each property that the sensor observes according to
`SensorRepository.n3`. As in the benchmark, the rows are replayed: they follow one another in seconds, not in minutes.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tests.corpora.samples import SHARED, Sample, read_sample

from penstock.syntax import ast

FOLDER = SHARED / "data" / "citybench"
DIALECTS: tuple[ast.DialectName, ...] = ("cqels", "csparql")

SERVICES = "http://www.insight-centre.org/dataset/SampleEventService#"
TRAFFIC = "http://www.insight-centre.org/citytraffic#"
SSN = "http://purl.oclc.org/NET/ssnx/ssn#"
SAO = "http://purl.oclc.org/NET/sao/"

REPOSITORY = FOLDER / "SensorRepository.n3"
EVENTS = Path(__file__).parent / "citybench_events.ttl"
"""Stands for AarhusCulturalEvents.rdf, which the data does not have: a few events with the same properties."""

_RDF = "http://127.0.0.1:9000/WebGlCity/RDF/"
GRAPHS = {
    f"{_RDF}SensorRepository.rdf": REPOSITORY,
    f"{_RDF}AarhusCulturalEvents.rdf": EVENTS,
    "culturalevents": EVENTS,
}
"""The graphs that the queries name. Patterns of CQELS-QL outside GRAPH and STREAM read the repository, too."""


@dataclass(frozen=True)
class Sensor:
    """`properties`: the observed properties, and the column of each value; a reading every `period` milliseconds."""

    name: str
    properties: dict[str, str]
    period: int
    offset: int = 0

    @property
    def iri(self) -> str:
        return SERVICES + self.name


def _traffic(name: str, offset: int, **properties: str) -> Sensor:
    columns = {"speed": "avgSpeed", "count": "vehicleCount", "measured": "avgMeasuredTime"}
    columns |= {"estimated": "medianMeasuredTime", "congestion": "vehicleCount"}
    return Sensor(name, {f"Property-{properties[what]}": column for what, column in columns.items()}, 1000, offset)


SENSORS = [
    _traffic(
        "AarhusTrafficData182955",
        0,
        speed="a6cd03be-ae1f-47d0-b24f-83f82ef93c4d",
        count="c9f858eb-4a62-404d-be7c-0626219ec324",
        measured="8421b8b3-72c0-4517-87af-f1cc22d29895",
        estimated="78652e9a-9ef7-49c6-858d-e3f0eb4f142d",
        congestion="11d60592-7d15-4934-9e23-f1b38df90fd5",
    ),
    _traffic(
        "AarhusTrafficData158505",
        300,
        speed="b54c9052-e54b-4e53-a264-d2c0f416731e",
        count="283b5c24-426c-4f36-a7b1-7c75c453981c",
        measured="54da83d7-aaab-47d7-84b4-565ce83bab38",
        estimated="e5b42f86-b15d-44f7-8595-60c9f83cfc33",
        congestion="b9f96475-bd7f-4868-8a3b-4d01ff8f9359",
    ),
    Sensor(
        "AarhusWeatherData0",
        {
            "Property-66462839-6a65-4d5a-acc6-ffb627d8dc14": "tempm",
            "Property-7e96ab11-820a-42b9-aab2-b6c4ebf88de2": "hum",
            "Property-5cb2e2d7-8773-4e66-9690-6cfb3591c17b": "wspdm",
        },
        5000,
        100,
    ),
    Sensor("AarhusParkingDataKALKVAERKSVEJ", {"parkingproperty-8": "vehiclecount"}, 4000, 500),
    Sensor("UserLocationService", {"locationProperty": "place"}, 500, 700),
]


class Reading(NamedTuple):
    """An element: its name, its time in milliseconds, its triples as N-Triples."""

    name: str
    time: int
    triples: str

    @property
    def graph(self) -> str:
        """The element in TriG, with its time."""
        return f'<{self.name}> {{\n{self.triples}}}\n<{self.name}> <{_GENERATED}> "{self.time}"^^<{_INTEGER}> .\n'


_GENERATED = "http://www.w3.org/ns/prov#generatedAtTime"
_INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
_NUMBER = "http://www.w3.org/2001/XMLSchema#double"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def readings(sensor: Sensor, count: int) -> Iterator[Reading]:
    """The first readings of a sensor."""
    with (FOLDER / f"{sensor.name}.csv").open(newline="", encoding="utf-8") as file:
        if sensor.name == "UserLocationService":
            rows: Iterator[dict[str, str]] = ({"place": line.strip().partition("|")[2]} for line in file)
        else:
            rows = csv.DictReader(file)
        for number, row in enumerate(islice(rows, count)):
            observations = (
                _observation(sensor, f"{sensor.iri}-{number}-{position}", observed, row[column])
                for position, (observed, column) in enumerate(sensor.properties.items())
            )
            time = 1000 + sensor.offset + number * sensor.period
            yield Reading(f"{sensor.iri}-{number}", time, "".join(observations))


def _observation(sensor: Sensor, name: str, observed: str, value: str) -> str:
    lines = [
        f"<{name}> <{_TYPE}> <{SSN}Observation> .",
        f"<{name}> <{SSN}observedProperty> <{SERVICES}{observed}> .",
        f"<{name}> <{SSN}observedBy> <{sensor.iri}> .",
    ]
    latitude, comma, longitude = value.partition(",")
    if comma:  # a place
        lines += [
            f"<{name}> <{SAO}hasValue> <{name}-place> .",
            f'<{name}-place> <{TRAFFIC}hasLatitude> "{latitude}"^^<{_NUMBER}> .',
            f'<{name}-place> <{TRAFFIC}hasLongitude> "{longitude}"^^<{_NUMBER}> .',
        ]
    else:
        lines.append(f'<{name}> <{SAO}hasValue> "{value}"^^<{_NUMBER}> .')
    return "".join(f"{line}\n" for line in lines)


def queries() -> list[Sample]:
    paths = [(path, dialect) for dialect in DIALECTS for path in sorted(FOLDER.glob(f"{dialect}-*.rq"))]
    return [read_sample(path, dialect, FOLDER) for path, dialect in paths]

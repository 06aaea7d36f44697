"""The conference of CQELS's experiments, generated, always the same.

- The floor plan: 172 triples about 30 rooms, as many as in the paper.
- Publications like those of DBLP, following the profile of SP²Bench: articles and papers in proceedings, more each
  year, with one to several authors each (2.4 on average). Few authors write a lot, many write one paper, and all stop
  writing at some point. Editors of proceedings are chosen from their authors.
- Detections: every 100 ms a tag is seen in a room, `<…person7> lv:detectedAt <…room3> "100" .` The visitors are the
  first authors. They write together and in proceedings that some of them edited, so that the queries have results. All
  of this is in the first 5,000 triples, so that the number of results does not depend on the size of the data.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from penstock.bench.data_files import write_once

NAMESPACE = "http://ex.org/conference/"
FLOORPLAN = "http://deri.org/floorplan/"
RFID = "http://deri.org/streams/rfid"
PREFIXES = {
    "lv": FLOORPLAN,
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "swrc": "http://swrc.ontoware.org/ontology#",
}
ROOMS, CORRIDORS = 30, 56
EVERY = 100
"""Milliseconds between two detections."""

VISITORS = 20
PAPERS_A_PROCEEDINGS = 40
CAREER = 400
"""The number of papers, by any author, that appear between the first and the last paper of one author."""

_AUTHORS = (1, 2, 3, 4, 5, 6, 7)
_AUTHOR_WEIGHTS = (29, 31, 21, 11, 5, 2, 1)
_TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
_BENCH = "http://localhost/vocabulary/bench/"


def person(number: int) -> str:
    return f"{NAMESPACE}person{number}"


def name_of(number: int) -> str:
    return f"Author {number}"


def room(number: int) -> str:
    return f"{FLOORPLAN}room{number}"


def floorplan() -> Iterator[str]:
    """Rooms in a ring, and some short cuts."""
    chance = random.Random(3)
    for number in range(ROOMS):
        yield f'<{room(number)}> <{FLOORPLAN}name> "Room {number}" .\n'
        yield f'<{room(number)}> <{FLOORPLAN}desc> "the room with number {number}" .\n'
    corridors = {(number, (number + 1) % ROOMS) for number in range(ROOMS)}
    while len(corridors) < CORRIDORS:
        one, other = sorted(chance.sample(range(ROOMS), 2))
        if (other, one) not in corridors:
            corridors.add((one, other))
    for one, other in sorted(corridors):
        yield f"<{room(one)}> <{FLOORPLAN}connected> <{room(other)}> .\n"
        yield f"<{room(other)}> <{FLOORPLAN}connected> <{room(one)}> .\n"


@dataclass(frozen=True, slots=True)
class Paper:
    number: int
    authors: tuple[int, ...]
    proceedings: int | None
    year: int


def papers() -> Iterator[Paper]:
    """An endless series. Authors are new, or chosen from earlier ones in proportion to their number of papers."""
    chance = random.Random(4)
    written_by = [0]
    began = [0]
    year, this_year = 1950, 0
    for number in range(1 << 40):
        if this_year > 20 * 1.08 ** (year - 1950):
            year, this_year = year + 1, 0
        this_year += 1
        authors: dict[int, None] = {}
        for _ in range(chance.choices(_AUTHORS, _AUTHOR_WEIGHTS)[0]):
            author = chance.choice(written_by)
            if chance.random() < 0.45 or began[author] + CAREER < number:
                author = len(began)
                began.append(number)
            authors[author] = None
            written_by.append(author)
        del written_by[: -2 * CAREER]
        is_in_proceedings = chance.random() < 0.6
        proceedings = number // PAPERS_A_PROCEEDINGS if is_in_proceedings else None
        yield Paper(number, tuple(authors), proceedings, year)


def editors(proceedings: int, authors: Sequence[int]) -> tuple[int, ...]:
    """Chooses from the authors of the proceedings, in proportion to their number of papers."""
    chance = random.Random(proceedings)
    return tuple(dict.fromkeys(chance.choices(authors, k=chance.randint(1, 4))))


def publications() -> Iterator[str]:
    """An endless series."""
    known: set[int] = set()
    writing: list[int] = []
    for paper in papers():
        iri = f"<{NAMESPACE}paper{paper.number}>"
        for author in paper.authors:
            yield from _person(author, known)
        yield f"{iri} {_TYPE} <{_BENCH}{'Article' if paper.proceedings is None else 'Inproceedings'}> .\n"
        yield f'{iri} <{PREFIXES["dc"]}title> "Paper {paper.number}" .\n'
        yield f'{iri} <{PREFIXES["dcterms"]}issued> "{paper.year}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        for author in paper.authors:
            yield f"{iri} <{PREFIXES['dc']}creator> <{person(author)}> .\n"
        if paper.proceedings is not None:
            yield f"{iri} <{PREFIXES['dcterms']}partOf> <{NAMESPACE}proceedings{paper.proceedings}> .\n"
            writing += paper.authors
        if writing and paper.number % PAPERS_A_PROCEEDINGS == PAPERS_A_PROCEEDINGS - 1:
            yield from _proceedings(paper.number // PAPERS_A_PROCEEDINGS, writing)
            writing = []


def _proceedings(number: int, authors: Sequence[int]) -> Iterator[str]:
    iri = f"<{NAMESPACE}proceedings{number}>"
    yield f"{iri} {_TYPE} <{_BENCH}Proceedings> .\n"
    yield f'{iri} <{PREFIXES["dc"]}title> "Proceedings {number}" .\n'
    for editor in editors(number, authors):
        yield f"{iri} <{PREFIXES['swrc']}editor> <{person(editor)}> .\n"


def _person(number: int, known: set[int]) -> Iterator[str]:
    if number not in known:
        known.add(number)
        yield f"<{person(number)}> {_TYPE} <{PREFIXES['foaf']}Person> .\n"
        yield f'<{person(number)}> <{PREFIXES["foaf"]}name> "{name_of(number)}" .\n'


def detections(count: int) -> Iterator[tuple[str, str, str, int]]:
    """Detections of visitors, most of whom stay in a room or go to the next one."""
    chance = random.Random(5)
    places = [chance.randrange(ROOMS // 5) for _ in range(VISITORS)]
    for number in range(1, count + 1):
        visitor = chance.randrange(VISITORS)
        if chance.random() < 0.3:
            places[visitor] = (places[visitor] + chance.choice((-1, 1))) % (ROOMS // 5)
        yield f"<{person(visitor)}>", f"<{FLOORPLAN}detectedAt>", f"<{room(places[visitor])}>", number * EVERY


def write_floorplan(folder: Path) -> Path:
    return write_once(folder / "floorplan.nt", floorplan())


def write_publications(folder: Path, triples: int) -> Path:
    """The first `triples` triples."""
    return write_once(folder / f"publications-{triples}.nt", islice(publications(), triples))


def write_detections(folder: Path, count: int) -> Path:
    return write_once(folder / f"rfid-{count}.tnt", (f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in detections(count)))

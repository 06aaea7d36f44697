"""Generates universities with the profile from LUBM's paper; the data is always the same.

A university has 15 to 25 departments; a department 7 to 10 full, 10 to 14 associate and 8 to 11 assistant professors, 5
to 7 lecturers, 8 to 14 undergraduate and 3 to 4 graduate students for each of them, and 10 to 20 research groups.
Faculty teach 1 or 2 courses and 1 or 2 graduate courses, and have degrees of three universities. Undergraduates take 2
to 4 courses, graduates 1 to 3 graduate courses; a fifth of undergraduates and all graduates have an advisor. A fifth to
a quarter of graduates are teaching assistants, a quarter to a third research assistants. Professors have 5 to 20
publications, lecturers and graduates up to 5. Names, addresses and interests are as in the paper.

All triples about a resource have the same timestamp, one millisecond after the previous resource.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from penstock.bench.data_files import write_once
from penstock.bench.lubm.vocabulary import INVERSES, SUPERCLASSES, SUPERPROPERTIES, TYPE, UB

UNIVERSITIES = 1000
"""The number of universities that grant degrees."""

INTERESTS = 30
_FACULTY = {
    "FullProfessor": ((7, 10), (15, 20)),
    "AssociateProfessor": ((10, 14), (10, 18)),
    "AssistantProfessor": ((8, 11), (5, 10)),
    "Lecturer": ((5, 7), (0, 5)),
}
"""The number in a department, and the number of publications of each."""

Triple = tuple[str, str, str]


@dataclass(slots=True)
class _Resource:
    """The triples about one resource, including inferred ones."""

    iri: str
    triples: dict[Triple, None] = field(default_factory=dict)

    def a(self, kind: str) -> _Resource:
        for name in (kind, *SUPERCLASSES[kind]):
            self._add(self.iri, TYPE, UB + name)
        return self

    def to(self, name: str, *others: str) -> _Resource:
        for one in (name, *SUPERPROPERTIES.get(name, ())):
            for other in others:
                self._add(self.iri, UB + one, other)
                if one in INVERSES:
                    self._add(other, UB + INVERSES[one], self.iri)
        return self

    def says(self, name: str, text: str) -> _Resource:
        self.triples[f"<{self.iri}>", f"<{UB}{name}>", f'"{text}"'] = None
        return self

    def _add(self, s: str, p: str, o: str) -> None:
        self.triples[f"<{s}>", f"<{p}>", f"<{o}>"] = None


def university(number: int) -> str:
    return f"http://www.University{number}.edu"


def department(number: int, of: int) -> str:
    return f"http://www.Department{number}.University{of}.edu"


def resources(universities: int, departments: int | None = None) -> Iterator[_Resource]:
    """All resources; with `departments`, only the first departments of each university."""
    for number in range(universities):
        chance = random.Random(number)
        yield _Resource(university(number)).a("University").says("name", f"University{number}")
        for place in range(chance.randint(15, 25)):
            if departments is None or place < departments:
                yield from _Department(chance, number, place).resources()


def lines(universities: int, departments: int | None = None) -> Iterator[str]:
    """As timestamped N-Triples."""
    for time, resource in enumerate(resources(universities, departments), 1):
        for triple in resource.triples:
            yield f'{" ".join(triple)} "{time}" .\n'


def write_universities(folder: Path, universities: int, departments: int | None = None) -> Path:
    part = "" if departments is None else f"-{departments}"
    return write_once(folder / f"lubm-{universities}{part}.tnt", lines(universities, departments))


class _Department:
    def __init__(self, chance: random.Random, of: int, number: int) -> None:
        self.chance, self.of, self.number = chance, of, number
        self.iri = department(number, of)
        self.courses = {"Course": 0, "GraduateCourse": 0}
        self.professors: list[str] = []

    def resources(self) -> Iterator[_Resource]:
        above = university(self.of)
        yield (
            _Resource(self.iri).a("Department").says("name", f"Department{self.number}").to("subOrganizationOf", above)
        )
        faculty = 0
        for kind, (bounds, publications) in _FACULTY.items():
            for place in range(self.chance.randint(*bounds)):
                yield from self._teacher(kind, place, publications)
                faculty += 1
        yield from self._students("UndergraduateStudent", faculty * self.chance.randint(8, 14))
        yield from self._students("GraduateStudent", faculty * self.chance.randint(3, 4))
        for place in range(self.chance.randint(10, 20)):
            group = _Resource(f"{self.iri}/ResearchGroup{place}").a("ResearchGroup")
            yield group.to("subOrganizationOf", self.iri, above)

    def _teacher(self, kind: str, place: int, publications: tuple[int, int]) -> Iterator[_Resource]:
        person = self._person(kind, place).to("worksFor", self.iri)
        if kind != "Lecturer":
            self.professors.append(person.iri)
        if kind == "FullProfessor" and place == 0:
            person.a("Chair").to("headOf", self.iri)
        for degree in ("undergraduateDegreeFrom", "mastersDegreeFrom", "doctoralDegreeFrom"):
            person.to(degree, self._some_university())
        person.says("researchInterest", f"Research{self.chance.randrange(INTERESTS)}")
        taught = [
            course for of in self.courses for course in (self._new_course(of) for _ in range(self.chance.randint(1, 2)))
        ]
        yield person.to("teacherOf", *(course.iri for course in taught))
        yield from taught
        yield from self._publications(person.iri, [person.iri], self.chance.randint(*publications))

    def _new_course(self, kind: str) -> _Resource:
        number = self.courses[kind]
        self.courses[kind] += 1
        return _Resource(f"{self.iri}/{kind}{number}").a(kind).says("name", f"{kind}{number}")

    def _students(self, kind: str, count: int) -> Iterator[_Resource]:
        is_graduate = kind == "GraduateStudent"
        course, (least, most) = ("GraduateCourse", (1, 3)) if is_graduate else ("Course", (2, 4))
        teaching, research = self.chance.uniform(1 / 5, 1 / 4), self.chance.uniform(1 / 4, 1 / 3)
        for place in range(count):
            person = self._person(kind, place).to("memberOf", self.iri)
            taken = self.chance.sample(range(self.courses[course]), self.chance.randint(least, most))
            person.to("takesCourse", *(f"{self.iri}/{course}{number}" for number in taken))
            if is_graduate or self.chance.random() < 1 / 5:
                advisor = self.chance.choice(self.professors)
                person.to("advisor", advisor)
            if not is_graduate:
                yield person
                continue
            person.to("undergraduateDegreeFrom", self._some_university())
            if place < count * teaching:
                taught = self.chance.randrange(self.courses["Course"])
                person.a("TeachingAssistant").to("teachingAssistantOf", f"{self.iri}/Course{taught}")
            elif place < count * (teaching + research):
                person.a("ResearchAssistant")
            yield person
            yield from self._publications(person.iri, [advisor, person.iri], self.chance.randint(0, 5))

    def _person(self, kind: str, place: int) -> _Resource:
        person = _Resource(f"{self.iri}/{kind}{place}").a(kind).says("name", f"{kind}{place}")
        address = f"{kind}{place}@Department{self.number}.University{self.of}.edu"
        return person.says("emailAddress", address).says("telephone", "xxx-xxx-xxxx")

    def _publications(self, of: str, authors: list[str], count: int) -> Iterator[_Resource]:
        for number in range(count):
            paper = _Resource(f"{of}/Publication{number}").a("Publication").says("name", f"Publication{number}")
            yield paper.to("publicationAuthor", *authors)

    def _some_university(self) -> str:
        return university(self.chance.randrange(UNIVERSITIES))

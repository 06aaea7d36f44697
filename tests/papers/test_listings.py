"""Every listing of the papers parses as printed; where it is misprinted, the error proposes the repair."""

from __future__ import annotations

import pytest
from tests.corpora import papers
from tests.corpora.samples import Sample, each

from penstock.syntax import parse
from penstock.syntax.errors import QuerySyntaxError, locate

PLAIN_SPARQL = {
    "csparql/brokers-and-their-countries.rq",
    "rspql/owner-of-shop-a.rq",
    "groppe/self-citations.rq",
}
"""Listings of a stream paper without anything that SPARQL lacks."""

REPAIRS = {
    "csparql/total-amount-per-day-and-broker.misprint.rq": ("^^", 13, 27, "&&"),
    "cqels/q5-co-authors-nearby-per-location.misprint.rq": ("loc2", 6, 63, "?loc2"),
}
"""What is misprinted, its line and column, and what the hint proposes."""


@each(papers.listings())
def test_it_parses_in_its_dialect(sample: Sample) -> None:
    assert parse(sample.text, sample.dialect, prefixes=sample.prefixes).dialect == sample.dialect


@each([sample for sample in papers.listings() if sample.name != "streaming-sparql/names-and-powers.rq"])
def test_its_dialect_is_recognised(sample: Sample) -> None:
    """But for Listing 1.2 of Streaming SPARQL, which is plain SPARQL with a slip that only Streaming SPARQL pardons."""
    expected = "sparql" if sample.name in PLAIN_SPARQL else sample.dialect
    assert parse(sample.text, prefixes=sample.prefixes).dialect == expected


@each(papers.misprints())
@pytest.mark.parametrize("given", ["its dialect", "auto"])
def test_its_misprint_gets_one_error_that_proposes_the_repair(sample: Sample, given: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(sample.text, "auto" if given == "auto" else sample.dialect, prefixes=sample.prefixes)
    (problem,) = caught.value.problems
    misprint, line, column, repair = REPAIRS[sample.name]
    assert sample.text[problem.span.start : problem.span.end] == misprint
    assert locate(sample.text, problem.span.start)[:2] == (line, column)
    assert problem.hint is not None
    assert repair in problem.hint


@each(papers.misprints())
def test_the_proposed_repair_is_what_the_repaired_file_has(sample: Sample) -> None:
    misprint, line, column, repair = REPAIRS[sample.name]
    lines = sample.text.split("\n")
    before, after = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    lines[line - 1] = before + after.replace(misprint, repair, 1)
    repaired = (papers.FOLDER / sample.name.replace(".misprint.", ".repaired.")).read_text(encoding="utf-8")
    assert "\n".join(lines) == repaired


def test_every_paper_has_listings() -> None:
    folders = {sample.name.split("/")[0] for sample in papers.listings()}
    assert folders == set(papers.DIALECT_OF_FOLDER)
    assert {sample.name for sample in papers.misprints()} == set(REPAIRS)

"""CSRBench's queries parse as plain SPARQL, and in every dialect with their window put around them."""

from __future__ import annotations

from tests.corpora import csrbench
from tests.corpora.csrbench import STREAM, WINDOW
from tests.corpora.samples import Sample, each

from penstock.rdf.terms import IRI
from penstock.syntax import ast, read

_STREAM = ast.Constant(IRI(STREAM))
_WINDOW = ast.Constant(IRI(WINDOW))


@each(csrbench.queries())
def test_it_is_recognised_and_nothing_is_odd_about_it(sample: Sample) -> None:
    reading = read(sample.text)
    assert reading.query.dialect == sample.dialect
    assert reading.warnings == ()
    assert reading.query == read(sample.text, sample.dialect).query


@each(csrbench.queries())
def test_it_is_the_plain_query_with_a_window_around_it(sample: Sample) -> None:
    benchmark = csrbench.benchmarks()[int(sample.name.split("-")[1]) - 1]
    plain = read(benchmark.text("sparql"), "sparql").query
    query = read(sample.text, sample.dialect).query
    assert query.form == plain.form
    assert query.prologue == plain.prologue
    assert plain.where is not None
    dataset, where = _expected(benchmark, sample.dialect, plain.where)
    assert query.dataset == dataset
    assert query.where == where


def _expected(
    benchmark: csrbench.Benchmark, dialect: ast.DialectName, pattern: ast.Group
) -> tuple[tuple[ast.WindowClause, ...], ast.Group]:
    sliding = ast.RangeWindow(benchmark.size, benchmark.slide)
    match dialect:
        case "rspql":
            clause = ast.WindowClause(_STREAM, sliding, named=True, name=_WINDOW)
            return (clause,), ast.Group((ast.WindowBlock(_WINDOW, pattern),))
        case "cqels":
            return (), ast.Group((ast.StreamBlock(_STREAM, sliding, pattern),))
        case "sparqlstream":
            return (ast.WindowClause(_STREAM, ast.PastWindow(benchmark.size, 0, benchmark.slide)),), pattern
        case "csparql" | "streaming-sparql":
            return (ast.WindowClause(_STREAM, sliding),), pattern
        case "sparql":
            return (), pattern

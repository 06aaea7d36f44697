"""CityBench's queries parse as shipped, in both dialects, which `auto` tells apart."""

from __future__ import annotations

from tests.corpora import citybench
from tests.corpora.samples import Sample, each

from penstock.syntax import ast, read

_EVERY_SECOND = ast.RangeWindow(3000, 1000)
_EVERY_INSTANT = ast.RangeWindow(3000, None)


@each(citybench.queries())
def test_it_is_recognised_and_nothing_is_odd_about_it(sample: Sample) -> None:
    reading = read(sample.text)
    assert reading.query.dialect == sample.dialect
    assert reading.warnings == ()
    assert reading.query == read(sample.text, sample.dialect).query


@each(citybench.queries())
def test_its_windows_are_read(sample: Sample) -> None:
    windows = _windows(read(sample.text).query)
    if sample.name == "cqels-Q6.rq":
        assert windows == [ast.RangeWindow(20_000, 1000), _EVERY_INSTANT]
    else:
        expected = _EVERY_SECOND if sample.dialect == "csparql" else _EVERY_INSTANT
        assert windows == [expected] * sample.text.lower().count("[range")


def _windows(query: ast.Query) -> list[ast.Window | None]:
    if query.dialect == "csparql":
        return [clause.window for clause in query.dataset if isinstance(clause, ast.WindowClause)]
    assert query.where is not None
    return [element.window for element in query.where.elements if isinstance(element, ast.StreamBlock)]

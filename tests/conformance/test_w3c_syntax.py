"""W3C's tests of SPARQL 1.1: what its manifests call a query is read, what they call none is not.

The queries of evaluation tests count as positive syntax tests.
"""

from __future__ import annotations

import pytest
from tests.corpora import w3c
from tests.corpora.samples import Sample, each

from penstock.syntax import parse
from penstock.syntax.errors import QuerySyntaxError

_DIALECTS = pytest.mark.parametrize("dialect", ["sparql", "auto"])


@_DIALECTS
@each(w3c.positive())
def test_accepts(sample: Sample, dialect: str) -> None:
    assert parse(sample.text, dialect).dialect == "sparql"


@_DIALECTS
@each(w3c.negative())
def test_rejects(sample: Sample, dialect: str) -> None:
    with pytest.raises(QuerySyntaxError) as caught:
        parse(sample.text, dialect)
    assert caught.value.problems


@each(w3c.in_no_manifest())
def test_says_that_there_are_no_counted_paths(sample: Sample) -> None:
    """Each place gets an error of its own, at the brace, that says what to write instead."""
    with pytest.raises(QuerySyntaxError) as caught:
        parse(sample.text, "sparql")
    for problem in caught.value.problems:
        assert sample.text[problem.span.start] == "{"
        assert problem.hint is not None
        assert "no counted paths" in problem.hint
    lines_concerned = sum("{" in line.replace("WHERE", "").strip(" {") for line in sample.text.splitlines())
    assert len(caught.value.problems) == lines_concerned


@pytest.mark.usefixtures("shared")
def test_every_file_is_sorted() -> None:
    assert (len(w3c.positive()), len(w3c.negative()), len(w3c.in_no_manifest())) == (320, 38, 9)

"""Reads a query: from text to a checked syntax tree. All callers use this module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.syntax import ast
from penstock.syntax.checks import check
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.errors import Problem, QuerySyntaxError
from penstock.syntax.parser.cursor import MAX_NESTING, ParseFailure
from penstock.syntax.recognition import recognise
from penstock.syntax.spans import Span
from penstock.syntax.tokens import tokenize


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query without errors, and the warnings about it."""

    query: ast.Query
    warnings: tuple[Problem, ...]


def read(
    text: str,
    dialect: ast.DialectName | str = "auto",
    *,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    filename: str = "query",
    any_function: bool = False,
) -> ParsedQuery:
    """Reads and checks a query. Raises QuerySyntaxError with all errors.

    With `any_function` the query may call functions that Penstock does not have; it can then be read, but not run.
    """
    problems: list[Problem] = []
    query = None
    try:
        query = _parse(text, dialect, prefixes, base, problems)
        problems += check(query, any_function=any_function)
    except ParseFailure as failure:
        if not failure.is_final:
            problems.append(failure.problem)
    except RecursionError:
        message = f"the query nests too deeply to be read: at most {MAX_NESTING} levels, fewer from a deep call stack"
        raise QuerySyntaxError([Problem(message, Span(0, 1))], text, filename) from None
    except QuerySyntaxError as error:
        raise QuerySyntaxError(error.problems, text, filename) from None
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors or query is None:
        raise QuerySyntaxError(errors, text, filename)
    return ParsedQuery(query, tuple(sorted(problems, key=lambda problem: problem.span)))


def parse(
    text: str,
    dialect: ast.DialectName | str = "auto",
    *,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
) -> ast.Query:
    """The syntax tree of a query in any dialect.

    `dialect` is one of rspql, csparql, cqels, sparqlstream, streaming-sparql, sparql; `auto` detects it. `prefixes` are
    treated as declared, `base` resolves relative IRIs. Raises QuerySyntaxError with all errors. Calls of functions that
    Penstock does not have are not errors here; `check` reports them.

    >>> query = parse("SELECT ?car FROM STREAM <http://ex.org/toll> [RANGE 10s STEP 1s] WHERE { ?gate ?sees ?car }")
    >>> query.dialect
    'csparql'
    >>> query.dataset[0].window
    RangeWindow(width=10000, step=1000)
    """
    return read(text, dialect, prefixes=prefixes, base=base, any_function=True).query


def _parse(
    text: str, name: str, prefixes: Mapping[str, str] | None, base: str | None, problems: list[Problem]
) -> ast.Query:
    tokens = tokenize(text)
    if name == "auto":
        name = recognise(tokens)
    dialect = DIALECTS.get(name)  # type: ignore[call-overload]
    if dialect is None:
        raise ValueError(f"there is no dialect {name!r}; there are auto, {', '.join(DIALECTS)}")
    if name == "csparql" and "-" in tokens.kinds:
        tokens = tokenize(text, dialect.variable)
    parser = dialect.parser(tokens, prefixes, base)
    try:
        query: ast.Query = parser.query()
    finally:
        problems += parser.problems
    return query

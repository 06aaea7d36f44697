"""Queries as text in, syntax trees, problems or text in another dialect out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.errors import Problem, QuerySyntaxError, TranslationError
from penstock.syntax.printer import to_text
from penstock.syntax.query_reader import parse, read
from penstock.syntax.suggestions import did_you_mean
from penstock.syntax.translation import translate as translate_query

__all__ = ["Problem", "QuerySyntaxError", "TranslationError", "check", "parse", "translate"]


def check(
    text: str,
    dialect: ast.DialectName | str = "auto",
    *,
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
) -> list[Problem]:
    """The errors and warnings of a query; an empty list if there are none.

    Where `parse` would raise an exception, its problems are returned. Functions that Penstock does not have are errors,
    too, though other engines may have them. Each problem has a `message`, a `span` of the text, a `severity` (error or
    warning) and perhaps a `hint`; `render` shows all of it.

    >>> import penstock as ps
    >>> text = "SELECT ?sensr WHERE { ?sensor a ?kind }"
    >>> for problem in ps.check(text):
    ...     print(problem.render(text, "sensors.rq"))
    sensors.rq:1:8: warning: ?sensr is never bound
     1 | SELECT ?sensr WHERE { ?sensor a ?kind }
       |        ^^^^^^
       = did you mean ?sensor?
    """
    try:
        return list(read(text, dialect, prefixes=prefixes, base=base).warnings)
    except QuerySyntaxError as error:
        return list(error.problems)


def translate(
    text: str,
    to: ast.DialectName | str,
    *,
    dialect: ast.DialectName | str = "auto",
    prefixes: Mapping[str, str] | None = None,
    base: str | None = None,
    approximate: bool = False,
) -> str:
    """The same query in the dialect `to`: rspql, csparql, cqels, sparqlstream, streaming-sparql or sparql.

    Its meaning stays the same. What `to` cannot express raises a TranslationError whose `reasons` name each part; with
    `approximate` such a part is left out or approximated, and a warning describes each difference. A text that is not a
    query raises a QuerySyntaxError. The other arguments are those of `parse`.

    >>> import penstock as ps
    >>> text = "SELECT ?car FROM STREAM <http://ex.org/toll> [RANGE 10m STEP 1m] { ?gate <http://ex.org/sees> ?car }"
    >>> print(ps.translate(text, to="rspql"), end="")
    SELECT ?car
    FROM WINDOW ON STREAM <http://ex.org/toll> [RANGE PT10M STEP PT1M]
    WHERE {
      ?gate <http://ex.org/sees> ?car .
    }
    """
    if to not in DIALECTS:
        hint = did_you_mean(to, DIALECTS) or f"there are {', '.join(DIALECTS)}"
        raise ValueError(f"there is no dialect {to!r}; {hint}")
    query = read(text, dialect, prefixes=prefixes, base=base, any_function=True).query
    translation = translate_query(query, to, approximate=approximate)  # type: ignore[arg-type]
    for difference in translation.differences:
        warnings.warn(f"{DIALECTS[translation.query.dialect].title} cannot express {difference}", stacklevel=2)
    return printed(translation.query, prefixes or {})


def printed(query: ast.Query, prefixes: Mapping[str, str]) -> str:
    """The text of a query that was read with `prefixes`: those that it has use for are declared in it."""
    text = to_text(query)
    declared = {declaration.prefix for declaration in query.prologue.prefixes}
    used = tuple(
        ast.PrefixDeclaration(prefix, namespace)
        for prefix, namespace in prefixes.items()
        if prefix not in declared and f"<{namespace}" in text
    )
    if not used:
        return text
    return to_text(replace(query, prologue=replace(query.prologue, prefixes=query.prologue.prefixes + used)))

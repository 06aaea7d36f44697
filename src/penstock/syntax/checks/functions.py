"""Built-in functions: how many arguments each one takes (SPARQL 1.1 §19.8, rule 121; TIMESTAMP: semantics.md §8)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.rdf.plurals import counted
from penstock.syntax import ast
from penstock.syntax.checks.notes import Notes
from penstock.syntax.errors import Problem
from penstock.syntax.spans import Span

PARAMETERS = {
    "STR": "term",
    "LANG": "literal",
    "LANGMATCHES": "tag, range",
    "DATATYPE": "literal",
    "BOUND": "variable",
    "IRI": "term",
    "URI": "term",
    "BNODE": "[text]",
    "RAND": "",
    "ABS": "number",
    "CEIL": "number",
    "FLOOR": "number",
    "ROUND": "number",
    "CONCAT": "[text, …]",
    "SUBSTR": "text, start [, length]",
    "STRLEN": "text",
    "REPLACE": "text, pattern, replacement [, flags]",
    "UCASE": "text",
    "LCASE": "text",
    "ENCODE_FOR_URI": "text",
    "CONTAINS": "text, part",
    "STRSTARTS": "text, start",
    "STRENDS": "text, end",
    "STRBEFORE": "text, separator",
    "STRAFTER": "text, separator",
    "YEAR": "dateTime",
    "MONTH": "dateTime",
    "DAY": "dateTime",
    "HOURS": "dateTime",
    "MINUTES": "dateTime",
    "SECONDS": "dateTime",
    "TIMEZONE": "dateTime",
    "TZ": "dateTime",
    "NOW": "",
    "UUID": "",
    "STRUUID": "",
    "MD5": "text",
    "SHA1": "text",
    "SHA256": "text",
    "SHA384": "text",
    "SHA512": "text",
    "COALESCE": "[expression, …]",
    "IF": "condition, then, else",
    "STRLANG": "text, tag",
    "STRDT": "text, datatype",
    "SAMETERM": "term, term",
    "ISIRI": "term",
    "ISURI": "term",
    "ISBLANK": "term",
    "ISLITERAL": "term",
    "ISNUMERIC": "term",
    "REGEX": "text, pattern [, flags]",
    "TIMESTAMP": "variable [, stream] or subject, predicate, object",
}
"""The parameters of each built-in function, those that may be left out in brackets."""


def _arity(parameters: str) -> tuple[int, int | None]:
    """The least and the greatest number of arguments; None: any number."""
    if "…" in parameters:
        return 0, None
    required, _, optional = parameters.partition("[")
    least = len(re.findall(r"\w+", required))
    return least, least + len(re.findall(r"\w+", optional))


_ARITIES = {name: _arity(parameters) for name, parameters in PARAMETERS.items()}
_ARITIES["TIMESTAMP"] = (1, 3)  # it has two forms


def check_functions(query: ast.Query, notes: Notes) -> Iterator[Problem]:
    for call in notes.calls:
        least, most = _ARITIES.get(call.name, (0, None))
        given = len(call.arguments)
        if given < least or (most is not None and given > most):
            yield Problem(
                f"{call.name} takes {_spoken(least, most)}, not {given}",
                call.span if given < least or most is None else _span_from(call.arguments[most:]),
                f"write {call.name}({PARAMETERS[call.name]})",
            )
        elif call.name == "BOUND" and not isinstance(call.arguments[0], ast.Variable):
            yield Problem(
                "BOUND takes a variable, not an expression",
                call.arguments[0].span,
                "write BOUND(?x); COALESCE(…, …) tells whether an expression has a value",
            )


def _spoken(least: int, most: int | None) -> str:
    if most == 0:
        return "no argument"
    if least == most:
        return counted(least, "argument")
    return f"{least} or {most} arguments" if most == least + 1 else f"{least} to {most} arguments"


def _span_from(arguments: tuple[ast.Expression, ...]) -> Span:
    return Span(arguments[0].span.start, arguments[-1].span.end)

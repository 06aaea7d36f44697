"""Functions: the number of arguments of built-ins (SPARQL 1.1 §19.8, rule 121; TIMESTAMP: semantics.md §8), and the
functions that are called by IRI: casts (§17.5) and no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.rdf import vocabulary
from penstock.rdf.plurals import counted
from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem
from penstock.syntax.spans import Span
from penstock.syntax.suggestions import closest

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
"""The parameters of each built-in function, optional ones in brackets."""


def _arity(parameters: str) -> tuple[int, int | None]:
    """The minimum and maximum number of arguments; None means no maximum."""
    if "…" in parameters:
        return 0, None
    required, _, optional = parameters.partition("[")
    least = len(re.findall(r"\w+", required))
    return least, least + len(re.findall(r"\w+", optional))


_ARITIES = {name: _arity(parameters) for name, parameters in PARAMETERS.items()}
_ARITIES["TIMESTAMP"] = (1, 3)  # it has two forms


def check_functions(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for call in facts.calls:
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
                "write BOUND(?x); use COALESCE(…, …) to test whether an expression has a value",
            )


_CASTS = ("string", "boolean", "integer", "decimal", "double", "float", "dateTime", "date", "dayTimeDuration")
_INTEGERS = frozenset(
    "int long short byte unsignedInt unsignedLong unsignedShort unsignedByte positiveInteger negativeInteger "
    "nonNegativeInteger nonPositiveInteger".split()
)
CASTS = frozenset(vocabulary.XSD + name for name in _CASTS)
"""The functions that are called by their IRI."""


def check_known_functions(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    """Calls of unknown functions. They are not syntax errors: another engine may have the function."""
    for call in facts.functions:
        name = call.function.text
        if name in CASTS and len(call.arguments) == 1 and not call.distinct:
            continue
        if name in CASTS:
            message = f"the cast {call.function.term} takes 1 argument, not {len(call.arguments)}"
            yield Problem(message, call.span, "write only the value between the parentheses")
        else:
            yield Problem(f"there is no function {call.function.term}", call.function.span, _instead(name))


def _instead(name: str) -> str:
    """A suggestion for an unknown function."""
    local = name[max(name.rfind(mark) for mark in "#/:") + 1 :]
    namespace = name[: len(name) - len(local)]
    if namespace == vocabulary.XSD:
        near = "integer" if local in _INTEGERS else closest(local, _CASTS)
        return f"did you mean xsd:{near}?" if near else f"there are casts to {', '.join(_CASTS)}"
    built_in = local.upper().replace("-", "_")
    if built_in in PARAMETERS:
        return f"did you mean the built-in {built_in}({PARAMETERS[built_in]})?"
    near = closest(built_in, PARAMETERS, cutoff=0.8)
    if near is not None:
        return f"did you mean the built-in {near}({PARAMETERS[near]})?"
    return (
        "Penstock has the functions and casts of SPARQL 1.1 and no extension functions; combine those with BIND, "
        "or call it inside SERVICE on an endpoint that has it"
    )


def _spoken(least: int, most: int | None) -> str:
    if most == 0:
        return "no argument"
    if least == most:
        return counted(least, "argument")
    return f"{least} or {most} arguments" if most == least + 1 else f"{least} to {most} arguments"


def _span_from(arguments: tuple[ast.Expression, ...]) -> Span:
    return Span(arguments[0].span.start, arguments[-1].span.end)

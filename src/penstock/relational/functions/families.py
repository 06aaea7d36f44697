"""What is known of an expression's value before there is data: which family of terms it is in, if it is no error."""

from __future__ import annotations

from penstock.algebra.expressions import Apply, Constant, Expression
from penstock.rdf.encoding import INTEGER_TYPES
from penstock.rdf.terms import IRI, Literal
from penstock.rdf.vocabulary import XSD

_OF_DATATYPES = {
    XSD + "string": "string",
    XSD + "boolean": "boolean",
    **{XSD + name: "number" for name in ("integer", "decimal", "double", "float", *INTEGER_TYPES)},
    **{XSD + name: "time" for name in ("dateTime", "date", "time", "dayTimeDuration", "yearMonthDuration")},
}
_OF_FUNCTIONS = {
    **dict.fromkeys("* / ABS CEIL FLOOR ROUND RAND STRLEN YEAR MONTH DAY HOURS MINUTES SECONDS".split(), "number"),
    **dict.fromkeys("STR LANG ENCODE_FOR_URI TZ STRUUID MD5 SHA1 SHA256 SHA384 SHA512".split(), "string"),
    **dict.fromkeys("IRI URI UUID DATATYPE".split(), "iri"),
    **dict.fromkeys("NOW TIMEZONE".split(), "time"),
    **dict.fromkeys(
        [
            *"|| && ! = != < > <= >= IN".split(),
            "NOT IN",
            *"BOUND LANGMATCHES CONTAINS STRSTARTS STRENDS SAMETERM".split(),
            *"ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC REGEX".split(),
        ],
        "boolean",
    ),
    **{f"<{datatype}>": family for datatype, family in _OF_DATATYPES.items()},
}


def family_of(expression: Expression) -> str | None:
    """`number`, `string`, `language` (a string with one), `boolean`, `time` (or a date, a duration), `iri`; or None."""
    match expression:
        case Constant(IRI()):
            return "iri"
        case Constant(Literal(_, _, str())):
            return "language"
        case Constant(Literal(_, datatype)):
            return _OF_DATATYPES.get(datatype)
        case Apply("+" | "-", operands) if any(family_of(operand) == "number" for operand in operands):
            return "number"
        case Apply(function, _):
            return _OF_FUNCTIONS.get(function)
    return None


_TAGS = {
    **dict.fromkeys("STRLEN YEAR MONTH DAY HOURS MINUTES".split(), "i"),
    "SECONDS": "d",
    "RAND": "e",
    f"<{XSD}integer>": "i",
    f"<{XSD}decimal>": "d",
    f"<{XSD}double>": "e",
    f"<{XSD}float>": "f",
}


def tag_of(expression: Expression) -> str | None:
    """The tag of a function's result, a number, where the function alone says it."""
    return _TAGS.get(expression.function) if isinstance(expression, Apply) else None


def is_volatile(expression: Expression) -> bool:
    """Whether each evaluation gives another value."""
    match expression:
        case Apply("RAND" | "UUID" | "STRUUID") | Apply("BNODE", ()):
            return True
        case Apply(_, arguments):
            return any(is_volatile(argument) for argument in arguments)
    return False

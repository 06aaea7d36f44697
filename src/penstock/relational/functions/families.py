"""The known facts about an expression's value before there is data: its kind of term, unless it is an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.algebra.expressions import Apply, Constant, Expression, Variable
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
    **dict.fromkeys("IRI URI UUID DATATYPE BNODE".split(), "resource"),
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


_TAGS = {
    **dict.fromkeys("STRLEN YEAR MONTH DAY HOURS MINUTES".split(), "i"),
    "SECONDS": "d",
    "RAND": "e",
    f"<{XSD}integer>": "i",
    f"<{XSD}decimal>": "d",
    f"<{XSD}double>": "e",
    f"<{XSD}float>": "f",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """A family, and the tag of a computed number, if known: such a number is well-formed.

    Families are `number`, `string`, `language` (a string with one), `boolean`, `time` (or a date, a duration) and
    `resource` (an IRI or a blank node).
    """

    family: str | None = None
    tag: str | None = None


UNKNOWN = Kind()
RESOURCE = Kind("resource")
STRING = Kind("string")
NUMBER = Kind("number")
INTEGER = Kind("number", "i")
Kinds = Mapping[Variable, Kind]


def kind_of(expression: Expression, kinds: Kinds) -> Kind:
    """The kind of the value; `kinds` are those of the variables."""
    match expression:
        case Variable():
            return kinds.get(expression, UNKNOWN)
        case Constant(IRI()):
            return RESOURCE
        case Constant(Literal(_, _, str())):
            return Kind("language")
        case Constant(Literal(_, datatype)):
            return Kind(_OF_DATATYPES.get(datatype))
        case Apply("+" | "-", operands) if any(kind_of(operand, kinds).family == "number" for operand in operands):
            return NUMBER
        case Apply("IF", (_, *values)) | Apply("COALESCE", values):
            return common([kind_of(value, kinds) for value in values])
        case Apply(function, _):
            return Kind(_OF_FUNCTIONS.get(function), _TAGS.get(function))
    return Kind("boolean")


def common(kinds: Iterable[Kind]) -> Kind:
    """The known facts about a value that has one of these kinds."""
    different = set(kinds)
    if len(different) == 1:
        return different.pop()
    families = {kind.family for kind in different}
    return Kind(families.pop()) if len(families) == 1 else UNKNOWN


def is_volatile(expression: Expression) -> bool:
    """Whether each evaluation returns another value."""
    match expression:
        case Apply("RAND" | "UUID" | "STRUUID") | Apply("BNODE", ()):
            return True
        case Apply(_, arguments):
            return any(is_volatile(argument) for argument in arguments)
    return False

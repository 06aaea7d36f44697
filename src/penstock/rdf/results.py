"""Evaluations, and the lines that they are written as (contract.md): SPARQL 1.1 JSON with query and instant added."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeVar

from pyoxigraph import BlankNode, Literal, Quad, RdfFormat, Triple, parse

from penstock.rdf.comparison import same_graph, same_rows
from penstock.rdf.conversion import named_node
from penstock.rdf.elements import Node, Row
from penstock.rdf.errors import ReadingError
from penstock.rdf.html import evaluation_html
from penstock.rdf.parser import checked
from penstock.rdf.plurals import counted

__all__ = ["Evaluation", "ResultLineError", "from_json_line", "same_graph", "same_rows"]


class ResultLineError(ValueError):
    """A text that is not a result line."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The answer of a query at one instant.

    SELECT has `variables` and `rows`, ASK has `boolean`, CONSTRUCT and DESCRIBE have `triples` (quads where they are in
    a named graph). `time` is in milliseconds.
    """

    query: str
    time: int
    variables: tuple[str, ...] | None = None
    rows: tuple[Row, ...] | None = None
    boolean: bool | None = None
    triples: tuple[Triple | Quad, ...] | None = None

    @property
    def vars(self) -> tuple[str, ...] | None:
        """The same as `variables`, by the name that SPARQL's own results have for it."""
        return self.variables

    @property
    def says_something(self) -> bool:
        """Whether it has solutions or triples; an ASK always says something."""
        return self.boolean is not None or bool(self.rows) or bool(self.triples)

    def _repr_html_(self) -> str:
        return evaluation_html(self)

    def __post_init__(self) -> None:
        if (self.rows is None) + (self.boolean is None) + (self.triples is None) != 2:
            raise ValueError("an evaluation has rows, or a boolean, or triples: give one of them")
        if (self.rows is None) != (self.variables is None):
            raise ValueError("rows and variables belong together: give both or neither")
        expected = len(self.variables or ())
        if not set(map(len, self.rows or ())) <= {expected}:
            wrong = next(row for row in self.rows or () if len(row) != expected)
            raise ValueError(
                f"a row has {counted(len(wrong), 'term')} for {counted(expected, 'variable')}: {wrong}"
            )  # fmt: skip


def from_json_line(text: str) -> Evaluation:
    """The evaluation that a result line holds; the intervals of Streaming SPARQL (`valid`) are passed over.

    Raises `ResultLineError`.
    """
    try:
        line = json.loads(text)
    except ValueError as error:
        raise ResultLineError(f"this is not a line of JSON ({error}): {_shown(text)}") from None
    if not isinstance(line, dict):
        raise ResultLineError(
            f'a result line is a JSON object, as in {{"query": "q", "time": 8000, …}}: {_shown(text)}'
        )
    query = _member(line, "query", str)
    time = _member(line, "time", int)
    if "boolean" in line:
        return Evaluation(query, time, boolean=_member(line, "boolean", bool))
    if "triples" in line:
        return Evaluation(query, time, triples=tuple(_statement(item) for item in _member(line, "triples", list)))
    if "results" not in line:
        raise ResultLineError('a result line has "results", "boolean" or "triples", and this one has none of them')
    variables = _strings(_member(_member(line, "head", dict), "vars", list), '"vars"')
    bindings = _member(_member(line, "results", dict), "bindings", list)
    return Evaluation(query, time, variables, tuple(_row(variables, binding) for binding in bindings))


_T = TypeVar("_T")

_KINDS: dict[type, str] = {
    str: "a string",
    int: "a whole number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


def _member(holder: dict[str, Any], name: str, kind: type[_T]) -> _T:
    if name not in holder:
        raise ResultLineError(f'"{name}" is missing: it should be {_KINDS[kind]}')
    value = holder[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ResultLineError(f'"{name}" should be {_KINDS[kind]}, and it is {_shown(json.dumps(value))}')
    return value


def _strings(values: list[Any], name: str) -> tuple[str, ...]:
    if not all(isinstance(value, str) for value in values):
        raise ResultLineError(f"{name} should be a list of strings")
    if len(set(values)) < len(values):
        raise ResultLineError(f"{name} names a variable twice")
    return tuple(values)


def _row(variables: tuple[str, ...], binding: Any) -> Row:
    if not isinstance(binding, dict):
        raise ResultLineError(f"a binding should be an object, and it is {_shown(json.dumps(binding))}")
    unknown = binding.keys() - {*variables, "valid"}
    if unknown:
        raise ResultLineError(f'the variable {min(unknown)} is bound, but not in "vars"')
    return tuple(_term(binding[name], name) if name in binding else None for name in variables)


def _term(value: Any, variable: str) -> Node:
    try:
        return _parsed_term(value)
    except (ResultLineError, ValueError) as error:
        raise ResultLineError(f"the term of ?{variable} is wrong: {error}") from None


def _parsed_term(value: Any) -> Node:
    if not isinstance(value, dict):
        raise ResultLineError(f"it should be an object, and it is {_shown(json.dumps(value))}")
    kind, lexical = _member(value, "type", str), _member(value, "value", str)
    if kind == "uri":
        return named_node(lexical)
    if kind == "bnode":
        return BlankNode(lexical)
    if kind in ("literal", "typed-literal"):
        if "xml:lang" in value:
            return Literal(lexical, language=_member(value, "xml:lang", str))
        return Literal(lexical, datatype=named_node(_member(value, "datatype", str)) if "datatype" in value else None)
    raise ResultLineError(f'its type should be "uri", "literal" or "bnode", and it is "{kind}"')


def _statement(item: Any) -> Triple | Quad:
    try:
        statements = list(checked(parse(str(item).encode(), RdfFormat.N_QUADS, lenient=True), lambda node: node))
        if len(statements) != 1:
            raise ReadingError("it should contain exactly one triple")
    except (ReadingError, UnicodeEncodeError) as error:
        raise ResultLineError(f'{_shown(str(item))} is not a triple "<s> <p> <o> .": {error}') from None
    graph, triple = statements[0]
    return triple if graph is None else Quad(triple.subject, triple.predicate, triple.object, graph)


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"

"""Ordinary columns of a DataFrame as triples, by a template, for `Engine.stream` and `Engine.graph` on Spark."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from penstock.algebra import Settings, build
from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.inputs import InputError
from penstock.algebra.model import ConstructForm
from penstock.algebra.operators import PatternTerm
from penstock.rdf.conversion import oxigraph_term
from penstock.rdf.iris import is_absolute
from penstock.rdf.vocabulary import XSD
from penstock.sources.spark.terms import escaped
from penstock.syntax.query_reader import read

_TIMES = frozenset(("tinyint", "smallint", "int", "bigint", "timestamp"))
_MILLISECONDS_OF_A_DAY = 86_400_000

_IN_BRACES = re.compile(r"\{([^{}]*)\}")
_DATATYPES = {
    "string": None,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    "decimal": "decimal",
    "double": "double",
    "float": "float",
    "boolean": "boolean",
    "date": "date",
    "timestamp": "dateTime",
}


def triples(
    frame: DataFrame, template: str, *, time: str | None = None, prefixes: Mapping[str, str] | None = None, **iris: str
) -> DataFrame:
    """The triples of a template for each row, bounded or streaming, with the columns s, p, o and ts.

    Without `time` they are triples of a graph, with the columns s, p and o.

    A variable of the template stands for the column of that name, as a literal of the column's type. A variable that is
    an argument is an IRI, with columns in braces, whose values are percent-encoded. Subjects and predicates are IRIs.
    `time` is the column of the time: milliseconds, timestamps or dates; without a zone they are UTC. Triples with a
    NULL value are omitted.

    >>> triples(  # doctest: +SKIP
    ...     passages,
    ...     "?gate ex:registers ?car . ?car ex:speed ?speed",
    ...     time="at",
    ...     prefixes={"ex": "http://ex.org/"},
    ...     gate="http://ex.org/gate/{gate_id}",
    ...     car="http://ex.org/car/{plate}",
    ... )

    Raises QuerySyntaxError if the template is invalid, and ValueError for a wrong column or argument.
    """
    query = read(f"CONSTRUCT {{ {template} }} WHERE {{}}", "sparql", prefixes=prefixes).query
    form = build(query, Settings()).form
    assert isinstance(form, ConstructForm)
    if time is not None:
        _check(frame, time)
    _check_iris(iris, form)
    made = []
    for pattern, _ in form.template:
        parts = (pattern.subject, pattern.predicate, pattern.object)
        for part in parts[:2]:
            _check_is_iri(part, iris)
        terms = [_term(frame, part, iris).alias(name) for part, name in zip(parts, "spo", strict=True)]
        made.append(sf.struct(*terms))
    times = [] if time is None else [time_of(frame, time).alias("ts")]
    found = frame.select(sf.explode(sf.array(*made)).alias("triple"), *times)
    complete = sf.col("triple.s").isNotNull() & sf.col("triple.p").isNotNull() & sf.col("triple.o").isNotNull()
    return found.where(complete).select("triple.s", "triple.p", "triple.o", *(["ts"] if times else []))


def _term(frame: DataFrame, part: PatternTerm, iris: Mapping[str, str]) -> Column:
    """A term of the template as N-Triples."""
    if isinstance(part, Constant):
        return sf.lit(str(oxigraph_term(part.term)))
    assert isinstance(part, Variable)
    if not part.is_visible:
        raise InputError("a template of triples cannot contain blank nodes: use a variable, and set its IRI")
    if part.name in iris:
        return _iri(frame, iris[part.name])
    _check(frame, part.name)
    return _literal(frame, part.name)


def _iri(frame: DataFrame, template: str) -> Column:
    pieces = []
    for place, piece in enumerate(_IN_BRACES.split(template)):
        if place % 2:
            _check(frame, piece)
            # URLs have + for a space, and IRIs %20
            pieces.append(sf.replace(sf.url_encode(frame[piece].cast("string")), sf.lit("+"), sf.lit("%20")))
        else:
            pieces.append(sf.lit(piece))
    return sf.concat(sf.lit("<"), *pieces, sf.lit(">"))


def _literal(frame: DataFrame, name: str) -> Column:
    kind = frame.schema[name].dataType.simpleString().partition("(")[0]
    if kind not in _DATATYPES:
        raise InputError(f"the column {name!r} is {kind}, which cannot be a literal: cast it to a string or a number")
    value = frame[name].cast("string")
    if kind == "timestamp":
        value = sf.date_format(frame[name], "yyyy-MM-dd'T'HH:mm:ss.SSSXXX")
    elif kind == "string":
        value = escaped(value)
    elif kind in ("double", "float"):
        value = sf.when(value == "Infinity", "INF").when(value == "-Infinity", "-INF").otherwise(value)
    datatype = _DATATYPES[kind]
    return sf.concat(sf.lit('"'), value, sf.lit('"' if datatype is None else f'"^^<{XSD}{datatype}>'))


def _check_iris(iris: Mapping[str, str], form: ConstructForm) -> None:
    parts = [part for triple, _ in form.template for part in (triple.subject, triple.predicate, triple.object)]
    names = dict.fromkeys(part.name for part in parts if isinstance(part, Variable) and part.is_visible)
    for name, template in iris.items():
        if name not in names:
            has = ", ".join(f"?{known}" for known in names) or "none"
            raise InputError(f"{name}= names no variable of the template: it has {has}; remove {name}=")
        if not is_absolute(_IN_BRACES.sub("_", template)):
            raise InputError(
                f"{name}={template!r} is not an absolute IRI: write one, such as {name}='http://example.org/{template}'"
            )


def _check_is_iri(part: PatternTerm, iris: Mapping[str, str]) -> None:
    """For a subject or a predicate."""
    if isinstance(part, Variable) and part.is_visible and part.name not in iris:
        raise InputError(
            f"?{part.name} is a subject or predicate, so it must be an IRI: set it, as in "
            f"{part.name}='http://example.org/{{{part.name}}}'"
        )


def _check(frame: DataFrame, name: str) -> None:
    if name not in frame.columns:
        raise InputError(f"the frame has no column {name!r}: it has {', '.join(frame.columns)}")


def time_of(frame: DataFrame, name: str) -> Column:
    """The column of that name as milliseconds or a timestamp; where it has no zone, it is UTC (semantics.md §1)."""
    kind, time = frame.schema[name].dataType.simpleString(), frame[name]
    if kind in _TIMES:
        return time
    if kind == "timestamp_ntz":  # a cast would take the session's zone
        return sf.concat(time.cast("string"), sf.lit("Z")).cast("timestamp")
    if kind == "date":
        return sf.unix_date(time).cast("bigint") * _MILLISECONDS_OF_A_DAY
    raise InputError(
        f"the column {name!r} is {kind}, but a time is a whole number of milliseconds or a timestamp: cast it first, "
        f"with to_timestamp({name}), or with CAST({name} AS BIGINT) if it has milliseconds"
    )

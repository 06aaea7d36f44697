"""REGEX and REPLACE on Spark with RE2, which takes time in proportion to the text, for any pattern.

Java's regular expressions backtrack: `^a*a*a*a*x$` takes years on a text that does not match, and a loop over a group
overflows the stack on a long one. Patterns that are safe (`is_linear` in relational/functions/patterns.py) stay with
Java. The others are Arrow UDFs over the RE2 of pyarrow, which is also DuckDB's, so the answers and the errors are the
same on both engines.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

_REGEX, _REPLACE = "penstock_regex", "penstock_replace"
"""The functions that the macros of relational/functions/spark call."""


def provide(session: SparkSession, statement: str) -> None:
    """Register the functions that the statement calls in the session."""
    if f"{_REGEX}(" in statement:
        session.udf.register(_REGEX, arrow_udf(matched, "boolean"))  # type: ignore[call-overload]
    if f"{_REPLACE}(" in statement:
        session.udf.register(_REPLACE, arrow_udf(replaced, "string"))  # type: ignore[call-overload]


def matched(terms: pa.Array, patterns: pa.Array) -> pa.Array:
    """Whether each term's text matches its pattern; NULL if the term is not a string or RE2 rejects the pattern."""

    def match(texts: pa.Array, pattern: str) -> pa.Array:
        return pc.match_substring_regex(texts, pattern)

    return _by_arguments(match, _texts(terms), pa.bool_(), patterns)


def replaced(terms: pa.Array, patterns: pa.Array, rewrites: pa.Array) -> pa.Array:
    """Each term with its text rewritten; also NULL where the pattern matches the empty string (err:FORX0003)."""

    def rewrite(texts: pa.Array, pattern: str, rewrite: str) -> pa.Array:
        if pc.match_substring_regex(pa.array([""]), pattern)[0].as_py():
            return pa.nulls(len(texts), pa.string())
        return pc.replace_substring_regex(texts, pattern, rewrite)

    made = _by_arguments(rewrite, _texts(terms), pa.string(), patterns, rewrites)
    return pc.binary_join_element_wise(_kinds(terms), made, "")


def _kinds(terms: pa.Array) -> pa.Array:
    """The tag of each string, with its language: `S`, or `Len `; NULL for any other term."""
    return pc.struct_field(pc.extract_regex(terms, r"^(?P<kind>S|L[^ ]* )"), "kind")


def _texts(terms: pa.Array) -> pa.Array:
    return pc.struct_field(pc.extract_regex(terms, r"(?s)^(?:S|L[^ ]* )(?P<text>.*)"), "text")


def _by_arguments(
    function: Callable[..., pa.Array], texts: pa.Array, kind: pa.DataType, *arguments: pa.Array
) -> pa.Array:
    """Applies the function to all texts with the same arguments at a time; NULL if one is NULL, or RE2 rejects it."""
    names = [f"argument_{place}" for place in range(len(arguments))]
    numbered = pa.table([*arguments, pa.arange(0, len(texts))], names=[*names, "place"])
    groups = numbered.group_by(names).aggregate([("place", "list")]).to_pylist()
    places, parts = [pa.array([], pa.int64())], [pa.array([], kind)]
    for group in groups:
        given = [group[name] for name in names]
        chosen = pa.array(group["place_list"], pa.int64())
        places.append(chosen)
        try:
            if None in given:
                parts.append(pa.nulls(len(chosen), kind))
            else:
                parts.append(function(texts.take(chosen), *given))
        except pa.ArrowInvalid:
            parts.append(pa.nulls(len(chosen), kind))
    return pa.concat_arrays(parts).take(pc.array_sort_indices(pa.concat_arrays(places)))

"""CONSTRUCT templates filled in for all solutions of a slice at once (SPARQL 1.1 §16.2)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.expressions import Constant
from penstock.algebra.model import ConstructForm
from penstock.algebra.operators import PatternTerm
from penstock.engines.solutions import Solutions
from penstock.rdf.encoding import encode
from penstock.rdf.result_batches import QUAD, Numbers
from penstock.rdf.term_columns import TEXT, joined, text_array

_TAGS = {"s": "IB", "p": "I", "g": "IB"}
"""The kinds of terms for each position: a triple with another term there is left out."""


def instantiated(form: ConstructForm, solutions: Solutions) -> Solutions:
    """The template, once per solution, as a set at each instant; rows are triples, or quads if it names graphs."""
    patterns = [(pattern.subject, pattern.predicate, pattern.object, graph) for pattern, graph in form.template]
    parts = [part for pattern in patterns for part in pattern if part is not None]
    blanks = {part.name for part in parts if not isinstance(part, Constant) and not part.is_visible}
    if blanks:
        solutions = _each_apart(solutions)
    size = len(solutions.places) if blanks else _size(solutions)
    columns = {name: text_array(solutions.rows[name]) for name in solutions.rows.column_names}
    columns |= {name: _new_blank_nodes(size) for name in sorted(blanks)}
    names = QUAD if any(graph is not None for *_, graph in patterns) else QUAD[:3]
    filled = [
        {name: _filled(part, columns, size) for name, part in zip(names, pattern, strict=False)} for pattern in patterns
    ]
    fits = [_fits(pattern, quad) for pattern, quad in zip(patterns, filled, strict=True)]
    rows = pa.table({name: pa.chunked_array([quad[name] for quad in filled], TEXT) for name in names})
    # Quad number k of solution n is row k · size + n.
    places = solutions.places[:, None] + size * np.arange(len(patterns))
    is_there = np.array(fits, np.bool_).reshape(-1)[places] if patterns else np.zeros(places.shape, np.bool_)
    numbers = np.broadcast_to(np.repeat(np.arange(len(solutions.instants)), solutions.sizes)[:, None], places.shape)
    return _each_once(replace(solutions, rows=rows), numbers[is_there], places[is_there])


def _size(solutions: Solutions) -> int:
    return solutions.rows.num_rows if solutions.rows.num_columns else int(solutions.places.max(initial=-1)) + 1


def _each_apart(solutions: Solutions) -> Solutions:
    """A separate row for each solution, because its blank nodes are new."""
    places = np.arange(len(solutions.places))
    rows = solutions.rows.take(pa.array(solutions.places)) if solutions.rows.num_columns else solutions.rows
    return replace(solutions, rows=rows, places=places)


def _new_blank_nodes(size: int) -> pa.Array:
    return joined(f"B{secrets.token_hex(16)}x", pa.arange(0, size).cast(TEXT))


def _filled(part: PatternTerm | None, columns: dict[str, pa.Array], size: int) -> pa.Array:
    if isinstance(part, Constant):
        return pa.repeat(pa.scalar(encode(part.term), TEXT), size)
    return pa.nulls(size, TEXT) if part is None or part.name not in columns else columns[part.name]


def _fits(pattern: Sequence[PatternTerm | None], quad: dict[str, pa.Array]) -> npt.NDArray[np.bool_]:
    """Marks the rows that are triples: every part is bound and allowed in its position."""
    fits = np.ones(len(quad["s"]), np.bool_)
    for (name, column), part in zip(quad.items(), pattern, strict=False):
        if part is None:
            continue
        tags = pc.utf8_slice_codeunits(column, 0, 1)
        allowed = pc.is_in(tags, pa.array(list(_TAGS[name]), TEXT)) if name in _TAGS else tags.is_valid()
        fits &= allowed.to_numpy(zero_copy_only=False)
    return fits


def _each_once(solutions: Solutions, numbers: Numbers, places: Numbers) -> Solutions:
    """The distinct triples of each instant, in the order of their first occurrence."""
    quads = _numbered_rows(solutions.rows)
    most = int(quads.max(initial=0)) + 1
    _, first = np.unique(numbers * most + quads[places], return_index=True)
    first.sort()
    bounds = np.searchsorted(numbers[first], np.arange(len(solutions.instants) + 1))
    return replace(solutions, places=places[first], bounds=bounds)


def _numbered_rows(rows: pa.Table) -> Numbers:
    """Equal rows get equal numbers."""
    found = np.zeros(rows.num_rows, np.int64)
    for column in rows.columns:
        codes = text_array(column).dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64) + 1
        found = np.unique(found * (codes.max(initial=0) + 1) + codes, return_inverse=True)[1]
    return found

"""CONSTRUCT templates filled in for all solutions of a slice at once (SPARQL 1.1 §16.2)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.model import ConstructForm
from penstock.algebra.operators import PatternTerm
from penstock.engines.solutions import Solutions
from penstock.rdf.encoding import encode
from penstock.rdf.result_batches import QUAD, Numbers
from penstock.rdf.term_columns import TEXT, joined, text_array

_TAGS = {"s": "IB", "p": "I", "g": "IB"}
"""The kinds of terms for each position: a triple with another term there is left out."""


def instantiated(form: ConstructForm, solutions: Solutions) -> Solutions:
    """The template, once per solution, as a set at each instant; rows are distinct: triples, or quads with graph names.

    The triples of an instant are in the order of their terms, those with new blank nodes in the order of the solutions.
    """
    patterns = [(pattern.subject, pattern.predicate, pattern.object, graph) for pattern, graph in form.template]
    parts, blanks = form.parts, sorted(form.blank_nodes)
    if blanks:
        solutions = _each_apart(solutions)
    size = len(solutions.places) if blanks else _size(solutions)
    known = set(solutions.rows.column_names)
    columns = {name: text_array(solutions.rows[name]) for name in known if Variable(name) in parts}
    columns |= {name: _new_blank_nodes(size) for name in blanks}
    terms = _Terms(columns, sorted(encode(part.term) for part in parts if isinstance(part, Constant)))
    names = QUAD if any(graph is not None for *_, graph in patterns) else QUAD[:3]
    filled = [[terms.numbers(part, size) for part, _ in zip(pattern, names, strict=False)] for pattern in patterns]
    fits = np.zeros((0, size), np.bool_)
    if patterns:
        fits = np.array([terms.fits(pattern, quad) for pattern, quad in zip(patterns, filled, strict=True)])
    # Quad number k of row n is number k · size + n.
    there = fits.reshape(-1)
    quads = [np.concatenate([quad[place] for quad in filled] or [_NONE])[there] for place in range(len(names))]
    first, kinds = _distinct(quads, len(terms.texts))
    kinds = _spread(kinds, there)
    rows = pa.table(
        {
            name: terms.texts.take(pa.array(quad[first], mask=quad[first] < 0))
            for name, quad in zip(names, quads, strict=True)
        }
    )
    places = solutions.places[:, None] + size * np.arange(len(patterns))
    is_there = there[places]
    numbers = np.broadcast_to(np.repeat(np.arange(len(solutions.instants)), solutions.sizes)[:, None], places.shape)
    found = _each_once(numbers[is_there], kinds[places[is_there]], len(first), keeps_order=bool(blanks))
    bounds = np.searchsorted(found // max(len(first), 1), np.arange(len(solutions.instants) + 1))
    return replace(solutions, rows=rows, places=found % max(len(first), 1), bounds=bounds)


_NONE = np.zeros(0, np.int64)


def _spread(values: Numbers, where: npt.NDArray[np.bool_]) -> Numbers:
    found = np.zeros(len(where), np.int64)
    found[where] = values
    return found


class _Terms:
    """The terms of some columns and some others, numbered in their order; no term is number −1."""

    def __init__(self, columns: dict[str, pa.Array], others: Sequence[str]) -> None:
        encoded = {name: column.dictionary_encode() for name, column in columns.items()}
        parts = [pa.array(others, TEXT), *(column.dictionary for column in encoded.values())]
        every = pa.concat_arrays(parts).unique()
        self.texts: pa.Array = every.take(pc.array_sort_indices(every))
        self._tags = pc.utf8_slice_codeunits(self.texts, 0, 1)
        self._numbers = {
            name: self._of(column.dictionary)[column.indices.fill_null(-1).to_numpy()]
            for name, column in encoded.items()
        }

    def _of(self, terms: pa.Array) -> Numbers:
        """The numbers of terms, and one more for none."""
        numbers: Numbers = pc.index_in(terms, self.texts).to_numpy()
        return np.append(numbers.astype(np.int64), -1)

    def numbers(self, part: PatternTerm | None, size: int) -> Numbers:
        if isinstance(part, Constant):
            return np.full(size, self._of(pa.array([encode(part.term)], TEXT))[0])
        return np.full(size, -1) if part is None or part.name not in self._numbers else self._numbers[part.name]

    def fits(self, pattern: Sequence[PatternTerm | None], quad: Sequence[Numbers]) -> npt.NDArray[np.bool_]:
        """Marks the rows that are triples: every part is bound and allowed in its position."""
        fits = np.ones(len(quad[0]), np.bool_)
        for name, numbers, part in zip(QUAD, quad, pattern, strict=False):
            if part is not None:
                allowed = (
                    pc.is_in(self._tags, pa.array(list(_TAGS[name]), TEXT)) if name in _TAGS else self._tags.is_valid()
                )
                fits &= np.append(allowed.to_numpy(zero_copy_only=False), False)[numbers]
        return fits


def _size(solutions: Solutions) -> int:
    return solutions.rows.num_rows if solutions.rows.num_columns else int(solutions.places.max(initial=-1)) + 1


def _each_apart(solutions: Solutions) -> Solutions:
    """A separate row for each solution, because its blank nodes are new."""
    places = np.arange(len(solutions.places))
    rows = solutions.rows.take(pa.array(solutions.places)) if solutions.rows.num_columns else solutions.rows
    return replace(solutions, rows=rows, places=places)


def _new_blank_nodes(size: int) -> pa.Array:
    return joined(f"B{secrets.token_hex(16)}x", pa.arange(0, size).cast(TEXT))


def _distinct(columns: Sequence[Numbers], most: int) -> tuple[Numbers, Numbers]:
    """Distinct rows in order, by the place of one of each, and the number that each row has among them."""
    numbers = np.zeros(len(columns[0]), np.int64)
    bound = 1
    for column in columns:
        if bound * (most + 1) >= 1 << 63:
            different, numbers = np.unique(numbers, return_inverse=True)
            bound = len(different)
        numbers = numbers * (most + 1) + column + 1
        bound *= most + 1
    _, first, kinds = np.unique(numbers, return_index=True, return_inverse=True)
    return first, kinds


def _each_once(numbers: Numbers, kinds: Numbers, most: int, *, keeps_order: bool) -> Numbers:
    """The distinct quads of each instant, as its number · `most` + that of the quad; in order, or as they come."""
    found: Numbers = numbers * most + kinds
    different, first = np.unique(found, return_index=True) if keeps_order else (np.unique(found), None)
    return different if first is None else found[np.sort(first)]

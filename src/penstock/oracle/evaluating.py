"""One evaluation: the query at one instant, on an independent SPARQL engine with a store of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyoxigraph as ox

from penstock.algebra.model import AskForm, ConstructForm, ContinuousQuery, SelectForm
from penstock.oracle.datasets import ActiveGraph, Entry, InstantaneousDataset
from penstock.oracle.rewriting import IN, INDEX, STREAM, TIME, Rewriting
from penstock.oracle.templates import described, instantiate
from penstock.rdf.elements import Row
from penstock.rdf.results import Evaluation
from penstock.syntax import ast
from penstock.syntax.ast.rewriting import walk
from penstock.syntax.printer import to_text


@dataclass(frozen=True, slots=True)
class Result:
    """What a query form gives: rows, a boolean, or triples (quads, where a template names graphs)."""

    variables: tuple[str, ...] | None = None
    rows: tuple[Row, ...] | None = None
    boolean: bool | None = None
    triples: tuple[ox.Triple | ox.Quad, ...] | None = None

    @staticmethod
    def empty(query: ContinuousQuery) -> Result:
        if isinstance(query.form, SelectForm):
            return Result(tuple(v.name for v in query.form.variables), ())
        return Result() if isinstance(query.form, AskForm) else Result(triples=())

    @property
    def items(self) -> tuple[object, ...]:
        """What the streaming operators compare one by one."""
        if self.rows is not None:
            return self.rows
        return self.triples if self.triples is not None else (() if self.boolean is None else (self.boolean,))

    def without(self, other: Result) -> Result:
        """What is here and not there; a row that is not there stays as often as it is here."""
        there = set(other.items)
        return self._only([item for item in self.items if item not in there])

    def beyond(self, given: Counter[object]) -> Result:
        """What is here more often than it was given before."""
        left = Counter(given)
        kept: list[object] = []
        for item in self.items:
            if left[item] > 0:
                left[item] -= 1
            else:
                kept.append(item)
        if self.boolean is not None and any(given.values()):
            return Result()
        return self._only(kept)

    def nothing(self) -> Result:
        return self._only([])

    def _only(self, items: Iterable[object]) -> Result:
        kept = tuple(items)
        if self.rows is not None:
            return replace(self, rows=kept)  # type: ignore[arg-type]
        if self.triples is not None:
            return replace(self, triples=kept)  # type: ignore[arg-type]
        return self if kept else Result()

    def evaluation(self, query: str, time: int) -> Evaluation | None:
        """The result as an answer's line; None where an ASK has nothing new to say."""
        if not (self.rows is not None or self.boolean is not None or self.triples is not None):
            return None
        return Evaluation(query, time, self.variables, self.rows, self.boolean, self.triples)


def evaluate(query: ContinuousQuery, text: ast.Query, dataset: InstantaneousDataset) -> Result:
    """SPARQL 1.1, unchanged, on the instantaneous dataset (semantics.md §6)."""
    asks_for_time = any(isinstance(node, ast.Call) and node.name == "TIMESTAMP" for node in walk(text))
    plain = Rewriting(dataset, by_occurrence=False)
    rewritten = plain.query(_as_solutions(text))
    used = [dataset.default, *plain.used.values()]
    if asks_for_time or any(graph.has_duplicates for graph in used):
        by_occurrence = Rewriting(dataset, by_occurrence=True)
        rewritten = by_occurrence.query(_as_solutions(text))
        store = _store_of_occurrences([dataset.default, *by_occurrence.used.values()])
    else:
        store = _store_of_graphs(dataset.default, plain.used.values())
    found = store.query(to_text(rewritten))
    if isinstance(query.form, AskForm):
        return Result(boolean=bool(found))
    assert isinstance(found, ox.QuerySolutions)
    names = tuple(variable.value for variable in found.variables)
    rows = tuple(tuple(solution[name] for name in names) for solution in found)
    if isinstance(query.form, SelectForm):
        wanted = tuple(variable.name for variable in query.form.variables)
        return Result(wanted, tuple(_ordered(row, names, wanted) for row in rows))
    solutions = [dict(zip(names, row, strict=True)) for row in rows]
    if isinstance(query.form, ConstructForm):
        return Result(triples=instantiate(query.form, solutions))
    return Result(triples=described(query.form, solutions, [entry.triple for entry in dataset.all_entries]))


def _as_solutions(query: ast.Query) -> ast.Query:
    """CONSTRUCT and DESCRIBE as SELECT *: their templates are filled in from the solutions.

    A SELECT * names its variables, so that those which the rewriting makes up do not show.
    """
    if isinstance(query.form, (ast.Construct, ast.Describe)):
        return replace(query, form=ast.Select(None), where=query.where or ast.Group(()))
    return query


def _ordered(row: Row, names: tuple[str, ...], wanted: tuple[str, ...]) -> Row:
    return tuple(row[names.index(name)] if name in names else None for name in wanted)


# The store, new for each instant: a store that is emptied keeps the memory of its terms


def _store_of_graphs(default: ActiveGraph, graphs: Iterable[ActiveGraph]) -> ox.Store:
    store = ox.Store()
    store.bulk_extend(_quad(entry) for entry in default.entries)
    for graph in graphs:
        name = ox.NamedNode(graph.iri)
        store.add_graph(name)
        store.bulk_extend(_quad(entry, name) for entry in graph.entries)
    return store


def _store_of_occurrences(graphs: Iterable[ActiveGraph]) -> ox.Store:
    store = ox.Store()
    index, inside, time, stream = (ox.NamedNode(constant.text) for constant in (INDEX, IN, TIME, STREAM))
    quads: list[ox.Quad] = []
    for graph in {graph.iri: graph for graph in graphs}.values():
        name = ox.NamedNode(graph.iri)
        for number, entry in enumerate(graph.entries):
            occurrence = ox.NamedNode(f"{graph.iri}:occurrence:{number}")
            quads += (
                _quad(entry, occurrence),
                _quad(entry, name),
                ox.Quad(occurrence, inside, name, index),
                ox.Quad(occurrence, time, ox.Literal("static" if entry.time is None else entry.time), index),
                ox.Quad(occurrence, stream, ox.NamedNode(entry.stream or "urn:oracle:static"), index),
            )
    store.bulk_extend(quads)
    return store


def _quad(entry: Entry, graph: ox.NamedNode | None = None) -> ox.Quad:
    triple = entry.triple
    return ox.Quad(triple.subject, triple.predicate, triple.object, graph)

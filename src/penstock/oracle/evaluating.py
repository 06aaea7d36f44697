"""One evaluation: the query at one instant, on an independent SPARQL engine with a store of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

import pyoxigraph as ox

from penstock.algebra.building import visible_variables
from penstock.algebra.inputs import InputError
from penstock.algebra.model import AskForm, ConstructForm, ContinuousQuery, SelectForm
from penstock.algebra.templates import described, instantiate
from penstock.oracle import ordering
from penstock.oracle.datasets import ActiveGraph, Entry, InstantaneousDataset
from penstock.oracle.functions import FUNCTIONS
from penstock.oracle.now import at_instant
from penstock.oracle.relative_names import as_written, with_absolute_names
from penstock.oracle.rewriting import IN, INDEX, TIME, TIME_IN, Rewriting
from penstock.oracle.stored_terms import original, stored
from penstock.oracle.timestamps import integer
from penstock.rdf.elements import Node, Row
from penstock.rdf.results import Evaluation
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.printer import to_text
from penstock.syntax.translation.variables import plain_names, plain_variables


@dataclass(frozen=True, slots=True)
class Solutions:
    """The solutions of a query at an instant: what the streaming operators compare (Definitions 20 to 22).

    Those of an ASK are its boolean, as the only solution.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]

    def without(self, other: Solutions) -> Solutions:
        """What is here and not there; a row that is not there stays as often as it is here."""
        there = set(other.rows)
        return replace(self, rows=tuple(row for row in self.rows if row not in there))

    def beyond(self, given: Counter[tuple[object, ...]]) -> Solutions:
        """What is here more often than it was given before."""
        left = Counter(given)
        kept: list[tuple[object, ...]] = []
        for row in self.rows:
            if left[row] > 0:
                left[row] -= 1
            else:
                kept.append(row)
        return replace(self, rows=tuple(kept))

    def nothing(self) -> Solutions:
        return replace(self, rows=())


def no_solutions(query: ContinuousQuery) -> Solutions:
    form = query.form
    return Solutions(tuple(v.name for v in form.variables) if isinstance(form, SelectForm) else (), ())


def evaluate(query: ContinuousQuery, text: ast.Query, dataset: InstantaneousDataset) -> Solutions:
    """SPARQL 1.1, unchanged, on the instantaneous dataset (semantics.md §6)."""
    asked = at_instant(_as_select(text), dataset.instant)
    asks_for_time = any(isinstance(node, ast.Call) and node.name == "TIMESTAMP" for node in walk(text))
    rewriting = Rewriting(dataset, by_occurrence=False)
    rewritten = rewriting.query(asked)
    used = [dataset.default, *rewriting.used.values()]
    if asks_for_time or any(graph.has_duplicates for graph in used):
        rewriting = Rewriting(dataset, by_occurrence=True)
        rewritten = rewriting.query(asked)
        store = _store_of_occurrences([dataset.default, *rewriting.used.values()])
    else:
        store = _store_of_graphs(dataset.default, rewriting.used.values())
    try:
        found = store.query(
            to_text(plain_variables(with_absolute_names(rewritten))),
            custom_functions=FUNCTIONS | ordering.FUNCTIONS,
            custom_aggregate_functions=rewriting.aggregates.functions,
        )
    except (RuntimeError, OSError, SyntaxError) as error:
        raise InputError(f"the SPARQL engine behind the oracle cannot evaluate this query: {error}") from None
    assert isinstance(found, ox.QuerySolutions)
    hyphenated = {plain: name for name, plain in plain_names(rewritten).items()}
    if isinstance(query.form, AskForm):
        return Solutions(("boolean",), ((_has_any(found),),))
    try:
        rows = tuple(tuple(_answer(solution[variable]) for variable in found.variables) for solution in found)
    except (RuntimeError, OSError) as error:  # a custom function, or a SERVICE out of reach
        raise InputError(f"the SPARQL engine behind the oracle cannot evaluate this query: {error}") from None
    names = tuple(hyphenated.get(variable.value, variable.value) for variable in found.variables)
    if isinstance(query.form, SelectForm):
        wanted = tuple(variable.name for variable in query.form.variables)
        return Solutions(wanted, tuple(_ordered(row, names, wanted) for row in rows))
    return Solutions(names, rows)


def _has_any(found: ox.QuerySolutions) -> bool:
    try:
        return next(iter(found), None) is not None
    except (RuntimeError, OSError) as error:
        raise InputError(f"the SPARQL engine behind the oracle cannot evaluate this query: {error}") from None


def formed(
    query: ContinuousQuery, solutions: Solutions, dataset: InstantaneousDataset, name: str, time: int
) -> Evaluation | None:
    """The solutions in the query's form; None where an ASK has nothing new to say."""
    if isinstance(query.form, SelectForm):
        return Evaluation(name, time, solutions.variables, solutions.rows)  # type: ignore[arg-type]
    if isinstance(query.form, AskForm):
        return Evaluation(name, time, boolean=bool(solutions.rows[0][0])) if solutions.rows else None
    bound = [dict(zip(solutions.variables, row, strict=True)) for row in solutions.rows]
    if isinstance(query.form, ConstructForm):
        return Evaluation(name, time, triples=instantiate(query.form, bound))  # type: ignore[arg-type]
    triples = [entry.triple for entry in dataset.all_entries]
    return Evaluation(name, time, triples=described(query.form, bound, triples))  # type: ignore[arg-type]


def _as_select(query: ast.Query) -> ast.Query:
    """ASK, CONSTRUCT and DESCRIBE as SELECT: their form is filled in from the solutions."""
    if isinstance(query.form, ast.Select):
        return query
    where = query.where or ast.Group(())
    if query.modifiers.group_by or query.modifiers.having:
        names = [_key(condition) for condition in query.modifiers.group_by]
        projections = [ast.Projection(ast.Variable(name)) for name in names if name is not None]
    else:
        projections = [ast.Projection(ast.Variable(name)) for name in visible_variables(where, query.values)]
    something = ast.Projection(ast.Variable("oracle_something"), integer(1))
    return replace(query, form=ast.Select(tuple(projections or [something])), where=where)


def _key(condition: ast.GroupCondition) -> str | None:
    if condition.variable is not None:
        return condition.variable.name
    return condition.expression.name if isinstance(condition.expression, ast.Variable) else None


def _answer(term: Node | None) -> Node | None:
    """A term of the store's engine as the answer has it."""
    return None if term is None else as_written(original(term))


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
    index, inside, time = (ox.NamedNode(constant.text) for constant in (INDEX, IN, TIME))
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
            )
            quads += (
                ox.Quad(occurrence, ox.NamedNode(f"{TIME_IN.text}{stream}"), ox.Literal(in_stream), index)
                for stream, in_stream in entry.times
            )
    store.bulk_extend(quads)
    return store


def _quad(entry: Entry, graph: ox.NamedNode | None = None) -> ox.Quad:
    triple = entry.triple
    return ox.Quad(triple.subject, triple.predicate, stored(triple.object), graph)  # type: ignore[arg-type]

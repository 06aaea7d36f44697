"""The query as plain SPARQL over the oracle's store at an instant.

Every graph, window and the default graph stand there under an IRI of their own. Where a triple counts as often as it
occurs, or timestamp() asks when it came, each occurrence is a graph of its own, which the graph `urn:oracle:index`
describes; a triple pattern then finds occurrences:

    ?s :p ?o   becomes   GRAPH <urn:oracle:index> { ?k :in <graph> ; :time ?t } GRAPH ?k { ?s :p ?o }

Paths without repetition become patterns: the store's engine makes sets of what they find where both ends are bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pyoxigraph import NamedNode

from penstock.algebra.building import visible_variables
from penstock.algebra.services import service_call
from penstock.oracle import ordering
from penstock.oracle.aggregates import Aggregates
from penstock.oracle.datasets import NAMED, ActiveGraph, Elements, InstantaneousDataset
from penstock.oracle.expressions import ExpressionRewriting
from penstock.oracle.forms import only_visible, spelled_out
from penstock.oracle.stored_terms import stored_constant
from penstock.oracle.timestamps import TimedPattern, integer
from penstock.oracle.triples import SinglePattern, SinglePatterns
from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.blank_nodes import relabelled
from penstock.syntax.ast.traversal import AnyNode, rewrite, rewrite_children, walk

INDEX, IN, TIME, TIME_IN = (ast.Constant(IRI(f"urn:oracle:{name}")) for name in ("index", "in", "time", "time:"))


_NOTHING = ast.Group((ast.Filter(ast.Operation("=", (integer(0), integer(1)))),))
"""A pattern without solutions."""


class Rewriting:
    """Rewrites one query for one instant; `used` collects the graphs that the store must hold."""

    def __init__(self, dataset: InstantaneousDataset, by_occurrence: bool) -> None:
        self.dataset = dataset
        self.by_occurrence = by_occurrence
        self.used: dict[str, ActiveGraph] = {}
        self.patterns = SinglePatterns()
        self.aggregates = Aggregates()
        self._copies = 0
        self.streams_asked: list[str] = []
        """The streams that timestamp(?v, <stream>) names."""

    def query(self, query: ast.Query) -> ast.Query:
        self.streams_asked = _streams_asked(query)
        timed: list[TimedPattern] = []
        where = self._group(query.where, self.dataset.default, timed, []) if query.where is not None else None
        if where is not None and query.where is not None:
            where = only_visible(where, query.where, query.form, query.modifiers)
        form = query.form
        if isinstance(form, ast.Select):
            form = self._select(spelled_out(form, query.modifiers, query.where, query.values), timed)
        rewritten = replace(
            query,
            dialect="sparql",
            where=where,
            dataset=(),
            register=None,
            operator=None,
            prologue=ast.Prologue(base=query.prologue.base),
            form=form,
            modifiers=self._modifiers(query.modifiers, timed),
        )
        return _with_stored_terms(rewritten)

    # Groups. `graph` is the active one; `timed` collects the patterns whose timestamps are in scope; `outer` are those
    # outside of an EXISTS.

    def _group(
        self, group: ast.Group, graph: ActiveGraph, timed: list[TimedPattern], outer: list[TimedPattern]
    ) -> ast.Group:
        elements: list[ast.Element] = []
        filters: list[ast.Filter] = []
        for position, element in enumerate(group.elements):
            if isinstance(element, ast.Filter):
                filters.append(element)
                continue
            if isinstance(element, ast.Minus):
                before = set(visible_variables(ast.Group(group.elements[:position]), None))
                if before.isdisjoint(visible_variables(element.pattern, None)):
                    continue  # it takes nothing away
                element = self._renamed(element, before)
            elements += self._element(element, graph, timed, outer)
        for entry in filters:
            expressions = self._expressions(graph, [*timed, *outer])
            elements.append(replace(entry, condition=expressions.condition(entry.condition)))
        return replace(group, elements=tuple(elements))

    def _element(
        self, element: ast.Element, graph: ActiveGraph, timed: list[TimedPattern], outer: list[TimedPattern]
    ) -> Iterable[ast.Element]:
        match element:
            case ast.Triples():
                return self._triples(element, graph, timed)
            case ast.Bind(expression):
                return [replace(element, expression=self._expressions(graph, [*timed, *outer]).term(expression))]
            case ast.Minus(pattern):
                return [replace(element, pattern=self._group(pattern, graph, [], outer))]
            case ast.SubSelect():
                return [self._sub_select(element, graph, outer)]
            case ast.Graph(name, pattern) if graph.elements is not None:
                return [self._read_element(name, pattern, graph.elements, timed, outer)]
            case ast.Graph(name, pattern):
                return self._read_graph(name, pattern, timed, outer)
            case ast.WindowBlock():
                return self._read_window(element, timed, outer)
            case ast.Group():
                return [self._group(element, graph, timed, outer)]
            case ast.Service():
                return [self._service(element)]
            case _:
                return [rewrite_children(element, lambda child: self._inner(child, graph, timed, outer))]

    def _inner(
        self, node: ast.Node, graph: ActiveGraph, timed: list[TimedPattern], outer: list[TimedPattern]
    ) -> ast.Node:
        return self._group(node, graph, timed, outer) if isinstance(node, ast.Group) else node

    def _renamed(self, minus: ast.Minus, before: set[str]) -> ast.Minus:
        """MINUS with new names for the variables that it does not share with the preceding part of its group.

        Inside an OPTIONAL the store's engine treats variables outside of it as shared.
        """
        if any(isinstance(node, ast.Service) for node in walk(minus)):
            return minus  # the variables of a service's answer are those of its query
        names: dict[str, ast.Variable] = {}

        def rename(node: ast.Node) -> ast.Node:
            if not isinstance(node, ast.Variable) or node.name in before:
                return node
            return names.setdefault(node.name, self.patterns.new_variable())

        return rewrite(minus, rename)

    def _sub_select(self, select: ast.SubSelect, graph: ActiveGraph, outer: list[TimedPattern]) -> ast.SubSelect:
        timed: list[TimedPattern] = []
        where = self._group(select.where, graph, timed, outer)
        where = only_visible(where, select.where, select.select, select.modifiers)
        form = spelled_out(select.select, select.modifiers, select.where, select.values)
        modifiers = self._modifiers(select.modifiers, timed)
        return replace(select, where=where, select=self._select(form, timed), modifiers=modifiers)

    def _service(self, service: ast.Service) -> ast.Element:
        """The answer of the service is in a separate graph, with a resource for each solution."""
        call = service_call(service)
        assert call is not None, "it is known whom a query asks"
        graph, answer = self.dataset.answer(call)
        if not answer.bound:
            return _NOTHING
        self.used[graph.iri] = graph
        row = self.patterns.new_variable()
        where = ast.Group((ast.Graph(ast.Constant(IRI(graph.iri)), answer.pattern(row)),))
        names = [ast.Variable(name) for name in call.variables] or [row]
        select = ast.Select(tuple(map(ast.Projection, names)))
        return ast.Group((ast.SubSelect(select, where, ast.Modifiers()),))

    # GRAPH and WINDOW: a variable is the union over all names (SPARQL 1.1 §18.6, evaluation of Graph)

    def _read_graph(
        self,
        name: ast.Variable | ast.Constant,
        pattern: ast.Group,
        timed: list[TimedPattern],
        outer: list[TimedPattern],
    ) -> list[ast.Element]:
        if isinstance(name, ast.Constant):
            graph = self.dataset.graphs.get(name.text)
            return [_NOTHING if graph is None else self._in_graph(pattern, graph, timed, outer)]
        choices = [(name, iri, graph) for iri, graph in self.dataset.graphs.items()]
        return [self._one_of(choices, pattern, timed, outer)]

    def _read_element(
        self,
        name: ast.Variable | ast.Constant,
        pattern: ast.Group,
        elements: Elements,
        timed: list[TimedPattern],
        outer: list[TimedPattern],
    ) -> ast.Element:
        """GRAPH inside a window. A separate graph of the store lists the names."""
        graphs = {called: replace(graph, elements=elements) for called, graph in elements.graphs.items()}
        if isinstance(name, ast.Constant):
            graph = graphs.get(NamedNode(name.text))
            return _NOTHING if graph is None else self._in_graph(pattern, graph, timed, outer)
        if not graphs:
            return _NOTHING
        self.used[elements.names.iri] = elements.names
        branches: list[ast.Group] = []
        for graph in graphs.values():
            is_named = ast.Triples(ast.Constant(IRI(graph.iri)), (ast.Property(ast.Constant(IRI(NAMED)), (name,)),))
            said = ast.Graph(ast.Constant(IRI(elements.names.iri)), ast.Group((is_named,)))
            self._copies += 1
            branches.append(ast.Group((said, self._in_graph(relabelled(pattern, self._copies), graph, timed, outer))))
        return ast.Union(tuple(branches)) if len(branches) > 1 else branches[0]

    def _read_window(
        self, block: ast.WindowBlock, timed: list[TimedPattern], outer: list[TimedPattern]
    ) -> list[ast.Element]:
        name, pattern = block.name, block.pattern
        if isinstance(name, ast.Variable):
            choices = [(name, window.name, window.graph) for window in self.dataset.windows]
            return [self._one_of(choices, pattern, timed, outer)]
        windows = [window for window in self.dataset.windows if window.name == name.text]
        if not windows:
            return self._matching_window(name.text, pattern, timed)
        if block.stream is None:
            return [self._in_graph(pattern, windows[0].graph, timed, outer)]
        choices = [(block.stream, window.stream, window.graph) for window in windows]
        return [self._one_of(choices, pattern, timed, outer)]

    def _one_of(
        self,
        choices: list[tuple[ast.Variable, str, ActiveGraph]],
        pattern: ast.Group,
        timed: list[TimedPattern],
        outer: list[TimedPattern],
    ) -> ast.Element:
        branches: list[ast.Group] = []
        for variable, iri, graph in choices:
            said = ast.InlineData((variable,), ((ast.Constant(IRI(iri)),),))
            self._copies += 1
            copy = relabelled(pattern, self._copies)
            branches.append(ast.Group((said, self._in_graph(copy, graph, timed, outer))))
        if not branches:
            return _NOTHING
        return ast.Union(tuple(branches)) if len(branches) > 1 else branches[0]

    def _in_graph(
        self, pattern: ast.Group, graph: ActiveGraph, timed: list[TimedPattern], outer: list[TimedPattern]
    ) -> ast.Element:
        self.used[graph.iri] = graph
        inner = self._group(pattern, graph, timed, outer)
        return inner if self.by_occurrence else ast.Graph(ast.Constant(IRI(graph.iri)), inner)

    def _matching_window(self, name: str, pattern: ast.Group, timed: list[TimedPattern]) -> list[ast.Element]:
        """A window that counts matches: each triple pattern has its own content."""
        elements: list[ast.Element] = []
        for element in pattern.elements:
            if not isinstance(element, ast.Triples):
                raise TypeError("a window of a group holds triples only, by construction")
            for single in self.patterns.of(element):
                graph = self.dataset.matching(name, single)
                self.used[graph.iri] = graph
                if self.by_occurrence:
                    elements += self._pattern(single, graph, timed)
                else:
                    elements.append(ast.Graph(ast.Constant(IRI(graph.iri)), ast.Group((single.triples(),))))
        return elements

    # Triples

    def _triples(self, triples: ast.Triples, graph: ActiveGraph, timed: list[TimedPattern]) -> list[ast.Element]:
        if self.by_occurrence:
            self.used[graph.iri] = graph
        return [e for single in self.patterns.of(triples) for e in self._pattern(single, graph, timed)]

    def _pattern(self, single: SinglePattern, graph: ActiveGraph, timed: list[TimedPattern]) -> list[ast.Element]:
        """Sequences join and alternatives unite, as §18.2.2.4 says."""
        match single.verb:
            case ast.Variable() | ast.Constant():
                return self._triple(single, graph, timed)
            case ast.PathInverse(path):
                return self._pattern(SinglePattern(single.object, path, single.subject), graph, timed)
            case ast.PathSequence(paths):
                ends = [single.subject, *(self.patterns.new_variable() for _ in paths[1:]), single.object]
                steps = zip(paths, ends, ends[1:], strict=False)
                parts = (self._pattern(SinglePattern(start, path, end), graph, timed) for path, start, end in steps)
                return [element for part in parts for element in part]
            case ast.PathAlternative(paths):
                branches = (self._pattern(replace(single, verb=path), graph, timed) for path in paths)
                return [ast.Union(tuple(ast.Group(tuple(branch)) for branch in branches))]
            case ast.PathNegated(predicates):
                return self._negated(single, predicates, graph, timed)
            case _:
                return self._repeated(single, graph)

    def _repeated(self, single: SinglePattern, graph: ActiveGraph) -> list[ast.Element]:
        """A path of no steps leads from any term to itself (§18.4); the store's engine wants it to be in the graph."""
        found: ast.Element = single.triples()
        if self.by_occurrence:
            found = ast.Graph(ast.Constant(IRI(graph.iri)), ast.Group((found,)))
        constants = [end for end in (single.subject, single.object) if isinstance(end, ast.Constant)]
        if not constants or not _may_be_empty(single.verb):
            return [found]
        if len(constants) == 2:
            return [] if constants[0].term == constants[1].term else [found]
        (variable,) = (end for end in (single.subject, single.object) if isinstance(end, ast.Variable))
        itself = ast.InlineData((variable,), ((constants[0],),))
        either = ast.Group((ast.Union((ast.Group((found,)), ast.Group((itself,)))),))
        select = ast.Select((ast.Projection(variable),), "DISTINCT")
        return [ast.Group((ast.SubSelect(select, either, ast.Modifiers()),))]

    def _triple(self, single: SinglePattern, graph: ActiveGraph, timed: list[TimedPattern]) -> list[ast.Element]:
        if not self.by_occurrence:
            return [single.triples()]
        occurrence, time = self.patterns.new_variable(), self.patterns.new_variable()
        in_streams = {stream: self.patterns.new_variable() for stream in self.streams_asked}
        timed.append(TimedPattern(single, time, in_streams))
        properties = ((IN, ast.Constant(IRI(graph.iri))), (TIME, time))
        described = ast.Triples(occurrence, tuple(ast.Property(verb, (node,)) for verb, node in properties))
        optional = [
            ast.Optional(ast.Group((ast.Graph(INDEX, ast.Group((_in_stream(occurrence, stream, variable),))),)))
            for stream, variable in in_streams.items()
        ]
        return [
            ast.Graph(INDEX, ast.Group((described,))),
            ast.Graph(occurrence, ast.Group((single.triples(),))),
            *optional,
        ]

    def _negated(
        self,
        single: SinglePattern,
        predicates: tuple[ast.Constant | ast.PathInverse, ...],
        graph: ActiveGraph,
        timed: list[TimedPattern],
    ) -> list[ast.Element]:
        forward = tuple(p for p in predicates if isinstance(p, ast.Constant))
        backward = tuple(p.path for p in predicates if isinstance(p, ast.PathInverse))
        sides: list[ast.Group] = []
        directions = ((forward, single.subject, single.object), (backward, single.object, single.subject))
        for excluded, start, end in directions:
            if excluded or (excluded is forward and not backward):
                verb = self.patterns.new_variable()
                found = self._triple(SinglePattern(start, verb, end), graph, timed)
                condition = ast.Operation("NOT IN", (verb, *excluded))  # type: ignore[arg-type]
                sides.append(ast.Group((*found, ast.Filter(condition))))
        return [ast.Union(tuple(sides)) if len(sides) > 1 else sides[0]]

    # Expressions

    def _expressions(self, graph: ActiveGraph, timed: list[TimedPattern]) -> ExpressionRewriting:
        return ExpressionRewriting(self.aggregates, timed, lambda group: self._group(group, graph, [], timed))

    def _select(self, select: ast.Select, timed: list[TimedPattern]) -> ast.Select:
        expressions = self._expressions(self.dataset.default, timed)
        projections = tuple(
            entry if entry.expression is None else replace(entry, expression=expressions.term(entry.expression))
            for entry in select.projections or ()
        )
        return replace(select, projections=projections or None)

    def _modifiers(self, modifiers: ast.Modifiers, timed: list[TimedPattern]) -> ast.Modifiers:
        expressions = self._expressions(self.dataset.default, timed)
        keys = (replace(key, expression=expressions.term(key.expression)) for key in modifiers.group_by)
        orders = [
            condition
            for order in modifiers.order_by
            for condition in ordering.conditions(order, expressions.term(order.expression))
        ]
        return replace(
            modifiers,
            group_by=tuple(map(_grouped_by, keys)),
            having=tuple(map(expressions.condition, modifiers.having)),
            order_by=tuple(orders),
        )


def _grouped_by(key: ast.GroupCondition) -> ast.GroupCondition:
    """The store's engine rejects a plain variable in `GROUP BY (?x AS ?y)`."""
    if key.variable is None or not isinstance(key.expression, ast.Variable):
        return key
    return replace(key, expression=ast.Call("COALESCE", (key.expression,)))


def _with_stored_terms(node: AnyNode) -> AnyNode:
    """The constants of triple patterns and of VALUES as they are stored."""

    def stored(node: ast.Node) -> ast.Node:
        return stored_constant(node) if isinstance(node, ast.Constant) else node

    return rewrite(node, lambda n: rewrite(n, stored) if isinstance(n, (ast.Triples, ast.InlineData)) else n)


def _may_be_empty(path: ast.Verb) -> bool:
    """Whether the path may have no steps."""
    match path:
        case ast.PathRepeat(inner, times):
            return times != "+" or _may_be_empty(inner)
        case ast.PathSequence(steps):
            return all(map(_may_be_empty, steps))
        case ast.PathAlternative(paths):
            return any(map(_may_be_empty, paths))
        case ast.PathInverse(inner):
            return _may_be_empty(inner)
    return False


def _streams_asked(query: ast.Query) -> list[str]:
    calls = [node for node in walk(query) if isinstance(node, ast.Call) and node.name == "TIMESTAMP"]
    streams = (call.arguments[1] for call in calls if len(call.arguments) == 2)
    return list(dict.fromkeys(stream.text for stream in streams if isinstance(stream, ast.Constant)))


def _in_stream(occurrence: ast.Variable, stream: str, time: ast.Variable) -> ast.Triples:
    return ast.Triples(occurrence, (ast.Property(ast.Constant(IRI(TIME_IN.text + stream)), (time,)),))

"""Algebra to SQL over intervals: one statement answers all evaluation instants of a slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from penstock.algebra.expressions import Constant, Exists, Expression, Variable, conjuncts, parts_of
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import (
    BasicGraphPattern,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    OrderBy,
    PathPattern,
    PatternTerm,
    Project,
    ReadElement,
    ReadGraph,
    ReadWindow,
    Reduced,
    Service,
    Slice,
    Table,
    TriplePattern,
    Union,
)
from penstock.optimizer import Knowledge
from penstock.optimizer.rewriting import conjunction
from penstock.optimizer.static_split import is_static, together
from penstock.rdf.terms import IRI
from penstock.relational import modifiers
from penstock.relational.active_graphs import ActiveGraph
from penstock.relational.copies import unread
from penstock.relational.dataset import DatasetGraphs, NamedGraph
from penstock.relational.edges import Edges
from penstock.relational.elements import ElementPaths, NamedElements, names_of, told
from penstock.relational.expressions import Expressions
from penstock.relational.graph_lookups import scan_by_lookup
from penstock.relational.grouping import Grouping
from penstock.relational.inline_values import listed
from penstock.relational.instants import always
from penstock.relational.joining import connected, join, left_join, minus, numbered, union, with_extra, without
from penstock.relational.kept_tables import Place, kept_relation, looked_up, outer_variables, table_statement
from penstock.relational.kinds import kinds_of
from penstock.relational.matching import asked_by, is_about, nodes_of, terms_of
from penstock.relational.paths import PathCompiler, is_free
from penstock.relational.products import compared_product
from penstock.relational.relations import Relation, Statement
from penstock.relational.shapes import Shape, Snapshot
from penstock.relational.static_parts import StaticPart
from penstock.relational.tables import Tables
from penstock.relational.timestamps import Timestamps


@dataclass(frozen=True, slots=True)
class Context:
    """The input of triple patterns, and the rows for which an EXISTS is evaluated."""

    graph: ActiveGraph
    seed: Relation | None = None
    name: Constant | None = None
    """The name of the graph or window; None in the default graph."""
    element: NamedElements | None = None
    """The named elements that GRAPH reads in the window; None outside of GRAPH."""
    others: tuple[Relation, ...] = field(default=(), compare=False)
    """The relations that the solutions will be joined with: only solutions with matching values are needed."""


class Compiler:
    def __init__(self, query: ContinuousQuery, tables: Tables, shape: Shape) -> None:
        self.query = query
        self.statement = Statement(shape)
        self.dataset = DatasetGraphs(self.statement, query.dataset, tables)
        self.timestamps = Timestamps.of(query)
        self._keep = None if self.timestamps.is_asked else tables.keep
        self.edges: Edges | None = None
        """Where the solutions begin or end, if the rows that are joined can tell."""
        self.counts_copies = False
        """Whether equal solutions of static parts are one row, with their number."""
        self._elements = 0
        """The number of GRAPH blocks in windows so far."""
        self._whole: Operator | None = None
        """The expression that is compiled."""

    def solutions(self, operator: Operator, context: Context | None = None, *, keep_order: bool = False) -> Relation:
        """A pattern with its modifiers; `keep_order` keeps the columns to order by, for `ordered`."""
        context = context or Context(self.dataset.default)
        self._whole = self._whole or operator
        chain = modifiers.Modifiers.of(operator)
        relation = self._operator(chain.source, replace(context, seed=None, others=()))
        if chain.order:
            rows = self._expressions(chain.source, context).rows(
                relation, [expression for expression, _ in chain.order]
            )
            relation = modifiers.with_order(self.statement, relation, rows, chain.order)
        within = () if context.element is None else (context.element.variable,)
        if chain.projected is not None:
            relation = modifiers.projected(self.statement, relation, (*within, *chain.projected))
        if chain.is_distinct:
            relation = modifiers.distinct(self.statement, relation, by_order=not chain.is_ordered_by_projection)
        if chain.slice is not None:
            relation = modifiers.sliced(self.statement, relation, chain.slice, within)
        return relation if keep_order or not relation.extra else with_extra(self.statement, relation, ())

    def ordered(self, relation: Relation) -> list[exp.Ordered]:
        """The order of ORDER BY."""
        return modifiers.ordered(relation)

    def _operator(self, operator: Operator, context: Context) -> Relation:
        """Inside GRAPH in a window, all solutions have a column for the name of their element."""
        relation = self._solutions(operator, context)
        if context.element is None or context.element.variable in relation.columns:
            return relation
        return join(self.statement, [relation, self._names(context)])

    def _solutions(self, operator: Operator, context: Context) -> Relation:
        table = self._kept(operator, context)
        if table is not None:
            return self._seeded([table], context)
        match operator:
            case BasicGraphPattern(patterns) if len(patterns) > 1 and context.seed is None:
                return join(self.statement, self._operands(operator, context))
            case BasicGraphPattern(patterns):
                return self._seeded([self._scan(pattern, context) for pattern in patterns], context)
            case PathPattern():
                return self._seeded([self._path(operator, context)], context)
            case Table():
                return self._seeded([self._table(operator)], context)
            case Join():
                return join(self.statement, self._operands(operator, context))
            case LeftJoin(left, right, condition):
                return self._left_join(left, right, condition, context)
            case Minus(left, right):
                kept = self._operator(left, context)
                removed = self._operator(right, replace(context, seed=None, others=(kept,)))
                within = None if context.element is None else context.element.variable
                return minus(self.statement, kept, removed, within)
            case Union(left, right):
                return union(self.statement, [self._operator(left, context), self._operator(right, context)])
            case Filter(condition, source):
                return self._filter(condition, source, context)
            case Extend():
                return self._extend(operator, context)
            case ReadGraph(name, source):
                return self._read(name, source, self.dataset.graphs(), context)
            case ReadWindow(name, source):
                return self._read(name, source, self.dataset.windows(), context)
            case ReadElement(name, source):
                return self._read_element(name, source, context)
            case Service(call=call) if call is not None:
                return self._seeded([self.dataset.answers(call)], context)
            case Group():
                return self._group(operator, context)
            case Project() | Distinct() | Reduced() | OrderBy() | Slice():
                return self._seeded([self.solutions(operator, context)], context)
            case _:
                raise TypeError(f"this cannot be compiled: {operator}")

    def _operands(self, operator: Operator, context: Context) -> list[Relation]:
        """Joins all operands at once, so that the engine chooses the order. Static operands are joined before."""
        relations = self._unmarked(operator, context)
        return relations if self.edges is None else self.edges.marked(self.statement, relations)

    def _unmarked(self, operator: Operator, context: Context) -> list[Relation]:
        flat = self._flat(operator, context)
        if self._keep is None or context.seed is not None:
            return self._with_paths([], flat)
        places = list(dict.fromkeys(there for _, there in flat))
        relations: list[Relation] = []
        left: list[tuple[Operator, Context]] = []
        for there in places:
            operands = [operand for operand, place in flat if place == there]
            for joined in self._together(operands, there):
                kept = self._kept(joined, there)
                if kept is None:
                    left += self._flat(joined, there)
                else:
                    relations.append(kept)
        mixed = [entry for entry in left if self._is_mixed(*entry)]
        walking = [entry for entry in left if _has_free_path(entry[0])]
        relations += (self._operator(*entry) for entry in left if entry not in mixed and entry not in walking)
        streams = [relation for relation in relations if not relation.holds_always]
        for operand, there in mixed:
            near = self._nearby(operand, there, streams)
            streams += [] if near is None else [near]
            relations.append(self._operator(operand, there) if near is None else near)
        return self._with_paths(relations, walking)

    def _with_paths(self, relations: list[Relation], operands: list[tuple[Operator, Context]]) -> list[Relation]:
        """The relations and the operands; paths last, because they start from values of the other operands."""
        relations = [*relations, *(self._operator(*entry) for entry in operands if not _has_free_path(entry[0]))]
        walking = [entry for entry in operands if _has_free_path(entry[0])]
        known = Knowledge.of(self.query)
        while walking:
            bound = frozenset().union(*(relation.certain for relation in relations))
            following = max(walking, key=lambda entry: not bound.isdisjoint(known.scope(entry[0]).certain))
            walking.remove(following)
            operand, there = following
            near = connected(relations, known.scope(operand).certain)
            if near:
                relations = [relation for relation in relations if relation not in near]
                relations.append(join(self.statement, near, materialized=True))
                there = replace(there, others=(relations[-1], *there.others))
            relations.append(self._operator(operand, there))
        return relations

    def _is_mixed(self, operator: Operator, context: Context) -> bool:
        """Whether it is a triple pattern that matches both a static graph and other input."""
        match operator:
            case BasicGraphPattern((pattern,)):
                return context.graph.select_static({}, asked_by(pattern)) is not None
        return False

    def _nearby(self, operator: Operator, context: Context, streams: list[Relation]) -> Relation | None:
        match operator:
            case BasicGraphPattern((pattern,)) if self._keep is not None and not self.statement.shape.is_distributed:
                wanted, columns = self._columns(pattern)
                name = scan_by_lookup(context.graph, pattern, wanted, streams, self._keep)
                return None if name is None else Relation(name, columns, frozenset(columns))
        return None

    def _flat(self, operator: Operator, context: Context) -> list[tuple[Operator, Context]]:
        """The operands of a join, and the graph of each: single patterns, as far as possible."""
        match operator:
            case Join(left, right):
                return [*self._flat(left, context), *self._flat(right, context)]
            case BasicGraphPattern(patterns) if patterns and context.seed is None:
                return [(BasicGraphPattern((pattern,)), context) for pattern in patterns]
            case ReadWindow(Constant(IRI(name)) as constant, source) | ReadGraph(
                Constant(IRI(name)) as constant, source
            ):
                windows = isinstance(operator, ReadWindow)
                among = [n for n in (self.dataset.windows() if windows else self.dataset.graphs()) if n.name == name]
                if len(among) == 1 and among[0].stream_variable is None:
                    return self._flat(source, replace(context, graph=among[0].graph, name=constant, element=None))
        return [(operator, context)]

    def _seeded(self, relations: list[Relation], context: Context) -> Relation:
        """Joined with the rows of the EXISTS, inside one."""
        if context.seed is not None:
            relations = [context.seed, *relations]
        if relations:
            return join(self.statement, relations)
        return self.statement.relation(exp.select(*always()), {}, ())

    def _expressions(self, source: Operator, context: Context) -> Expressions:
        """Expressions over the solutions of `source`."""

        def asking(pattern: Operator, rows: Relation) -> Relation:
            return self._operator(pattern, replace(context, seed=rows, others=()))

        kinds = kinds_of(source, is_asked=context.seed is not None)
        return Expressions(self.statement, asking, self.query.text.prologue.base, kinds, self.timestamps)

    # Static parts

    def _kept(self, operator: Operator, context: Context) -> Relation | None:
        """The solutions of a static part, computed once; None if it is not static, or not worth keeping."""
        if self._keep is None or not self._can_be_kept(operator, context):
            return None
        read = operator if context.name is None else ReadGraph(context.name, operator)
        shape = Snapshot(is_distributed=self.statement.shape.is_distributed)
        alone = Compiler(self.query, replace(self.dataset.tables, keep=None), shape)
        solutions = alone.solutions(read)
        if not solutions.columns or self._whole is None:
            return None
        shared = outer_variables(self._whole, operator)
        keys = looked_up(solutions, shared)
        lacking = unread(self._whole, solutions.columns, shared) if self.counts_copies else frozenset()
        table = self._keep(StaticPart(operator, table_statement(alone.statement, solutions, lacking), keys))
        return None if table is None else kept_relation(self.statement, table, solutions, keys, lacking)

    def _can_be_kept(self, operator: Operator, context: Context) -> bool:
        """Only patterns know the rows of an EXISTS: they are joined with them."""
        if context.seed is not None and not isinstance(operator, BasicGraphPattern | PathPattern):
            return False
        default = Place(self.dataset.default, self.dataset.graphs)
        place = default if context.name is None else default.within(context.name)
        is_it = place is not None and place.graph is context.graph
        return is_it and is_static(operator, Place(context.graph, self.dataset.graphs))

    def _together(self, operands: list[Operator], context: Context) -> list[Operator]:
        known = Knowledge.of(self.query)
        return together(
            operands, lambda operand: self._can_be_kept(operand, context), lambda operand: known.scope(operand).certain
        )

    # Patterns

    def _filter(self, condition: Expression, source: Operator, context: Context) -> Relation:
        """Conditions on the triples of a pattern are evaluated during matching: other triples do not enter a window."""
        match source:
            case BasicGraphPattern((pattern,)) if self._asks_triples(context):
                asked = [part for part in conjuncts(condition) if is_about(pattern, part)]
                others = [part for part in conjuncts(condition) if part not in asked]
                relation = self._scan(pattern, context, asked) if asked else self._operator(source, context)
            case Join() | BasicGraphPattern() if self._kept(source, context) is None and self._asks_triples(context):
                others = [condition]
                relation = self._compared(source, list(conjuncts(condition)), context)
            case _:
                others, relation = [condition], self._operator(source, context)
        return self._expressions(source, context).filtered(relation, conjunction(others)) if others else relation

    def _compared(self, source: Operator, conditions: Sequence[Expression], context: Context) -> Relation:
        """The join; a product drops pairs that cannot satisfy the conditions."""

        def term(relation: Relation, value: Expression) -> exp.Expr:
            return expressions.rows(relation, [value]).term(value)

        relations = self._operands(source, context)
        if self.statement.shape.is_distributed:  # joins go by slices
            return join(self.statement, relations)
        expressions = self._expressions(source, context)
        return compared_product(self.statement, relations, conditions, term)

    def _asks_triples(self, context: Context) -> bool:
        return context.seed is None and not self.timestamps.is_asked and not context.graph.counts_matches

    def _scan(self, pattern: TriplePattern, context: Context, filters: Sequence[Expression] = ()) -> Relation:
        graph, element = context.graph, context.element
        wanted, columns = self._columns(pattern)
        asked = asked_by(pattern, filters)
        if element is not None:
            asked = asked.in_element(element.name)
            wanted["g"] = columns[element.variable] = self.statement.column_name(element.variable)
        certain = frozenset(columns)
        if not self.timestamps.is_asked:
            holds_always, is_momentary = graph.holds_always(asked), graph.is_momentary(asked)
            return Relation(graph.scan(wanted, asked), columns, certain, (), holds_always, is_momentary)
        times = self.timestamps.variables(pattern)
        columns |= {variable: self.statement.column_name(variable) for variable in times.values()}
        told = {stream: columns[variable] for stream, variable in times.items()}
        return Relation(graph.timed_scan(wanted, asked, told), columns, certain)

    def _columns(self, pattern: TriplePattern) -> tuple[dict[str, str], dict[Variable, str]]:
        """The needed places of a triple, and the columns of the pattern's variables."""
        columns: dict[Variable, str] = {}
        wanted: dict[str, str] = {}
        for part, term in terms_of(pattern):
            if isinstance(term, Variable) and term not in columns:
                wanted[part] = columns[term] = self.statement.column_name(term)
        return wanted, columns

    def _path(self, pattern: PathPattern, context: Context) -> Relation:
        others = context.others if context.seed is None else (context.seed, *context.others)
        if context.element is None:
            return PathCompiler(self.statement, context.graph).relation(pattern, others)
        return ElementPaths(context.graph, context.element, self._names(context)).relation(pattern, others)

    def _table(self, table: Table) -> Relation:
        columns = {variable: self.statement.column_name(variable) for variable in table.variables}
        bound = [v for place, v in enumerate(table.variables) if all(row[place] is not None for row in table.rows)]
        query = listed(table.rows, list(columns.values()), is_distributed=self.statement.shape.is_distributed)
        return replace(self.statement.relation(query.select(*always()), columns, bound), holds_always=True)

    def _read(self, name: PatternTerm, source: Operator, among: list[NamedGraph], context: Context) -> Relation:
        """GRAPH and WINDOW; a variable is the union over all names (SPARQL 1.1 §18.6), or over all streams."""
        parts: list[Relation] = []
        for named in among:
            if named.counts_matches if isinstance(name, Variable) else name.term != IRI(named.name):
                continue
            inner = self._operator(
                source, replace(context, graph=named.graph, name=Constant(IRI(named.name)), element=None)
            )
            told = {} if isinstance(name, Constant) else {name: named.name}
            if named.stream_variable is not None and named.stream is not None:
                told[Variable(named.stream_variable)] = named.stream
            if told:
                values = Table(tuple(told), (tuple(map(IRI, told.values())),))
                inner = join(self.statement, [inner, self._table(values)])
            parts.append(inner)
        if not parts:
            variables = () if isinstance(name, Constant) else (name,)
            return self._seeded([self._table(Table(variables, ()))], context)
        return parts[0] if len(parts) == 1 else union(self.statement, parts)

    def _read_element(self, name: PatternTerm, source: Operator, context: Context) -> Relation:
        """GRAPH in a window: the solutions in each named element, with a column for the name."""
        self._elements += 1
        element = NamedElements(Variable(f".element{self._elements}"), name if isinstance(name, Constant) else None)
        inner = self._operator(source, replace(context, element=element))
        return told(self.statement, inner, element, name if isinstance(name, Variable) else None)

    def _names(self, context: Context) -> Relation:
        """The names of the elements that GRAPH reads, with the intervals of the elements."""
        assert context.element is not None
        return names_of(context.graph, context.element)

    def _left_join(self, left: Operator, right: Operator, condition: Expression | None, context: Context) -> Relation:
        kept = self._operator(left, context)
        added = self._operator(right, replace(context, others=(kept,)))
        joined = left_join(self.statement, kept, added) if condition is None else None
        if joined is not None:
            return joined
        rows, row = numbered(self.statement, kept)
        matched = join(self.statement, [rows, added])
        if condition is not None:
            matched = self._expressions(Join(left, right), context).filtered(matched, condition)
        unmatched = without(self.statement, rows, matched, row)
        return with_extra(self.statement, union(self.statement, [matched, unmatched]), kept.extra)

    # Values

    def _extend(self, operator: Extend, context: Context) -> Relation:
        """Adds values that do not depend on each other together: BNODE("x") is one node in all of them."""
        values = {operator.variable: operator.expression}
        source = operator.source
        while isinstance(source, Extend) and not any(_reads(value, source.variable) for value in values.values()):
            values = {source.variable: source.expression} | values
            source = source.source
        return self._expressions(source, context).extended(self._operator(source, context), values)

    def _group(self, group: Group, context: Context) -> Relation:
        source = self._operator(group.source, replace(context, seed=None, others=()))
        solution = [variable for variable in source.columns if variable.is_visible]
        values = {variable: value for variable, value in group.keys if variable not in source.columns}
        arguments = {
            value: Variable(f".argument{place}")
            for place, (_, aggregate) in enumerate(group.aggregates)
            if (value := aggregate.argument) is not None and value not in source.columns
        }
        values |= {variable: value for value, variable in arguments.items()}
        rows = self._expressions(group.source, context).extended(source, values) if values else source
        keys, groups = [variable for variable, _ in group.keys], None
        if context.element is not None:
            groups = None if keys else self._names(context)
            keys = [context.element.variable, *keys]
        grouping = Grouping(self.statement, rows, keys, solution, always(), groups)
        return grouping.aggregated(
            [
                (variable, replace(a, argument=arguments[a.argument]) if a.argument in arguments else a)
                for variable, a in group.aggregates
            ]
        )


def _has_free_path(operator: Operator) -> bool:
    return any(isinstance(node, PathPattern) and is_free(node) for node in nodes_of(operator))


def _reads(expression: Expression, variable: Variable) -> bool:
    """Whether the expression may read the variable; an EXISTS may read any."""
    return any(part == variable or isinstance(part, Exists) for part in parts_of(expression))

"""Hypothesis strategies for whole queries, one for each dialect.

They build what the dialect can express and the checks accept, and nothing else: new variables for BIND and AS, no
variable beside an aggregate that is not grouped, windows that something reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st
from tests.syntax.window_strategies import REPORTS, WINDOWS, durations

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast
from penstock.syntax.checks import in_scope

T = TypeVar("T")

EX = "http://example.org/"
NIL = ast.Constant(IRI(vocabulary.RDF_NIL))
TYPE = ast.Constant(IRI(vocabulary.RDF_TYPE))

_PREFIXES = (
    ("ex", EX), ("", EX + "ns#"), ("xsd", vocabulary.XSD), ("a.b-c", EX + "a/"), ("é", "urn:é:"), ("ex", EX + "other/"),
)  # fmt: skip
_IRIS = st.sampled_from(
    [*(EX + local for local in ("a", "b-c", "1", "ns#x", "ns#", "a/b.c", "a/b_", "other/o", "", "%20", "a'(b)")),
     "urn:é:ü", "a", "", "#f", "../up?q=1", vocabulary.RDF_TYPE, vocabulary.RDF_NIL, vocabulary.XSD_INTEGER]
)  # fmt: skip
_ANY_IRI = st.text(st.characters(exclude_characters='<>"{}|^`\\', exclude_categories=["Cs", "Cc", "Zs"]), max_size=8)
_DATATYPES = st.sampled_from(
    [vocabulary.XSD_STRING, vocabulary.XSD_INTEGER, vocabulary.XSD_DECIMAL, vocabulary.XSD_DOUBLE,
     vocabulary.XSD_BOOLEAN, EX + "type", "urn:datatype"]
)  # fmt: skip
_BARE_LITERALS = st.sampled_from(
    [Literal(lexical, vocabulary.XSD_INTEGER) for lexical in ("1", "-1", "+1", "007", "123456789012345678901234567890")]
    + [Literal(lexical, vocabulary.XSD_DECIMAL) for lexical in ("1.5", "-0.0", ".5", "+.5", "1.")]
    + [Literal(lexical, vocabulary.XSD_DOUBLE) for lexical in ("1e9", "-1.E-5", ".5e+1", "+1.5E0", "INF", "e1")]
    + [Literal(lexical, vocabulary.XSD_BOOLEAN) for lexical in ("true", "false", "1", "TRUE")]
)
_LANGUAGES = st.sampled_from(["en", "EN-gb", "de-CH-1996"])
_LITERALS = st.one_of(
    _BARE_LITERALS,
    st.text(max_size=8).map(Literal),
    st.sampled_from(["", '"', "'''", "\\", "a\nb", "\r\t\b\f", "\x00\x7f\x85", "🜁", "\\u0041"]).map(Literal),
    st.tuples(st.text(max_size=4), _DATATYPES).map(lambda parts: Literal(*parts)),
    st.tuples(st.text(max_size=4), _LANGUAGES).map(
        lambda parts: Literal(parts[0], vocabulary.RDF_LANG_STRING, parts[1])
    ),
)

_ARITIES: dict[str, tuple[int, int]] = {
    "RAND": (0, 0), "NOW": (0, 0), "UUID": (0, 0), "STRUUID": (0, 0),
    "BNODE": (0, 1), "CONCAT": (0, 3), "COALESCE": (0, 3),
    "LANGMATCHES": (2, 2), "CONTAINS": (2, 2), "STRSTARTS": (2, 2), "STRENDS": (2, 2), "STRBEFORE": (2, 2),
    "STRAFTER": (2, 2), "STRLANG": (2, 2), "STRDT": (2, 2), "SAMETERM": (2, 2),
    "IF": (3, 3), "REGEX": (2, 3), "SUBSTR": (2, 3), "REPLACE": (3, 4),
    **dict.fromkeys(
        "STR LANG DATATYPE IRI ABS CEIL FLOOR ROUND STRLEN UCASE LCASE ENCODE_FOR_URI YEAR MONTH DAY HOURS MINUTES "
        "SECONDS TIMEZONE TZ MD5 SHA1 SHA256 SHA384 SHA512 ISIRI ISBLANK ISLITERAL ISNUMERIC".split(),
        (1, 1),
    ),
}  # fmt: skip
"""The least and the greatest number of arguments; BOUND and TIMESTAMP, which take variables, stand apart."""

_CHAINS = ("||", "&&", "+", "-", "*", "/")
_COMPARISONS = ("=", "!=", "<", ">", "<=", ">=")
_AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
_MODIFIERS = (None, "DISTINCT", "REDUCED")
_OPERATORS: tuple[ast.Operator | None, ...] = (None, "rstream", "istream", "dstream")

_STREAMS = (EX + "stream", "urn:stream:2")
_WINDOW_NAMES = (EX + "w1", EX + "a/w2")

_SIMPLE_ELEMENTS = ("triples", "filter", "bind", "inline_data")
_NESTING_ELEMENTS = ("group", "union", "optional", "minus", "graph", "service")
_OWN_ELEMENTS: dict[ast.DialectName, tuple[str, ...]] = {
    "rspql": ("window_block",),
    "cqels": ("stream_block",),
    "sparqlstream": ("stream_block",),
}


@st.composite
def queries(draw: st.DrawFn, dialect: ast.DialectName) -> ast.Query:
    """A query of the dialect that its checks accept."""
    return _Builder(draw, dialect).query()


@st.composite
def expressions(draw: st.DrawFn) -> ast.Expression:
    """An expression as FILTER has it, deeply nested."""
    return _Builder(draw, "sparql").expression(depth=5)


@st.composite
def paths(draw: st.DrawFn) -> ast.Path:
    return _Builder(draw, "sparql").path(depth=5)


class _Builder:
    """Builds one query. Each method draws the node that it is named after."""

    def __init__(self, draw: st.DrawFn, dialect: ast.DialectName) -> None:
        self.draw = draw
        self.dialect = dialect
        self.names = ["s", "p", "o", "x1", "_", "0", "größe"] + (["total-sensor"] if dialect == "csparql" else [])
        self.elements = _SIMPLE_ELEMENTS + _NESTING_ELEMENTS + _OWN_ELEMENTS.get(dialect, ())
        self.fresh = 0
        self.in_template = False
        self.windows_in_groups = dialect == "streaming-sparql" and self.sometimes()
        self.read_by_name: set[str] = set()
        """What blocks of the pattern name: graphs, windows and streams."""
        self.windows_to_range_over: list[str] = []

    def choose(self, *options: T) -> T:
        return self.draw(st.sampled_from(options))

    def sometimes(self) -> bool:
        return self.draw(st.integers(0, 3)) == 3

    def several(self, make: Callable[[], T], least: int = 0, most: int = 3) -> tuple[T, ...]:
        return tuple(make() for _ in range(self.draw(st.integers(least, most))))

    def perhaps(self, make: Callable[[], T]) -> T | None:
        return make() if self.sometimes() else None

    # Terms

    def variable(self) -> ast.Variable:
        return ast.Variable(self.choose(*self.names))

    def new_variable(self) -> ast.Variable:
        self.fresh += 1
        return ast.Variable(f"new{self.fresh}")

    def iri(self) -> ast.Constant:
        return ast.Constant(IRI(self.draw(_ANY_IRI if self.sometimes() else _IRIS)))

    def literal(self) -> ast.Constant:
        return ast.Constant(self.draw(_LITERALS))

    def constant(self) -> ast.Constant:
        return self.choose(self.iri, self.literal)()

    def variable_or_iri(self) -> ast.Variable | ast.Constant:
        return self.choose(self.variable, self.iri)()

    # Triples and paths

    def triples(self, depth: int = 2) -> ast.Triples:
        subject = self.graph_node(depth)
        stands_alone = isinstance(subject, ast.Collection) or (
            isinstance(subject, ast.BlankNodePropertyList) and bool(subject.properties)
        )
        return ast.Triples(subject, self.properties(depth, least=0 if stands_alone else 1))

    def properties(self, depth: int, least: int = 1) -> tuple[ast.Property, ...]:
        return self.several(lambda: self.property(depth), least, 2)

    def property(self, depth: int) -> ast.Property:
        return ast.Property(self.verb(), self.several(lambda: self.graph_node(depth - 1), 1, 2))

    def graph_node(self, depth: int) -> ast.GraphNode:
        leaves = (self.variable, self.iri, self.literal, self.blank_node_label, lambda: NIL)
        if depth <= 0:
            return self.choose(*leaves)()
        return self.choose(*leaves, lambda: self.property_list(depth), lambda: self.collection(depth))()

    def blank_node_label(self) -> ast.BlankNodeLabel:
        self.fresh += 1
        return ast.BlankNodeLabel(f"{self.choose('b', '0', 'b.', 'b-')}{self.fresh}")

    def property_list(self, depth: int) -> ast.BlankNodePropertyList:
        return ast.BlankNodePropertyList(self.properties(depth - 1, least=0))

    def collection(self, depth: int) -> ast.Collection:
        return ast.Collection(self.several(lambda: self.graph_node(depth - 1), 1))

    def verb(self) -> ast.Verb:
        if self.in_template:
            return self.choose(self.variable, self.iri, lambda: TYPE)()
        return self.choose(self.variable, lambda: self.path(0), lambda: self.path(3))()

    def path(self, depth: int) -> ast.Path:
        if depth <= 0:
            return self.choose(self.iri, lambda: TYPE)()
        paths = lambda: self.several(lambda: self.path(depth - 1), 2, 3)  # noqa: E731
        match self.choose("iri", "alternative", "sequence", "inverse", "repeat", "negated"):
            case "alternative":
                return ast.PathAlternative(paths())
            case "sequence":
                return ast.PathSequence(paths())
            case "inverse":
                return ast.PathInverse(self.path(depth - 1))
            case "repeat":
                return ast.PathRepeat(self.path(depth - 1), self.choose("?", "*", "+"))
            case "negated":
                return ast.PathNegated(self.several(self.negated_predicate))
        return self.iri()

    def negated_predicate(self) -> ast.Constant | ast.PathInverse:
        predicate = self.choose(self.iri, lambda: TYPE)()
        return ast.PathInverse(predicate) if self.sometimes() else predicate

    # Expressions; `known` are the variables that may occur outside aggregates (None: any)

    def expression(
        self, depth: int = 2, known: Sequence[ast.Variable] | None = None, aggregates: bool = False
    ) -> ast.Expression:
        variables = self.names if known is None else [variable.name for variable in known]
        leaves = ["constant"] + ["variable"] * bool(variables)
        nested = ["chain", "comparison", "in", "sign", "call", "function", "exists"] + ["bound"] * bool(variables)
        if self.dialect != "sparql" and variables:
            nested.append("timestamp")
        inner = lambda: self.expression(depth - 1, known, aggregates)  # noqa: E731
        kind = self.choose(*leaves, *(nested if depth > 0 else []), *(["aggregate"] if aggregates else []))
        match kind:
            case "variable":
                return ast.Variable(self.choose(*variables))
            case "chain":
                return ast.Operation(self.choose(*_CHAINS), self.several(inner, 2, 4))
            case "comparison":
                return ast.Operation(self.choose(*_COMPARISONS), (inner(), inner()))
            case "in":
                return ast.Operation(self.choose("IN", "NOT IN"), (inner(), *self.several(inner)))
            case "sign":
                return ast.Operation(self.choose("!", "-", "+"), (inner(),))
            case "call":
                name = self.choose(*_ARITIES)
                return ast.Call(name, self.several(inner, *_ARITIES[name]))
            case "function":
                arguments = self.several(inner)
                return ast.FunctionCall(self.iri(), arguments, distinct=bool(arguments) and self.sometimes())
            case "exists":
                return ast.Exists(self.group(depth - 1), negated=self.sometimes())
            case "bound":
                return ast.Call("BOUND", (ast.Variable(self.choose(*variables)),))
            case "timestamp":
                return ast.Call("TIMESTAMP", (ast.Variable(self.choose(*variables)),))
            case "aggregate":
                return self.aggregate(depth - 1)
        return self.constant()

    def aggregate(self, depth: int) -> ast.Aggregate:
        name = self.choose(*_AGGREGATES)
        is_count_of_all = name == "COUNT" and self.sometimes()
        separator = self.draw(st.text(max_size=3)) if name == "GROUP_CONCAT" and self.sometimes() else None
        argument = None if is_count_of_all else self.expression(depth)
        return ast.Aggregate(name, argument, self.sometimes(), separator)

    # Patterns

    def group(self, depth: int) -> ast.Group:
        if depth > 1 and self.sometimes():
            return ast.Group((self.sub_select(depth - 1),))
        elements = self.several(lambda: self.element(depth))
        return ast.Group(elements, self.perhaps(self.window) if self.windows_in_groups else None)

    def group_without_windows(self, depth: int) -> ast.Group:
        """What another graph holds is no stream, so no window can be about it."""
        allowed, self.windows_in_groups = self.windows_in_groups, False
        group = self.group(depth)
        self.windows_in_groups = allowed
        return group

    def element(self, depth: int) -> ast.Element:
        kind = self.choose(*self.elements) if depth > 0 else self.choose(*_SIMPLE_ELEMENTS)
        match kind:
            case "group":
                return self.group(depth - 1)
            case "union":
                return ast.Union(self.several(lambda: self.group(depth - 1), 2, 3))
            case "optional":
                return ast.Optional(self.group(depth - 1))
            case "minus":
                return ast.Minus(self.group(depth - 1))
            case "filter":
                return ast.Filter(self.expression(depth))
            case "bind":
                return ast.Bind(self.expression(depth), self.new_variable())
            case "inline_data":
                return self.inline_data()
            case "graph":
                return ast.Graph(self.block_name(_STREAMS), self.group_without_windows(depth - 1))
            case "service":
                return ast.Service(self.variable_or_iri(), self.group_without_windows(depth - 1), self.sometimes())
            case "window_block":
                return self.window_block(depth)
            case "stream_block":
                return self.stream_block(depth)
        return self.triples()

    def block_name(self, names: Sequence[str], others: bool = True) -> ast.Variable | ast.Constant:
        kind = self.choose("name", "variable", *(["other"] if others else []))
        if kind == "name":
            name = self.choose(*names)
            self.read_by_name.add(name)
            return ast.Constant(IRI(name))
        return self.variable() if kind == "variable" else self.iri()

    def window_block(self, depth: int) -> ast.WindowBlock:
        name = self.block_name(_WINDOW_NAMES, others=False)
        if isinstance(name, ast.Variable):
            self.windows_to_range_over = [*_WINDOW_NAMES]
        return ast.WindowBlock(name, self.group(depth - 1))

    def stream_block(self, depth: int) -> ast.StreamBlock:
        if self.dialect == "cqels" or self.sometimes():
            return ast.StreamBlock(self.variable_or_iri(), self.window(), self.group(depth - 1))
        return ast.StreamBlock(self.block_name(_STREAMS), None, self.group(depth - 1))

    def inline_data(self) -> ast.InlineData:
        names = self.draw(st.lists(st.sampled_from(self.names), unique=True, max_size=3))
        row = lambda: tuple(None if self.sometimes() else self.constant() for _ in names)  # noqa: E731
        return ast.InlineData(tuple(map(ast.Variable, names)), self.several(row))

    def sub_select(self, depth: int) -> ast.SubSelect:
        where = self.group(depth)
        values = self.perhaps(self.inline_data)
        select, modifiers = self.select_and_modifiers()
        return ast.SubSelect(select, where, modifiers, values)

    # Projection and solution modifiers

    def select_and_modifiers(self) -> tuple[ast.Select, ast.Modifiers]:
        modifier = self.choose(*_MODIFIERS)
        if not self.sometimes():
            projections = None if self.sometimes() else self.several(self.projection, 1)
            return ast.Select(projections, modifier), self.modifiers(keys=None)  # type: ignore[arg-type]
        conditions = self.several(self.group_condition)
        keys = _key_variables(conditions)
        projections = self.several(lambda: self.projection_of_group(keys), 1)
        assigned = [projection.variable for projection in projections if projection.expression is not None]
        modifiers = self.modifiers([*keys], conditions, [*keys, *assigned])
        return ast.Select(projections, modifier), modifiers  # type: ignore[arg-type]

    def projection(self) -> ast.Projection:
        if self.sometimes():
            return ast.Projection(self.new_variable(), self.expression())
        return ast.Projection(self.variable())

    def projection_of_group(self, keys: Sequence[ast.Variable]) -> ast.Projection:
        if keys and self.sometimes():
            return ast.Projection(self.choose(*keys))
        aggregate = self.aggregate(1)
        expression = self.choose(aggregate, ast.Operation("*", (aggregate, self.expression(1, keys, aggregates=True))))
        return ast.Projection(self.new_variable(), expression)

    def modifiers(
        self,
        keys: Sequence[ast.Variable] | None,
        conditions: tuple[ast.GroupCondition, ...] = (),
        ordered: Sequence[ast.Variable] | None = None,
    ) -> ast.Modifiers:
        """`keys` None: nothing is grouped, so there is no HAVING and no aggregate in ORDER BY."""
        grouped = keys is not None
        having = self.several(lambda: self.expression(2, keys, aggregates=True), 0, 2) if grouped else ()
        order = lambda: ast.OrderCondition(self.expression(2, ordered, aggregates=grouped), self.sometimes())  # noqa: E731
        limit, offset = (self.perhaps(lambda: self.draw(st.integers(0, 10**17))) for _ in range(2))
        return ast.Modifiers(conditions, having, self.several(order, 0, 2), limit, offset)

    def group_condition(self) -> ast.GroupCondition:
        match self.choose("variable", "expression", "named"):
            case "variable":
                return ast.GroupCondition(self.variable())
            case "named":
                return ast.GroupCondition(self.expression(), self.new_variable())
        return ast.GroupCondition(self.expression())

    # Whole queries

    def query(self) -> ast.Query:
        where: ast.Group | None
        form: ast.Form
        modifiers = None
        match self.choose("select", "construct", "construct where", "ask", "describe"):
            case "select":
                where = self.group(3)
                form, modifiers = self.select_and_modifiers()
            case "construct":
                where, form = self.group(3), ast.Construct(self.template())
            case "construct where":
                where, form = ast.Group(self.plain_triples()), ast.Construct(None)
            case "ask":
                where, form = self.group(3), ast.Ask()
            case _:
                where = None if self.sometimes() else self.group(3)
                form = ast.Describe(None if self.sometimes() else self.several(self.variable_or_iri, 1))
        modifiers = modifiers or self.modifiers(keys=None)
        dataset = self.dataset()
        registers = self.dialect in ("rspql", "csparql", "cqels")
        return ast.Query(
            self.dialect,
            form,
            where,
            self.prologue(),
            self.perhaps(lambda: self.register(dataset)) if registers else None,
            self.choose(*_OPERATORS) if self.dialect in ("rspql", "sparqlstream") else None,
            dataset,
            modifiers,
            self.several(lambda: self.aggregate_clause(where), 0, 2) if self.dialect == "csparql" and where else (),
            self.perhaps(self.inline_data),
        )

    def template(self) -> tuple[ast.Triples | ast.QuadTemplate, ...]:
        if self.dialect != "rspql":
            return self.plain_triples()

        def quads() -> ast.QuadTemplate:
            name = ast.BlankNodeLabel(self.choose("b", "c")) if self.sometimes() else self.variable_or_iri()
            return ast.QuadTemplate(name, self.plain_triples())

        return (*self.plain_triples(), *self.several(quads, 0, 2), *self.plain_triples())

    def plain_triples(self) -> tuple[ast.Triples, ...]:
        """Triples as a template has them: no paths."""
        self.in_template = True
        triples = self.several(self.triples)
        self.in_template = False
        return triples

    def prologue(self) -> ast.Prologue:
        declared = self.draw(st.lists(st.sampled_from(_PREFIXES), max_size=4))
        return ast.Prologue(tuple(ast.PrefixDeclaration(*declaration) for declaration in declared))

    def register(self, dataset: tuple[ast.DatasetClause | ast.WindowClause, ...]) -> ast.Register:
        """COMPUTED EVERY is about the windows, so there must be one."""
        has_windows = any(isinstance(clause, ast.WindowClause) for clause in dataset)
        kind = "query" if self.dialect == "cqels" else self.choose("query", "stream")
        name = self.choose(IRI("Q1"), IRI("my-query"), IRI("as"), IRI(EX + "a"), IRI(EX + "a%20b"))
        every = (
            self.perhaps(lambda: self.draw(durations)) if self.dialect in ("csparql", "rspql") and has_windows else None
        )
        return ast.Register(kind, ast.Constant(name), every)  # type: ignore[arg-type]

    def dataset(self) -> tuple[ast.DatasetClause | ast.WindowClause, ...]:
        clauses: list[ast.DatasetClause | ast.WindowClause] = []
        clauses += self.several(lambda: ast.DatasetClause(self.iri(), self.sometimes()), 0, 2)
        if self.dialect == "rspql":
            clauses += self.named_windows()
        elif self.dialect not in ("cqels", "sparql"):
            clauses += self.streams()
        return tuple(self.draw(st.permutations(clauses)))

    def named_windows(self) -> list[ast.WindowClause]:
        """What WINDOW blocks read is declared, each once; a block with a variable needs at least one."""
        names = sorted(self.read_by_name.intersection(_WINDOW_NAMES)) or self.windows_to_range_over
        named = [ast.WindowClause(*self.stream_and_window(), True, _constant(name), self.settings()) for name in names]
        unnamed = lambda: ast.WindowClause(*self.stream_and_window(), settings=self.settings())  # noqa: E731
        return [*named, *self.several(unnamed, 0, 2)]

    def stream_and_window(self) -> tuple[ast.Variable | ast.Constant, ast.Window]:
        return self.variable_or_iri(), self.window()

    def streams(self) -> list[ast.WindowClause]:
        """A named stream must be read by name. A window in a group is about the one stream of the default graph."""
        least, most = (1, 1) if self.windows_in_groups else (0, 2)
        clauses = []
        for name in self.draw(st.lists(st.sampled_from(_STREAMS), min_size=least, max_size=most, unique=True)):
            window = None if self.dialect == "sparqlstream" and self.sometimes() else self.window()
            named = name in self.read_by_name and not self.windows_in_groups
            named = named or (self.dialect == "sparqlstream" and self.sometimes())
            clauses.append(ast.WindowClause(_constant(name), window, named))
        return clauses

    def window(self) -> ast.Window:
        return self.draw(WINDOWS[self.dialect])

    def settings(self) -> ast.WindowSettings:
        if self.choose("none", "some") == "none":
            return ast.WindowSettings()
        origin = st.one_of(st.none(), st.integers(-(10**17), 10**17))
        return ast.WindowSettings(self.draw(REPORTS), self.draw(origin), self.choose(None, "set", "bag"))

    def aggregate_clause(self, where: ast.Group) -> ast.AggregateClause:
        scope = [ast.Variable(name) for name in in_scope(where)]
        variable = self.new_variable()
        aggregate = ast.Aggregate("COUNT", None, self.sometimes())
        group: tuple[ast.Variable, ...] = ()
        if scope:
            if self.sometimes():
                name = self.choose(*_AGGREGATES)
                aggregate = ast.Aggregate(name, self.expression(1, scope), self.sometimes())
            group = self.several(lambda: self.choose(*scope))
        condition = self.perhaps(lambda: ast.Filter(self.expression(2, [*scope, variable])))
        return ast.AggregateClause(variable, aggregate, group, condition)


def _constant(name: str) -> ast.Constant:
    return ast.Constant(IRI(name))


def _key_variables(conditions: Sequence[ast.GroupCondition]) -> list[ast.Variable]:
    variables = (condition.variable or condition.expression for condition in conditions)
    return [variable for variable in variables if isinstance(variable, ast.Variable)]

"""A whole query: prologue, registration, form, dataset, pattern, modifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax.ast.expressions import Aggregate, Expression
from penstock.syntax.ast.nodes import BlankNodeLabel, Constant, Node, Variable
from penstock.syntax.ast.patterns import Filter, Group, InlineData, Triples
from penstock.syntax.ast.windows import Window, WindowSettings

DialectName = OneOf["rspql", "csparql", "cqels", "sparqlstream", "streaming-sparql", "sparql"]
Operator = OneOf["rstream", "istream", "dstream"]
RegisteredKind = OneOf["query", "stream"]


@dataclass(frozen=True, slots=True)
class PrefixDeclaration(Node):
    prefix: str
    iri: str


@dataclass(frozen=True, slots=True)
class Prologue(Node):
    """The declared prefixes, in order, with absolute IRIs, and BASE, which the function IRI() resolves against."""

    prefixes: tuple[PrefixDeclaration, ...] = ()
    base: str | None = None


@dataclass(frozen=True, slots=True)
class Register(Node):
    """`REGISTER QUERY|STREAM name [COMPUTED EVERY …] AS`; RSP-QL's `REGISTER RSTREAM …` registers a stream.

    `every` is in ms.
    """

    kind: RegisteredKind
    name: Constant
    every: int | None = None


@dataclass(frozen=True, slots=True)
class DatasetClause(Node):
    """`FROM graph`, or `FROM NAMED graph`."""

    graph: Constant
    named: bool = False


@dataclass(frozen=True, slots=True)
class WindowClause(Node):
    """A window over a stream in the FROM clauses of any dialect.

    `named`: readable only by name (FROM NAMED …); otherwise its content is part of the default graph. `name` is the
    name of the window in RSP-QL; in other dialects it is None, and the IRI of the stream identifies the window. If
    `stream` is a variable, it means every stream bound to the query. If `window` is None, it is the dialect's default.
    """

    stream: Constant | Variable
    window: Window | None
    named: bool = False
    name: Constant | None = None
    settings: WindowSettings = WindowSettings()


@dataclass(frozen=True, slots=True)
class Projection(Node):
    """`?x`, or `(expression AS ?x)`."""

    variable: Variable
    expression: Expression | None = None


@dataclass(frozen=True, slots=True)
class Select(Node):
    """`projections` None is `*`."""

    projections: tuple[Projection, ...] | None
    modifier: OneOf["DISTINCT", "REDUCED"] | None = None


@dataclass(frozen=True, slots=True)
class QuadTemplate(Node):
    """`GRAPH name { triples }` in an RSP-QL CONSTRUCT template; blank nodes are new for each solution."""

    name: Variable | Constant | BlankNodeLabel
    triples: tuple[Triples, ...]


@dataclass(frozen=True, slots=True)
class Construct(Node):
    """`template` None is the short form `CONSTRUCT WHERE { … }`, whose template is its pattern."""

    template: tuple[Triples | QuadTemplate, ...] | None


@dataclass(frozen=True, slots=True)
class Ask(Node):
    pass


@dataclass(frozen=True, slots=True)
class Describe(Node):
    """`resources` None is `*`."""

    resources: tuple[Variable | Constant, ...] | None


Form = Select | Construct | Ask | Describe


@dataclass(frozen=True, slots=True)
class GroupCondition(Node):
    """`?x`, an expression, or `(expression AS ?x)`."""

    expression: Expression
    variable: Variable | None = None


@dataclass(frozen=True, slots=True)
class OrderCondition(Node):
    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Modifiers(Node):
    group_by: tuple[GroupCondition, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderCondition, ...] = ()
    limit: int | None = None
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class AggregateClause(Node):
    """C-SPARQL: `(?v, SUM(?x), {?g}) FILTER (…)`; the aggregate of a bare COUNT has no argument."""

    variable: Variable
    aggregate: Aggregate
    group: tuple[Variable, ...]
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class Query(Node):
    """`where` is None only for a DESCRIBE without a pattern."""

    dialect: DialectName
    form: Form
    where: Group | None
    prologue: Prologue = Prologue()
    register: Register | None = None
    operator: Operator | None = None
    dataset: tuple[DatasetClause | WindowClause, ...] = ()
    modifiers: Modifiers = Modifiers()
    aggregates: tuple[AggregateClause, ...] = ()
    values: InlineData | None = None

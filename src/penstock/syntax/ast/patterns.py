"""Graph patterns (SPARQL 1.1 §5 to §13), and the blocks in which a dialect reads a window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.syntax.ast.expressions import Expression
from penstock.syntax.ast.nodes import Constant, GraphNode, Node, Variable
from penstock.syntax.ast.paths import Verb
from penstock.syntax.ast.windows import Window

if TYPE_CHECKING:
    from penstock.syntax.ast.queries import Modifiers, Select


@dataclass(frozen=True, slots=True)
class Property(Node):
    """A verb and the objects it leads to: `:p :a , :b`."""

    verb: Verb
    objects: tuple[GraphNode, ...]


@dataclass(frozen=True, slots=True)
class Triples(Node):
    """A subject and its properties: `?s :p :a , :b ; :q ?c`. No property: a bare `[ … ]` or `( … )`."""

    subject: GraphNode
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Group(Node):
    """`{ … }`: its elements in order, and the window that Streaming SPARQL allows at the end.

    `{ SELECT … }` is a group with a `SubSelect` as its only element.
    """

    elements: tuple[Element, ...]
    window: Window | None = None


@dataclass(frozen=True, slots=True)
class SubSelect(Node):
    """`SELECT …` inside a group; it is then the group's only element."""

    select: Select
    where: Group
    modifiers: Modifiers
    values: InlineData | None = None


@dataclass(frozen=True, slots=True)
class Optional(Node):
    pattern: Group


@dataclass(frozen=True, slots=True)
class Minus(Node):
    pattern: Group


@dataclass(frozen=True, slots=True)
class Union(Node):
    """`{ … } UNION { … } …`, two or more; a group on its own is a `Group` element."""

    patterns: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Filter(Node):
    condition: Expression


@dataclass(frozen=True, slots=True)
class Bind(Node):
    expression: Expression
    variable: Variable


@dataclass(frozen=True, slots=True)
class InlineData(Node):
    """`VALUES (?x ?y) { (1 2) (UNDEF 3) }`; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[Constant | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Graph(Node):
    """`GRAPH name { … }`."""

    name: Variable | Constant
    pattern: Group


@dataclass(frozen=True, slots=True)
class Service(Node):
    """`SERVICE name { … }`."""

    name: Variable | Constant
    pattern: Group
    silent: bool = False


@dataclass(frozen=True, slots=True)
class WindowBlock(Node):
    """RSP-QL: `WINDOW name { … }`, the content of a window declared in the dataset.

    `stream` is the variable that the window is over, which the block binds. The explicit form has it, no text.
    """

    name: Variable | Constant
    pattern: Group
    stream: Variable | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class StreamBlock(Node):
    """CQELS and SPARQLstream: `STREAM name [window] { … }`; without a window, the window of the FROM clause."""

    stream: Variable | Constant
    window: Window | None
    pattern: Group


Element = (
    Triples
    | Group
    | SubSelect
    | Optional
    | Minus
    | Union
    | Filter
    | Bind
    | InlineData
    | Graph
    | Service
    | WindowBlock
    | StreamBlock
)

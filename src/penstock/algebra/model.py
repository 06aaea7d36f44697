"""The RSP-QL model: a continuous query is ⟨SE, SDS, ET, QF⟩ (Definition 11).

SE is `expression` with the streaming operator on top, SDS is `dataset`, ET follows from the report policies of the
windows, and QF is `form`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal as OneOf

from penstock.algebra.expressions import Variable
from penstock.algebra.operators import Operator, PatternTerm, TriplePattern
from penstock.algebra.windows import CountWindow, PastWindow, RangeWindow, Window
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

Duplicates = OneOf["set", "bag"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that override those of the dialect (semantics.md §8); None keeps the dialect's.

    `origin` is t0 of the windows that do not set their own: an instant, or `first`, the first element's timestamp − 1.
    """

    report: ast.Report | None = None
    operator: ast.Operator | None = None
    duplicates: Duplicates | None = None
    origin: int | OneOf["first"] = 0


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A window over a stream, part of the dataset.

    With `stream` None the window is over every bound stream (and `stream_variable` is bound to its name). A window with
    a `report` triggers evaluations. A window with `is_named` is read by its name only; otherwise its content is part of
    the default graph. `origin` is t0, from which periodic reports of any window count; the query may set it.
    """

    window: Window
    stream: str | None
    name: str | None
    is_named: bool
    report: ast.Report | None
    duplicates: Duplicates
    origin: int = 0
    stream_variable: str | None = None
    is_origin_fixed: bool = False

    def with_origin(self, origin: int) -> StreamWindow:
        """The window with another t0, unless the query sets its own."""
        if self.is_origin_fixed:
            return self
        window = self.window
        if isinstance(window, RangeWindow | PastWindow):
            window = replace(window, origin=origin)
        return replace(self, window=window, origin=origin)


@dataclass(frozen=True, slots=True)
class Dataset:
    """SDS (Definition 14): graphs by their IRIs, and windows.

    With `has_clauses` False the query names no graph, so every bound graph is part of the dataset. A query that joined
    a run later sees the elements `after` an instant, if any.
    """

    default_graphs: tuple[str, ...]
    named_graphs: tuple[str, ...]
    windows: tuple[StreamWindow, ...]
    after: int | None = None

    @property
    def has_clauses(self) -> bool:
        return bool(self.default_graphs or self.named_graphs)

    @property
    def streams(self) -> tuple[str, ...]:
        """The streams that the query names, without duplicates, in order."""
        return tuple(dict.fromkeys(w.stream for w in self.windows if w.stream is not None))

    @property
    def counts_elements(self) -> bool:
        """Whether the content of a window depends on the number and order of elements."""
        return any(isinstance(w.window, CountWindow) for w in self.windows)


@dataclass(frozen=True, slots=True)
class SelectForm:
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class AskForm:
    pass


@dataclass(frozen=True, slots=True)
class ConstructForm:
    """Triples to construct, each with the name of its graph, if any; blank nodes are variables `_:label`, new each
    time.
    """

    template: tuple[tuple[TriplePattern, PatternTerm | None], ...]

    @property
    def parts(self) -> frozenset[PatternTerm]:
        patterns = ((pattern.subject, pattern.predicate, pattern.object, graph) for pattern, graph in self.template)
        return frozenset(part for pattern in patterns for part in pattern if part is not None)

    @property
    def blank_nodes(self) -> frozenset[str]:
        """The names of the blank nodes that are new for each solution."""
        return frozenset(part.name for part in self.parts if isinstance(part, Variable) and not part.is_visible)


@dataclass(frozen=True, slots=True)
class DescribeForm:
    """Resources to describe: constants, and the values of the variables."""

    resources: tuple[PatternTerm, ...]


QueryForm = SelectForm | AskForm | ConstructForm | DescribeForm


@dataclass(frozen=True, slots=True)
class ContinuousQuery:
    name: str | None
    dialect: ast.DialectName
    form: QueryForm
    expression: Operator
    operator: ast.Operator
    dataset: Dataset
    text: ast.Query
    """The query in its explicit RSP-QL form (`syntax.translation.explicit`), with the user's settings applied."""

    def with_origin(self, origin: int) -> ContinuousQuery:
        """The same query with t0 = `origin`. If t0 depends on the first element, it is known only when that arrives."""
        windows = tuple(window.with_origin(origin) for window in self.dataset.windows)
        return replace(self, dataset=replace(self.dataset, windows=windows))

    @property
    def waits_for_certainty(self) -> bool:
        """SPARQL over a stream: each solution is emitted once, as soon as no later input can remove it (semantics.md
        §8).
        """
        reports = [window.report for window in self.dataset.windows if window.report is not None]
        strategies = {node.name for report in reports for node in walk(report) if isinstance(node, ast.Strategy)}
        return "stream-end" in strategies and self.operator == "istream"

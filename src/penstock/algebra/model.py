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
    """What a user may say from outside, against what the dialect implies (semantics.md §8); None: as the dialect says.

    `origin` is t0 of the windows that do not name their own: an instant, or `first`, the first element's timestamp − 1.
    """

    report: ast.Report | None = None
    operator: ast.Operator | None = None
    duplicates: Duplicates | None = None
    origin: int | OneOf["first"] = 0


@dataclass(frozen=True, slots=True)
class StreamWindow:
    """A window over a stream, part of the dataset.

    `stream` None is every bound stream (and `stream_variable` is bound to which). A window with a `report` has the
    query evaluated; `is_named`: reached by its name alone, else its content is part of the default graph. `origin` is
    t0, which periodic reports count from, whatever the window; the query may fix it itself.
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
        """The window counted from another t0, unless the query fixes its own."""
        if self.is_origin_fixed:
            return self
        window = self.window
        if isinstance(window, RangeWindow | PastWindow):
            window = replace(window, origin=origin)
        return replace(self, window=window, origin=origin)


@dataclass(frozen=True, slots=True)
class Dataset:
    """SDS (Definition 14): graphs by their IRIs, and windows.

    `has_clauses` False: the query names no graph, so every graph that is bound to it takes part. A query that came to
    streams that were there before it sees their elements `after` an instant, if there is one.
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
        """The streams that the query names, each once, in order."""
        return tuple(dict.fromkeys(w.stream for w in self.windows if w.stream is not None))

    @property
    def counts_elements(self) -> bool:
        """Whether what a window holds depends on how many elements came, and in which order."""
        return any(isinstance(w.window, CountWindow) for w in self.windows)


@dataclass(frozen=True, slots=True)
class SelectForm:
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class AskForm:
    pass


@dataclass(frozen=True, slots=True)
class ConstructForm:
    """Triples to build, each with the graph it goes to, if any; blank nodes are variables `_:label`, new each time."""

    template: tuple[tuple[TriplePattern, PatternTerm | None], ...]


@dataclass(frozen=True, slots=True)
class DescribeForm:
    """Resources to describe: constants, and what the variables are bound to."""

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
        """The same query with t0 = `origin`: where t0 is the first element's, it is known only when that arrives."""
        windows = tuple(window.with_origin(origin) for window in self.dataset.windows)
        return replace(self, dataset=replace(self.dataset, windows=windows))

    @property
    def waits_for_certainty(self) -> bool:
        """SPARQL over a stream: each solution comes once, as soon as nothing can take it back (semantics.md §8)."""
        reports = [window.report for window in self.dataset.windows if window.report is not None]
        strategies = {node.name for report in reports for node in walk(report) if isinstance(node, ast.Strategy)}
        return "stream-end" in strategies and self.operator == "istream"

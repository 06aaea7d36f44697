"""The timeline: elements, the windows over them, and the evaluation instants under the report policy of each dialect.

Figures 3 to 5 of the RSP-QL paper draw the same. The oracle computes the instants. If a stream is long, the picture
shows only its beginning and says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from pyoxigraph import Literal as OxigraphLiteral
from pyoxigraph import NamedNode, Triple

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.inputs import Inputs
from penstock.algebra.reports import PolicyError
from penstock.algebra.windows import PastWindow, RangeWindow, Window
from penstock.explain.names import Names
from penstock.explain.times import TimeScale
from penstock.explain.windows import Span, WindowDescription, first_closing_to_show
from penstock.oracle.answering import evaluation_instants, matched_patterns
from penstock.oracle.contents import WindowContents
from penstock.oracle.datasets import Sources
from penstock.rdf.elements import Element, Node
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import RDF_TYPE
from penstock.syntax import ast
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.printer.reports import report_text

MOST_ELEMENTS = 40
MOST_SPANS = 24
MOST_OVERLAPPING = 12
MOST_TRIPLES = 3
STILL_OPEN = 2
"""The number of windows shown that are still open when the input ends."""


@dataclass(frozen=True, slots=True)
class TimelineElement:
    """`number` counts the elements of all streams, ordered by timestamp."""

    number: int
    time: int
    text: str


@dataclass(frozen=True, slots=True)
class StreamRow:
    stream: str
    label: str
    elements: tuple[TimelineElement, ...]


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """A window over the stream, and its number of elements at the end of the timeline."""

    span: Span
    text: str
    elements: int


@dataclass(frozen=True, slots=True)
class Bar:
    """The instants `[start, end)` at which an element with this timestamp is part of the content; None: no end."""

    time: int
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class WindowRow:
    """Spans for windows that close by the clock; for other windows, the validity of each element."""

    label: str
    rule: str
    stream: str
    spans: tuple[TimelineSpan, ...] = ()
    bars: tuple[Bar, ...] = ()
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """The evaluation instants under a policy: the policy of `dialects`, of the query itself (`is_own`), or both."""

    report: str
    dialects: tuple[str, ...]
    is_own: bool
    instants: tuple[int, ...]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """`first` and `last` are the first and last timestamps shown; `shown` of all `elements` are shown."""

    first: int
    last: int
    streams: tuple[StreamRow, ...]
    windows: tuple[WindowRow, ...]
    policies: tuple[PolicyRow, ...]
    elements: int
    shown: int

    @property
    def is_cut(self) -> bool:
        return self.shown < self.elements

    @property
    def own(self) -> PolicyRow:
        return next(row for row in self.policies if row.is_own)


def timeline(
    query: ast.Query,
    continuous: ContinuousQuery,
    settings: Settings,
    inputs: Inputs,
    windows: Sequence[WindowDescription],
    names: Names,
    scale: TimeScale,
    most_elements: int = MOST_ELEMENTS,
) -> Timeline | None:
    """None if the streams of the query have no elements."""
    streams = streams_read(continuous, inputs)
    shown = _beginning(streams, most_elements)
    cut = replace(inputs, streams=shown)
    end = max((element.time for elements in streams.values() for element in elements), default=None)
    sources = sources_of(continuous, cut, end)
    if sources.first is None or sources.last is None:
        return None
    rows = _stream_rows(shown, names)
    return Timeline(
        first=sources.first,
        last=sources.last,
        streams=rows,
        windows=_window_rows(sources, windows, scale),
        policies=_Policies(query, settings, cut, end, windows).rows(continuous),
        elements=sum(map(len, streams.values())),
        shown=sum(map(len, shown.values())),
    )


def sources_of(query: ContinuousQuery, inputs: Inputs, end: int | None) -> Sources:
    """The query's dataset bound to its inputs; the streams end at `end`, which may be later than the last one shown."""
    sources = Sources(query.dataset, inputs, matched_patterns(query.text))
    sources.windows = [replace(contents, stream_end_at=end) for contents in sources.windows]
    sources.matching = {key: replace(contents, stream_end_at=end) for key, contents in sources.matching.items()}
    return sources


def streams_read(query: ContinuousQuery, inputs: Inputs) -> dict[str, Sequence[Element]]:
    """The streams that the query reads; all streams if a window is over every stream."""
    names = list(query.dataset.streams)
    if any(window.stream is None for window in query.dataset.windows):
        names = list(dict.fromkeys([*names, *inputs.streams]))
    return {name: inputs.streams.get(name, ()) for name in names}


def _beginning(streams: Mapping[str, Sequence[Element]], most: int) -> dict[str, Sequence[Element]]:
    """Elements up to a timestamp: about `most` of them; elements with the same timestamp are never separated."""
    times = sorted(element.time for elements in streams.values() for element in elements)
    if len(times) <= most:
        return dict(streams)
    last = times[most - 1]
    return {name: [element for element in elements if element.time <= last] for name, elements in streams.items()}


# Elements


def _stream_rows(streams: Mapping[str, Sequence[Element]], names: Names) -> tuple[StreamRow, ...]:
    entries = [(element.time, position, name) for name in streams for position, element in enumerate(streams[name])]
    order = {name: place for place, name in enumerate(streams)}
    entries.sort(key=lambda entry: (entry[0], order[entry[2]], entry[1]))
    numbers = {(name, position): number for number, (_, position, name) in enumerate(entries, start=1)}
    rows = []
    for name, elements in streams.items():
        marks = [
            TimelineElement(numbers[name, position], element.time, _element_text(element, names))
            for position, element in enumerate(elements)
        ]
        rows.append(StreamRow(name, names.iri(name), tuple(sorted(marks, key=lambda mark: mark.number))))
    return tuple(rows)


def _element_text(element: Element, names: Names) -> str:
    shown = " . ".join(_triple_text(triple, names) for triple in element.triples[:MOST_TRIPLES])
    more = len(element.triples) - MOST_TRIPLES
    return f"{shown} … {more} more" if more > 0 else shown or "no triples"


def _triple_text(triple: Triple, names: Names) -> str:
    subject, object_ = _term_text(triple.subject, names), _term_text(triple.object, names)
    predicate = "a" if triple.predicate.value == RDF_TYPE else names.iri(triple.predicate.value)
    return f"{subject} {predicate} {object_}"


def _term_text(node: Node | Triple, names: Names) -> str:
    match node:
        case NamedNode():
            return names.iri(node.value)
        case OxigraphLiteral():
            return names.constant(Literal(node.value, node.datatype.value, node.language))
        case _:
            return str(node)


# Windows


def _window_rows(sources: Sources, windows: Sequence[WindowDescription], scale: TimeScale) -> tuple[WindowRow, ...]:
    contents_of: dict[int, list[WindowContents]] = {}
    positions = {id(window): number for number, window in enumerate(sources.dataset.windows)}
    for contents in [*sources.windows, *sources.matching.values()]:
        contents_of.setdefault(positions[id(contents.window)], []).append(contents)
    rows = []
    for number, window in enumerate(windows):
        by_stream: dict[str, list[WindowContents]] = {}
        for contents in contents_of.get(number, ()):
            by_stream.setdefault(contents.stream, []).append(contents)
        for stream, found in by_stream.items():
            rows.append(_window_row(window, stream, found, sources, scale))
    return tuple(rows)


def _window_row(
    window: WindowDescription, stream: str, contents: Sequence[WindowContents], sources: Sources, scale: TimeScale
) -> WindowRow:
    if isinstance(window.window, RangeWindow | PastWindow) and window.window.step is not None:
        spans, is_cut = _spans(window, contents[0], sources, scale)
        return WindowRow(window.label, window.rule, stream, spans=spans, is_cut=is_cut)
    bars = {
        Bar(occurrence.time, occurrence.valid.start, occurrence.valid.end): None
        for found in contents
        for occurrence in found.occurrences
    }
    kept = sorted(bars, key=lambda bar: (bar.start, bar.time))[:MOST_SPANS]
    return WindowRow(window.label, window.rule, stream, bars=tuple(kept), is_cut=len(kept) < len(bars))


def _spans(
    description: WindowDescription, contents: WindowContents, sources: Sources, scale: TimeScale
) -> tuple[tuple[TimelineSpan, ...], bool]:
    """The windows that close before the streams end, and the next ones; fewer if too many overlap."""
    assert sources.first is not None
    assert sources.last is not None
    window = description.window
    assert isinstance(window, RangeWindow | PastWindow)
    assert window.step is not None
    times = sorted(element.time for element in contents.elements)
    until = sources.last + STILL_OPEN * window.step
    first = first_closing_to_show(window, sources.first) if isinstance(window, RangeWindow) else sources.first
    closings = islice(window.closing_instants(times, first, max(first, until)), MOST_SPANS + 1)
    found = [_span(window, c) for c in closings]
    found = [span for span in found if span.opens < sources.last]
    overlapping = -(-_width(window) // window.step)
    most = MOST_OVERLAPPING if overlapping > MOST_OVERLAPPING else MOST_SPANS
    spans = tuple(
        TimelineSpan(
            span, _span_text(description, span, scale), sum(span.opens < time <= span.closes for time in times)
        )
        for span in found[:most]
    )
    return spans, len(found) > most


def _span_text(window: WindowDescription, span: Span, scale: TimeScale) -> str:
    """Omits the date if both ends are on the same day; the axis shows it."""
    text = window.span_texts([span], scale)[0].replace("\u00a0", " ")
    day, _, time = text.partition("T")
    return text if "T" in day or not time or "T" in time else f"{day[0]}{time}"


def _width(window: Window) -> int:
    assert isinstance(window, RangeWindow | PastWindow)
    return window.width if isinstance(window, RangeWindow) else window.start - window.end


def _span(window: RangeWindow | PastWindow, closing: int) -> Span:
    if isinstance(window, RangeWindow):
        return Span(closing - window.width, closing, closing)
    return Span(closing - window.start, closing - window.end, closing)


# Policies


@dataclass(frozen=True, slots=True)
class _Policies:
    """The same query and windows under different report policies."""

    query: ast.Query
    settings: Settings
    inputs: Inputs
    end: int | None
    windows: Sequence[WindowDescription]

    def rows(self, continuous: ContinuousQuery) -> tuple[PolicyRow, ...]:
        """The policy of the query, and the policies of the streaming dialects."""
        own = [window.report for window in continuous.dataset.windows]
        dialects: dict[ast.Report, list[str]] = {}
        for dialect in DIALECTS.values():
            if dialect.name != "sparql" or self.query.dialect == "sparql":
                dialects.setdefault(dialect.report, []).append(dialect.title)
        rows = []
        for report, titles in dialects.items():
            row = PolicyRow(report_text(report, "option"), tuple(titles), all(said == report for said in own), ())
            rows.append(self._with_instants(row, replace(self.settings, report=report)))
        if not any(row.is_own for row in rows):
            rows.insert(0, self._with_instants(PolicyRow(self._own_text(), (), True, ()), self.settings))
        return tuple(rows)

    def _own_text(self) -> str:
        """The policy that all windows share, or that some of them have."""
        said = {window.label: window.report for window in self.windows if window.report is not None}
        if len(set(said.values())) != 1:
            return "each window has its own"
        text = next(iter(said.values()))
        return text if len(said) == len(self.windows) else f"{text} of {', '.join(said)}"

    def _with_instants(self, row: PolicyRow, settings: Settings) -> PolicyRow:
        try:
            sources = sources_of(build(self.query, settings), self.inputs, self.end)
            return replace(row, instants=tuple(evaluation_instants(sources)))
        except PolicyError as error:
            return replace(row, problem=str(error))

"""Describes the windows of a query: the rule as a sentence, the first windows, the validity of an element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from penstock.algebra.model import Duplicates, StreamWindow
from penstock.algebra.windows import (
    AllWindow,
    CountWindow,
    Interval,
    NowWindow,
    PastWindow,
    RangeWindow,
    Window,
)
from penstock.explain.settings import SettingSource, SettingSources
from penstock.explain.times import TimeScale
from penstock.syntax.printer.reports import report_text
from penstock.syntax.translation.to_rspql import STREAMING_SPARQL_ORIGIN

HOW_MANY = 3
"""The number of windows shown; enough to see how they move."""


@dataclass(frozen=True, slots=True)
class Span:
    """One instance of a window: the timestamps in `(opens, closes]`, reported at the instant `at`."""

    opens: int
    closes: int
    at: int


@dataclass(frozen=True, slots=True)
class Sample:
    """An element and the instants `[start, end)` at which it is part of the content; None means never."""

    time: int
    valid: Interval | None
    is_from_data: bool


@dataclass(frozen=True, slots=True)
class WindowDescription:
    """One window of a query.

    `begins_at_boundary`: an element on a boundary belongs to the window that begins there (Streaming SPARQL), not to
    the window that ends there. `first_spans` begin at t0; `data_spans` begin with the first element of the stream, if
    there is data. A window without spans never closes, or closes when elements arrive.
    """

    number: int
    label: str
    name: str | None
    stream: str | None
    in_default_graph: bool
    rule: str
    rule_said_by: SettingSource
    sentence: str
    window: Window
    origin: int
    begins_at_boundary: bool
    report: str | None
    report_said_by: SettingSource
    duplicates: Duplicates
    first_spans: tuple[Span, ...]
    data_spans: tuple[Span, ...]
    sample: Sample

    def span_texts(self, spans: Sequence[Span], scale: TimeScale) -> list[str]:
        """`(0, 10m]`, or `[0, 10m)` if windows begin at boundaries; with a non-breaking space."""
        ends = [instant + self.begins_at_boundary for span in spans for instant in (span.opens, span.closes)]
        texts = scale.instants(ends)
        opening, closing = "[)" if self.begins_at_boundary else "(]"
        return [f"{opening}{o},\u00a0{c}{closing}" for o, c in zip(texts[::2], texts[1::2], strict=True)]

    def closing_texts(self, spans: Sequence[Span], scale: TimeScale) -> list[str]:
        """The instants at which windows close; the ends of windows if these are right-open."""
        return scale.instants([span.at + self.begins_at_boundary for span in spans])

    def validity_text(self, valid: Interval, scale: TimeScale) -> str:
        """A closed interval if its last instant is a closing instant, because readers recognise that instant."""
        if valid.end is None:
            return f"[{scale.instant(valid.start)}, …)"
        is_closed = isinstance(self.window, RangeWindow) and not self.begins_at_boundary
        start, end = scale.instants([valid.start, valid.end - is_closed])
        return f"[{start}, {end}{']' if is_closed else ')'}"


def describe_windows(
    windows: Sequence[StreamWindow],
    labels: Sequence[str],
    sources: Sequence[SettingSources],
    times: Mapping[str, Sequence[int]],
    scale: TimeScale,
) -> tuple[WindowDescription, ...]:
    """`times` are the sorted timestamps of each stream that has data."""
    return tuple(
        _description(number, window, label, said, _times_of(window, times), scale)
        for number, (window, label, said) in enumerate(zip(windows, labels, sources, strict=True), start=1)
    )


def _times_of(window: StreamWindow, times: Mapping[str, Sequence[int]]) -> list[int]:
    """The timestamps of the window's stream, or of all streams if the window is over every stream."""
    if window.stream is not None:
        return list(times.get(window.stream, ()))
    return sorted(time for of_stream in times.values() for time in of_stream)


def _description(
    number: int, window: StreamWindow, label: str, said: SettingSources, times: list[int], scale: TimeScale
) -> WindowDescription:
    begins_at_boundary = isinstance(window.window, RangeWindow) and window.window.origin == STREAMING_SPARQL_ORIGIN
    report = window.report
    return WindowDescription(
        number=number,
        label=label,
        name=window.name,
        stream=window.stream,
        in_default_graph=not window.is_named,
        rule=rule_text(window.window, scale, begins_at_boundary),
        rule_said_by=said.window,
        sentence=_sentence(window.window, scale, begins_at_boundary),
        window=window.window,
        origin=window.origin,
        begins_at_boundary=begins_at_boundary,
        report=None if report is None else report_text(report, "option"),
        report_said_by=said.report,
        duplicates=window.duplicates,
        first_spans=_spans(window.window, window.origin, ()),
        data_spans=_spans(window.window, max(times[0], window.origin), times) if times else (),
        sample=_sample(window.window, times),
    )


def rule_text(window: Window, scale: TimeScale, begins_at_boundary: bool = False) -> str:
    """`RANGE 10m STEP 1m`: the same spelling for all dialects, except SLIDE for Streaming SPARQL."""
    duration = scale.duration
    match window:
        case RangeWindow(width, step):
            return f"RANGE {duration(width)} {'SLIDE' if begins_at_boundary else 'STEP'} {duration(step)}"
        case PastWindow(start, 0, None):
            return f"RANGE {duration(start)}"
        case PastWindow(start, end, step):
            past = f"NOW - {duration(start)} TO NOW" + (f" - {duration(end)}" if end else "")
            return past if step is None else f"{past} STEP {duration(step)}"
        case CountWindow(size, step, matching):
            counted = f"ELEMENTS {size}" + (" MATCHING" if matching else "")
            return counted if step == 1 else f"{counted} STEP {step}"
        case NowWindow():
            return "NOW"
        case _:
            return "ALL"


def _sentence(window: Window, scale: TimeScale, begins_at_boundary: bool) -> str:
    duration = scale.duration
    match window:
        case RangeWindow(width, step) if begins_at_boundary:
            begin = "one after the other" if step == width else f"every {duration(step)}"
            spans = f"[b, b + {duration(width)}) for b = 0, {duration(step)} and so on"
            return f"Windows of {duration(width)} begin {begin}: {spans}"
        case RangeWindow(width, step):
            first, second = duration(width), scale.length(width + step)
            spans = f"(c - {first}, c] for c = t0 + {first}, t0 + {second} and so on"
            if step == width:
                return f"Windows of {first} follow one another: {spans}"
            gap = "; elements between two windows are in neither" if step > width else ""
            return f"Every {duration(step)} a window of {first} closes{gap}: {spans}"
        case PastWindow(start, end, step):
            past = f"t - {duration(end)}" if end else "t"
            content = f"At every instant t it contains the elements with timestamps in (t - {duration(start)}, {past}]"
            closing = "it never closes" if step is None else f"it closes at t0, t0 + {duration(step)} and so on"
            return f"{content}; {closing}"
        case CountWindow(size, step, matching):
            return _count_sentence(size, step, matching)
        case NowWindow():
            return "At every instant it contains the elements with exactly that timestamp; it never closes"
        case AllWindow():
            return "It contains all elements so far; it never closes"
        case _:
            raise TypeError(f"not a window: {window}")


def _count_sentence(size: int, step: int, matching: bool) -> str:
    elements = "element" if size == 1 else f"{size} elements"
    held = f"the last {elements} that match it" if matching else f"the last {elements} of the stream"
    content = f"For each triple pattern it contains {held}" if matching else f"It contains {held}"
    moves = "each new one" if step == 1 else f"every {step} new ones"
    return f"{content}; it closes after {moves}"


def _spans(window: Window, start: int, times: Sequence[int]) -> tuple[Span, ...]:
    """The first windows that close at `start` or later, for windows that close by the clock."""
    match window:
        case RangeWindow(width, step):
            first = first_closing_to_show(window, start)
            closings = window.closing_instants(times, first, first + width + HOW_MANY * step)
            return tuple(Span(c - width, c, c) for c in islice(closings, HOW_MANY))
        case PastWindow(begin, end, int(step)):
            closings = window.closing_instants(times, start, start + HOW_MANY * step)
            return tuple(Span(c - begin, c - end, c) for c in islice(closings, HOW_MANY))
        case _:
            return ()


def first_closing_to_show(window: RangeWindow, start: int) -> int:
    """The first closing instant to show, from `start` on; skips windows that would begin before 1970."""
    return start if window.begins or start < window.origin else max(start, window.origin + window.width)


def _sample(window: Window, times: Sequence[int]) -> Sample:
    if times and not (isinstance(window, CountWindow) and window.matching):
        return Sample(times[0], window.validity(times)[0], True)
    time = _sample_time(window)
    return Sample(time, window.validity([time])[0], False)


def _sample_time(window: Window) -> int:
    """An instant in the middle of the first step, or of the first window if windows are far apart."""

    match window:
        case RangeWindow(width, step, origin):
            return origin + 1 if min(width, step) < 2 else max(origin, 0) + min(width, step) // 2
        case PastWindow(start, _, step, origin):
            return origin + (step or start) // 2
        case _:
            return 1000

"""Draws the timeline, in the style of Figures 3 to 5 of the RSP-QL paper.

From top to bottom: each stream with its elements, the windows over it (for windows that do not close by the clock, the
validity of each element), the time axis, and a row of diamonds for each report policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.explain import svg
from penstock.explain.layout import Rectangle, Size
from penstock.explain.timeline import Bar, PolicyRow, StreamRow, Timeline, TimelineElement, TimelineSpan, WindowRow
from penstock.explain.times import TimeScale
from penstock.rdf.plurals import counted
from penstock.syntax.durations import DAY, HOUR, MINUTE, SECOND

GUTTER = 300.0
PLOT = 900.0
MARGIN = 30.0
RADIUS = 5.0
LEVEL = 2 * RADIUS + 1
ROW = 21.0
POLICY_ROW = 40.0
DIAMOND = 7.0
"""Instants closer together than this share a diamond."""

MOST_LEVELS = 8
MOST_LISTED = 40

_TICKS = (
    *(base * power for power in (1, 10, 100) for base in (1, 2, 5)),
    *(count * SECOND for count in (1, 2, 5, 10, 15, 30)),
    *(count * MINUTE for count in (1, 2, 5, 10, 15, 30)),
    *(count * HOUR for count in (1, 2, 3, 6, 12)),
    *(count * DAY for count in (1, 2, 7, 14, 30, 90, 365, 3650)),
)


@dataclass(frozen=True, slots=True)
class Axis:
    """Maps the instants `start … end` to the pixels of the plot."""

    start: int
    end: int

    def x(self, instant: float) -> float:
        return GUTTER + MARGIN + (instant - self.start) / (self.end - self.start) * (PLOT - 2 * MARGIN)

    def holds(self, instant: int) -> bool:
        return self.start <= instant <= self.end

    def step(self, scale: TimeScale) -> int:
        """The finest step between ticks whose labels do not touch."""
        room = PLOT - 2 * MARGIN
        for step in _TICKS:
            labels = [scale.tick(tick, step) for tick in self.ticks(step)[:200]]
            widest = max((svg.width_of(label, 11) for label in labels), default=0.0)
            if (self.end - self.start) / step <= 200 and step / (self.end - self.start) * room >= widest + 16:
                return step
        return _TICKS[-1]

    def ticks(self, step: int) -> Sequence[int]:
        first = -(-self.start // step) * step
        return range(first, self.end + 1, step)


def axis_of(timeline: Timeline) -> Axis:
    """From the first element to the last, extended to whole windows at both ends if there is room."""
    length = max(timeline.last - timeline.first, 1)
    spans = [span.span for row in timeline.windows for span in row.spans]
    starts = [span.opens for span in spans if timeline.first - length <= span.opens]
    ends = [span.closes for span in spans if span.closes <= timeline.last + length // 2]
    start, end = min([timeline.first, *starts]), max([timeline.last, *ends])
    if start == end:
        return Axis(start - 1, end + 1)
    return Axis(start, end)


class _Drawing:
    """Rows are added from top to bottom; the next one begins at `y`."""

    def __init__(self, timeline: Timeline, scale: TimeScale) -> None:
        self.timeline = timeline
        self.scale = scale
        self.axis = axis_of(timeline)
        self.parts: list[str] = []
        self.y = 0.0

    def label(self, y: float, content: str, classes: str = "", indent: float = 0.0) -> None:
        size = 11.0 if "small" in classes else svg.FONT_SIZE
        shown = svg.cut(content, int((GUTTER - 14 - indent) / svg.width_of("x", size)))
        self.parts.append(svg.text(indent, y, shown, classes, None if shown == content else content))


def picture(timeline: Timeline, scale: TimeScale) -> svg.Fragment:
    drawing = _Drawing(timeline, scale)
    windows = list(timeline.windows)
    for row in timeline.streams:
        _stream(drawing, row)
        for window in (window for window in windows if window.stream == row.stream):
            _window(drawing, window)
        drawing.y += 10
    _axis(drawing)
    top = drawing.y
    for policy in timeline.policies:
        _policy(drawing, policy)
    guides = _guides(drawing, top)
    body = "\n".join([guides, *drawing.parts])
    plot = svg.Fragment(Size(GUTTER + PLOT, drawing.y + 4), body)
    return svg.stacked([plot, *_notes(timeline, scale), _listing(timeline, scale)], 10)


# Streams and their elements


def _stream(drawing: _Drawing, row: StreamRow) -> None:
    """Draws elements as discs on the line of the stream; overlapping discs are stacked."""
    discs = _discs([(drawing.axis.x(element.time), element) for element in row.elements])
    highest = max((disc.level for disc in discs), default=0) + 1
    line = drawing.y + 18 + LEVEL * highest
    drawing.label(line + 4, f"stream {row.label}", "name")
    drawing.parts.append(svg.line(GUTTER, line, GUTTER + PLOT, line, "rule"))
    for disc in discs:
        element, y = disc.element, line - RADIUS - 0.5 - LEVEL * disc.level
        tooltip = f"{element.number}: {element.text}, at {drawing.scale.instant(element.time)}"
        mark = f'<circle cx="{svg.number(disc.x)}" cy="{svg.number(y)}" r="{RADIUS:g}" class="element"/>'
        drawing.parts.append(svg.titled(tooltip, mark))
    _number_discs(drawing, discs, line)
    drawing.y = line + 14


@dataclass(frozen=True, slots=True)
class Disc:
    x: float
    level: int
    element: TimelineElement


def _discs(marks: Sequence[tuple[float, TimelineElement]]) -> list[Disc]:
    """Places each disc on the lowest level with room; discs beyond the highest level share it."""
    taken: list[float] = []
    discs = []
    for x, element in marks:
        level = next((number for number, right in enumerate(taken) if x - right >= LEVEL), len(taken))
        level = min(level, MOST_LEVELS - 1)
        taken[level : level + 1] = [x]
        discs.append(Disc(x, level, element))
    return discs


def _number_discs(drawing: _Drawing, discs: Sequence[Disc], line: float) -> None:
    """Writes the numbers of elements above them if there is room."""
    bunches: list[list[Disc]] = []
    for disc in discs:
        if bunches and disc.x - bunches[-1][0].x < LEVEL:
            bunches[-1].append(disc)
        else:
            bunches.append([disc])
    free_from = GUTTER
    for position, bunch in enumerate(bunches):
        label = _numbers([disc.element.number for disc in bunch])
        x, half = (bunch[0].x + bunch[-1].x) / 2, svg.width_of(label, 11) / 2
        near = [disc for other in bunches[max(0, position - 1) : position + 2] for disc in other]
        beside = [disc for disc in near if abs(disc.x - x) < half + RADIUS]
        if x - half >= free_from:
            top = line - LEVEL * (max(disc.level for disc in [*bunch, *beside]) + 1)
            drawing.parts.append(svg.text(x, top - 4, label, "middle small quiet over"))
            free_from = x + half + 4


def _numbers(numbers: Sequence[int]) -> str:
    """`3`, `3,4`, `3–6`, or how many."""
    if len(numbers) < 3:
        return ",".join(map(str, numbers))
    return f"{numbers[0]}–{numbers[-1]}" if numbers[-1] - numbers[0] == len(numbers) - 1 else f"{len(numbers)}×"


# Windows


def _window(drawing: _Drawing, row: WindowRow) -> None:
    drawing.label(drawing.y + 12, f"{row.label}  {row.rule}", "streaming", 12)
    if row.spans:
        lines = _rows([(span.span.opens, span.span.closes) for span in row.spans])
        for span, line in zip(row.spans, lines, strict=True):
            _bracket(drawing, span, drawing.y + 4 + line * ROW)
    else:
        lines = _rows([(bar.start, bar.end) for bar in row.bars])
        for bar, line in zip(row.bars, lines, strict=True):
            _bar(drawing, bar, drawing.y + 4 + line * ROW)
    height = max(ROW * (max(lines, default=0) + 1), 34.0 if row.is_cut else ROW)
    if row.is_cut:
        drawing.label(drawing.y + 28, "… and so on; the first ones shown", "small quiet note", 12)
    drawing.y += height + 8


def _rows(intervals: Sequence[tuple[int, int | None]]) -> list[int]:
    """A row for each interval: the topmost row in which it does not overlap others."""
    ends: list[float] = []
    rows = []
    for start, end in intervals:
        row = next((number for number, taken in enumerate(ends) if taken <= start), len(ends))
        if row == len(ends):
            ends.append(0.0)
        ends[row] = float("inf") if end is None else end
        rows.append(row)
    return rows


def _bracket(drawing: _Drawing, span: TimelineSpan, y: float) -> None:
    """`(opens, closes]`; dashed if the window is still open at the end, without a tick where the picture cuts it."""
    axis, timeline = drawing.axis, drawing.timeline
    opens, closes = span.span.opens, span.span.closes
    is_cut_left, is_cut_right = opens < axis.start, closes > axis.end
    left = GUTTER if is_cut_left else axis.x(opens) + 1.5
    right = GUTTER + PLOT if is_cut_right else axis.x(closes) - 1.5
    start = f"M{svg.number(left)} {svg.number(y + 5)}" + ("" if is_cut_left else "m0 6l0 -6")
    end = f"L{svg.number(right)} {svg.number(y + 5)}" + ("" if is_cut_right else "l0 6")
    still_open = span.span.at > timeline.last
    parts = [svg.path(start + end, "bracket open" if still_open else "bracket")]
    shown = f"{span.text}: {_elements(span.elements)}"
    label = next((text for text in (shown, span.text) if svg.width_of(text, 11) + 12 <= right - left), None)
    if label is not None:
        parts.append(svg.text((left + right) / 2, y + 17, label, "middle small over"))
    tooltip = f"{shown}; still open when the input ends" if still_open else shown
    drawing.parts.append(svg.titled(tooltip, "".join(parts)))


def _elements(count: int) -> str:
    return counted(count, "element") if count else "empty"


def _bar(drawing: _Drawing, bar: Bar, y: float) -> None:
    axis, instant = drawing.axis, drawing.scale.instant
    left = axis.x(min(max(bar.start, axis.start), axis.end))
    right = GUTTER + PLOT if bar.end is None else min(axis.x(bar.end), GUTTER + PLOT)
    place = Rectangle(left, y + 2, max(right - left, 3.0), 9.0)
    end = "…" if bar.end is None else instant(bar.end)
    tooltip = f"the element at {instant(bar.time)} is in the content during [{instant(bar.start)}, {end})"
    drawing.parts.append(svg.titled(tooltip, svg.rectangle(place, "streaming box", 3)))


# The axis, and the instants under each policy


def _axis(drawing: _Drawing) -> None:
    axis, scale, y = drawing.axis, drawing.scale, drawing.y + 6
    step = axis.step(scale)
    drawing.label(y + 18, f"time ({scale.caption(axis.start, step)})", "quiet")
    parts = [svg.line(GUTTER, y, GUTTER + PLOT, y, "rule")]
    for tick in axis.ticks(step):
        x = axis.x(tick)
        parts.append(svg.line(x, y, x, y + 5, "rule"))
        parts.append(svg.text(x, y + 18, scale.tick(tick, step), "middle small quiet"))
    drawing.parts += parts
    drawing.y = y + 32


def _policy(drawing: _Drawing, row: PolicyRow) -> None:
    y, middle = drawing.y, drawing.y + POLICY_ROW / 2
    if row.is_own:
        place = Rectangle(0, y + 1, GUTTER + PLOT, POLICY_ROW - 2)
        drawing.parts.append(svg.rectangle(place, "band", 4))
    heading = ", ".join(row.dialects) or "this query"
    remark = f"this query: {row.report}" if row.is_own and row.dialects else row.report
    drawing.label(y + 16, heading, "own name" if row.is_own else "name", 8)
    drawing.label(y + 32, remark, "small quiet", 8)
    drawing.parts.append(svg.line(GUTTER, middle, GUTTER + PLOT, middle, "rule"))
    if row.problem is not None or not row.instants:
        drawing.parts.append(svg.text(GUTTER + 8, middle - 4, row.problem or "no evaluation", "small quiet note"))
    _diamonds(drawing, row, middle)
    drawing.y += POLICY_ROW


def _diamonds(drawing: _Drawing, row: PolicyRow, y: float) -> None:
    """Draws one diamond for each instant; instants that would touch share one, labelled with their number."""
    classes = "own diamond" if row.is_own else "diamond"
    bunches: list[list[int]] = []
    for instant in row.instants:
        if bunches and drawing.axis.x(instant) - drawing.axis.x(bunches[-1][0]) < DIAMOND:
            bunches[-1].append(instant)
        else:
            bunches.append([instant])
    middles = [drawing.axis.x((bunch[0] + bunch[-1]) / 2) for bunch in bunches]
    free_from = GUTTER
    for position, (x, bunch) in enumerate(zip(middles, bunches, strict=True)):
        parts = [_diamond(x, y, _diamond_size(middles, position), classes)]
        half = svg.width_of(str(len(bunch)), 9) / 2
        if len(bunch) > 1 and x - half >= free_from:
            parts.append(svg.text(x, y - 9, str(len(bunch)), "middle tiny quiet"))
            free_from = x + half + 2
        when = ", ".join(drawing.scale.instants(bunch[:MOST_LISTED]))
        drawing.parts.append(svg.titled(f"evaluated at {when}", "".join(parts)))


def _diamond_size(xs: list[float], position: int) -> float:
    """Half the width of a diamond, small enough that it does not touch its neighbours."""
    neighbours = xs[max(0, position - 1) : position] + xs[position + 1 : position + 2]
    nearest = min((abs(x - xs[position]) for x in neighbours), default=PLOT)
    return max(1.0, min(6.5, nearest / 2 - 0.5))


def _diamond(x: float, y: float, size: float, classes: str) -> str:
    s, t = svg.number(size), svg.number(max(size, 6.0))
    return svg.path(f"M{svg.number(x)} {svg.number(y - max(size, 6.0))}l{s} {t}l-{s} {t}l-{s} -{t}z", classes)


def _guides(drawing: _Drawing, top: float) -> str:
    """Draws lines up from the instants of the query, to show which windows close and which elements arrive there."""
    instants = drawing.timeline.own.instants
    if len(instants) > 40:
        return ""
    xs = [drawing.axis.x(instant) for instant in instants]
    bottom = top + POLICY_ROW * [row.is_own for row in drawing.timeline.policies].index(True) + POLICY_ROW / 2 - 7
    return "".join(svg.line(x, 8, x, bottom, "guide") for x in xs)


# Below: what was cut, and the elements in words


def _notes(timeline: Timeline, scale: TimeScale) -> list[svg.Fragment]:
    if not timeline.is_cut:
        return []
    until = scale.instant(timeline.last)
    note = f"The first {timeline.shown} of {timeline.elements} elements, up to {until}."
    return [svg.Fragment(Size(svg.width_of(note), 18), svg.text(0, 13, note, "note"))]


def _listing(timeline: Timeline, scale: TimeScale) -> svg.Fragment:
    """Lists the elements in two columns, with the numbers from the picture."""
    several = len(timeline.streams) > 1
    entries = sorted((element.number, element, row) for row in timeline.streams for element in row.elements)
    lines = []
    for _, element, row in entries[:MOST_LISTED]:
        stream = f"  ({row.label})" if several else ""
        lines.append(f"{element.number:>2}  {scale.instant(element.time)}  {element.text}{stream}")
    rows = -(-len(lines) // 2)
    parts = []
    column = (GUTTER + PLOT) / 2
    most = int((column - 20) / svg.width_of("x", 11))
    for position, content in enumerate(lines):
        x, y = column * (position // rows), 14 + 15 * (position % rows)
        shown = svg.cut(content, most)
        parts.append(svg.text(x, y, shown, "small quiet", None if shown == content else content))
    return svg.Fragment(Size(GUTTER + PLOT, 15.0 * rows + 6), "".join(parts))

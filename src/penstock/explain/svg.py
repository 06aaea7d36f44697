"""Pieces of an SVG picture: text that fits, boxes, curves; and the colours, for light and for dark surroundings."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from penstock.explain.layout import Point, Rectangle, Size

FONT_SIZE = 12.0
LINE_HEIGHT = 16.0
PADDING = 9.0
LONGEST_LINE = 54
"""Characters; a longer line is cut, and its tooltip has all of it."""

_CHARACTER = 0.61
"""The width of a character of a monospace font, in font sizes; the widest of the usual ones has 0.602."""

STYLE = """
.penstock { --paper: #ffffff; --ink: #1c2331; --quiet: #5d6778; --line: #aab3c2; --faint: #e7ebf1;
  --streaming: #2563c9; --streaming-fill: #e4eefc; --static: #2c7a4b; --static-fill: #e4f4e9;
  --result: #a05f00; --result-fill: #ffe9b8; --own: #c2410c; --own-fill: #fff1e8; }
@media (prefers-color-scheme: dark) {
  .penstock { --paper: #12161d; --ink: #e4e8ef; --quiet: #9aa5b6; --line: #5a6577; --faint: #262d39;
    --streaming: #78aefc; --streaming-fill: #17294a; --static: #6fcf97; --static-fill: #14301f;
    --result: #f0b95a; --result-fill: #47340f; --own: #ff9b5e; --own-fill: #3a2113; } }
svg.penstock text { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 12px;
  fill: var(--ink); white-space: pre; }
svg.penstock .heading { font-weight: 700; font-size: 15px; }
svg.penstock .name { font-weight: 700; }
svg.penstock .quiet { fill: var(--quiet); }
svg.penstock .small { font-size: 11px; }
svg.penstock .tiny { font-size: 9px; }
svg.penstock .over { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
svg.penstock .note { font-style: italic; }
svg.penstock .middle { text-anchor: middle; }
svg.penstock .end { text-anchor: end; }
svg.penstock .paper { fill: var(--paper); }
svg.penstock .box { stroke-width: 1.3; fill: var(--paper); stroke: var(--line); }
svg.penstock .streaming.box { fill: var(--streaming-fill); stroke: var(--streaming); }
svg.penstock .static.box { fill: var(--static-fill); stroke: var(--static); }
svg.penstock .result.box { fill: var(--result-fill); stroke: var(--result); }
svg.penstock .group { fill: none; stroke-width: 1.4; stroke-dasharray: 6 4; }
svg.penstock .streaming.group { stroke: var(--streaming); }
svg.penstock .static.group { stroke: var(--static); }
svg.penstock text.streaming { fill: var(--streaming); }
svg.penstock text.static { fill: var(--static); }
svg.penstock text.result { fill: var(--result); }
svg.penstock text.own { fill: var(--own); }
svg.penstock .edge { fill: none; stroke: var(--line); stroke-width: 1.4; }
svg.penstock .streaming.edge { stroke: var(--streaming); }
svg.penstock .static.edge { stroke: var(--static); }
svg.penstock .result.edge { stroke: var(--result); }
svg.penstock .dashed { stroke-dasharray: 4 3; }
svg.penstock .tip { stroke: none; fill: var(--line); }
svg.penstock .streaming.tip { fill: var(--streaming); }
svg.penstock .static.tip { fill: var(--static); }
svg.penstock .result.tip { fill: var(--result); }
svg.penstock .rule { stroke: var(--line); stroke-width: 1; fill: none; }
svg.penstock .guide { stroke: var(--own); stroke-width: 1; stroke-dasharray: 2 4; opacity: .55; }
svg.penstock .band { fill: var(--own-fill); }
svg.penstock .element { fill: var(--streaming); stroke: var(--paper); stroke-width: 1; }
svg.penstock .bracket { fill: none; stroke: var(--streaming); stroke-width: 1.6; }
svg.penstock .open { stroke-dasharray: 5 4; opacity: .65; }
svg.penstock .diamond { fill: var(--quiet); }
svg.penstock .own.diamond { fill: var(--own); }
""".strip()


def width_of(text: str, size: float = FONT_SIZE) -> float:
    """In pixels; characters of East Asian scripts are twice as wide."""
    return _columns(text) * _CHARACTER * size


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def cut(text: str, most: int = LONGEST_LINE) -> str:
    """The text, cut with `…` if it is too long."""
    line = text.replace("\n", " ")
    if _columns(line) <= most:
        return line
    kept = ""
    for character in line:
        if _columns(kept + character) > most - 1:
            break
        kept += character
    return kept.rstrip() + "…"


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a picture that fills `size`, its corner at (0, 0)."""

    size: Size
    body: str

    def moved(self, x: float, y: float) -> str:
        return f'<g transform="translate({number(x)} {number(y)})">{self.body}</g>'


def text(x: float, y: float, content: str, classes: str = "", tooltip: str | None = None) -> str:
    """`y` is the base line."""
    shown = escape(_visible(content))
    title = "" if tooltip is None else f"<title>{escape(_visible(tooltip))}</title>"
    marked = f" class={quoteattr(classes)}" if classes else ""
    return f'<text x="{number(x)}" y="{number(y)}"{marked}>{title}{shown}</text>'


def _visible(content: str) -> str:
    """XML has no control characters."""
    return "".join(c if c in "\t\n" or unicodedata.category(c) not in ("Cc", "Cs") else "\ufffd" for c in content)


def titled(tooltip: str | None, body: str) -> str:
    """The body in a group that shows `tooltip` when pointed at."""
    return body if tooltip is None else f"<g><title>{escape(_visible(tooltip))}</title>{body}</g>"


def rectangle(place: Rectangle, classes: str, radius: float = 5) -> str:
    return (
        f'<rect x="{number(place.left)}" y="{number(place.top)}" width="{number(place.width)}" '
        f'height="{number(place.height)}" rx="{number(radius)}" class="{classes}"/>'
    )


def path(commands: str, classes: str) -> str:
    return f'<path d="{commands}" class="{classes}"/>'


def line(x1: float, y1: float, x2: float, y2: float, classes: str) -> str:
    return path(f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}", classes)


def curve(points: Sequence[Point], classes: str, *, vertical: bool = False) -> str:
    """Through the points; where two differ both ways, an S that leaves and arrives level (or upright)."""
    x, y = points[0]
    commands = [f"M{number(x)} {number(y)}"]
    for next_x, next_y in points[1:]:
        if x == next_x or y == next_y:
            commands.append(f"L{number(next_x)} {number(next_y)}")
        elif vertical:
            middle = number((y + next_y) / 2)
            commands.append(f"C{number(x)} {middle} {number(next_x)} {middle} {number(next_x)} {number(next_y)}")
        else:
            middle = number((x + next_x) / 2)
            commands.append(f"C{middle} {number(y)} {middle} {number(next_y)} {number(next_x)} {number(next_y)}")
        x, y = next_x, next_y
    return path("".join(commands), classes)


def tip(x: float, y: float, direction: str, classes: str = "") -> str:
    """An arrow head that touches (x, y) and points up, left or right."""
    shapes = {"up": "l-4 8l8 0z", "right": "l-8 -4l0 8z", "left": "l8 -4l0 8z"}
    return path(f"M{number(x)} {number(y)}{shapes[direction]}", f"{classes} tip".strip())


# Boxes with a name and lines of text


@dataclass(frozen=True, slots=True)
class Label:
    """`heading` is bold; long or many `lines` are cut to fit."""

    heading: str
    lines: tuple[str, ...] = ()
    most_lines: int = 8

    @property
    def shown_heading(self) -> str:
        return cut(self.heading)

    @property
    def shown_lines(self) -> list[str]:
        if len(self.lines) <= self.most_lines:
            return [cut(line) for line in self.lines]
        rest = len(self.lines) - self.most_lines + 1
        return [*(cut(line) for line in self.lines[: self.most_lines - 1]), f"… {rest} more"]

    @property
    def size(self) -> Size:
        longest = max(map(width_of, [self.shown_heading, *self.shown_lines]))
        return Size(longest + 2 * PADDING, LINE_HEIGHT * (1 + len(self.lines[: self.most_lines])) + PADDING)

    @property
    def tooltip(self) -> str | None:
        """The full text, if part of it is cut."""
        is_whole = self.shown_heading == self.heading and self.shown_lines == list(self.lines)
        return None if is_whole else "\n".join([self.heading, *self.lines])


def box(place: Rectangle, label: Label, classes: str, radius: float = 5) -> str:
    """The label's text, left-aligned, in a rectangle of its size."""
    parts = [rectangle(place, f"{classes} box".strip(), radius)]
    y = place.top + PADDING / 2 + FONT_SIZE
    parts.append(text(place.left + PADDING, y, label.shown_heading, "name"))
    for shown in label.shown_lines:
        y += LINE_HEIGHT
        parts.append(text(place.left + PADDING, y, shown))
    return titled(label.tooltip, "".join(parts))


def document(fragment: Fragment, *, standalone: bool = True, label: str = "") -> str:
    """An `<svg>` element; a standalone one has its namespace, style and background."""
    width, height = number(fragment.size.width), number(fragment.size.height)
    opening = f'<svg class="penstock" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img"'
    if label:
        opening += f" aria-label={quoteattr(label)}"
    if not standalone:
        return f"{opening}>{fragment.body}</svg>"
    whole = Rectangle(0, 0, fragment.size.width, fragment.size.height)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'{opening} xmlns="http://www.w3.org/2000/svg">\n<style>\n{STYLE}\n</style>\n'
        f"{rectangle(whole, 'paper', 0)}\n{fragment.body}\n</svg>\n"
    )


def stacked(fragments: Sequence[Fragment], gap: float, margin: float = 0.0) -> Fragment:
    """Stacks fragments vertically."""
    parts, y, width = [], margin, 0.0
    for fragment in fragments:
        parts.append(fragment.moved(margin, y))
        y += fragment.size.height + gap
        width = max(width, fragment.size.width)
    height = y - (gap if fragments else 0) + margin
    return Fragment(Size(width + 2 * margin, height), "\n".join(parts))


def heading(content: str, remark: str = "") -> Fragment:
    """A heading, and a remark in grey below it."""
    parts = [text(0, 16, content, "heading")]
    width = width_of(content, 15.0)
    if remark:
        parts.append(text(0, 36, remark, "quiet"))
        width = max(width, width_of(remark))
    return Fragment(Size(width, 44.0 if remark else 24.0), "".join(parts))

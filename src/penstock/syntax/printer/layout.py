"""The layout of printed text: two spaces per level, closing braces on their own lines."""

from __future__ import annotations

from collections.abc import Sequence


def block(opening: str, lines: Sequence[str]) -> str:
    """`opening { … }` with its content one level deeper; each of `lines` may itself be several lines of text."""
    start = f"{opening} {{" if opening else "{"
    if not lines:
        return f"{start} }}"
    return "\n".join([start, *map(indented, lines), "}"])


def indented(text: str) -> str:
    """Indents every line of `text`; literals never contain line breaks, so no term changes."""
    return "\n".join(f"  {line}" for line in text.split("\n"))

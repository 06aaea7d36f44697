"""Limits for input that is read at once: larger input is skipped, so that memory stays bounded."""

from __future__ import annotations

from penstock.rdf.sizes import size_text

LONGEST_LINE = 32 << 20
"""In bytes; a term can be at most half as long."""

LARGEST_DOCUMENT = 128 << 20
"""In bytes, decompressed: input parsed as a whole, such as a JSON-LD document, a Turtle snapshot or a TriG graph."""

_LONGEST_SHOWN = 1 << 20
_BEGINNING = 200


def too_long() -> str:
    return f"the line is longer than {size_text(LONGEST_LINE)}: is a line end missing?"


def too_large(what: str) -> str:
    return (
        f"{what} is larger than {size_text(LARGEST_DOCUMENT)}, but must be read as a whole: split it into smaller ones"
    )


def shown(text: bytes) -> str:
    """Malformed input as text for a dead letter; long input is cut."""
    if len(text) > _LONGEST_SHOWN:
        return f"{text[:_BEGINNING].decode(errors='replace').strip()}…"
    return text.decode(errors="replace").strip()

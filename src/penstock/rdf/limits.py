"""How much of an input is read at a time, at most: what is longer is left out, and memory stays bounded."""

from __future__ import annotations

from penstock.rdf.sizes import size_text

LONGEST_LINE = 32 << 20
"""In bytes; a term cannot have more than half of it."""

LARGEST_DOCUMENT = 128 << 20
"""In bytes, unpacked: what is parsed as a whole, such as a JSON-LD document, a Turtle snapshot or a graph of TriG."""

_LONGEST_SHOWN = 1 << 20
_BEGINNING = 200


def too_long() -> str:
    return f"the line is longer than {size_text(LONGEST_LINE)}: is a line end missing?"


def too_large(what: str) -> str:
    return f"{what} is larger than {size_text(LARGEST_DOCUMENT)}, which is read as a whole: write several smaller ones"


def shown(text: bytes) -> str:
    """Input that is wrong, for a dead letter; of a long one the beginning."""
    if len(text) > _LONGEST_SHOWN:
        return f"{text[:_BEGINNING].decode(errors='replace').strip()}…"
    return text.decode(errors="replace").strip()

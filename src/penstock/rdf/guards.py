"""Rejects input that would break the RDF parsers: exploding entities and values nested too deeply.

An RDF/XML file of 1 KB can declare an entity of gigabytes. The memory of the JSON-LD parser grows with the square of
the nesting depth. Triples inside triples, some thousands deep, overflow the parser's stack. None of these can be
interrupted once the parser has started.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import BinaryIO, cast

from pyoxigraph import RdfFormat

from penstock.rdf.errors import ReadingError
from penstock.rdf.sizes import size_text

MOST_NESTED = 500
"""The limit for the nesting of JSON-LD arrays and objects."""

_MOST_TRIPLES_IN_TRIPLES = 1000

LARGEST_ENTITY = 1 << 10
"""The limit for the size of an expanded RDF/XML entity, in bytes; entities abbreviate namespaces."""

_FREE_EXPANSION = 16 << 20
_EXPANSION_PER_BYTE = 32
"""The limits for all entities together: a base size, plus a size for each byte read."""

_BLOCK = 1 << 16
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_ENTITY = re.compile(rb"""<!ENTITY\s+([^\s%&;"'<>]+)\s+(?:"([^"]*)"|'([^']*)')\s*>""")
_REFERENCE = re.compile(rb"&([^\s#&;]+);")
_NESTED = re.compile(rb"""(?:<<\(?(?:[^<>"']++|<[^<>"'\s]*+>)*+){%d}""" % _MOST_TRIPLES_IN_TRIPLES)

Look = Callable[[bytes], None]
"""Checks the next block of a text; the first block is at least 64 KiB. Raises ReadingError."""


def guarded(source: str | bytes | BinaryIO, format: RdfFormat) -> str | bytes | BinaryIO:
    """Returns the source with checks added. Raises ReadingError: for text at once, for a file while it is read."""
    look = _LOOKS.get(format, lambda: _look_at_triples)()
    if isinstance(source, str | bytes):
        look(source.encode() if isinstance(source, str) else source)
        return source
    return cast(BinaryIO, _Guarded(source, look))


class _Guarded(io.RawIOBase):
    def __init__(self, file: BinaryIO, look: Look) -> None:
        self._file, self._look = file, look
        self._seen = memoryview(b"")

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._seen:
            block = self._file.read(_BLOCK)
            self._look(block)
            self._seen = memoryview(block)
        size = len(self._seen) if size < 0 else size
        found, self._seen = self._seen[:size], self._seen[size:]
        return bytes(found)


def _look_at_triples(block: bytes) -> None:
    if block.count(b"<<") >= _MOST_TRIPLES_IN_TRIPLES and _NESTED.search(block):
        raise ReadingError("triples are nested inside triples too deeply to be read")


class _Nesting:
    """The nesting depth of JSON: open brackets outside of strings."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_in_string = False
        self._rest = b""

    def __call__(self, block: bytes) -> None:
        import numpy as np  # slow to load

        text = (self._rest + block).replace(b"\\\\", b"  ")
        self._rest = b"\\" if text.endswith(b"\\") else b""
        letters = np.frombuffer(text.removesuffix(self._rest).replace(b'\\"', b"  "), np.uint8)
        if not len(letters):
            return
        quotes = np.cumsum(letters == ord('"'), dtype=np.int64) + self._is_in_string
        self._is_in_string = bool(quotes[-1] & 1)
        bare = letters | 0x20  # [ and { differ in this bit alone, and so do ] and }
        steps = (bare == ord("{")).astype(np.int64) - (bare == ord("}"))
        steps[(quotes & 1) == 1] = 0
        depths = np.cumsum(steps) + self._depth
        self._depth = int(depths[-1])
        if depths.max() > MOST_NESTED:
            raise ReadingError(f"objects and arrays are nested more than {MOST_NESTED} deep")


class _Entities:
    """The sizes of the entities of RDF/XML, and how often they are used."""

    def __init__(self) -> None:
        self._sizes: dict[bytes, int] | None = None
        self._read = self._expanded = 0

    def __call__(self, block: bytes) -> None:
        if self._sizes is None:
            self._sizes = _sizes(_COMMENT.sub(b"", block))
        elif b"<!ENTITY" in block:
            raise ReadingError("an entity is declared too far from the start of the file")
        self._read += len(block)
        for name, size in self._sizes.items():
            self._expanded += block.count(b"&%b;" % name) * size
        if self._expanded > _FREE_EXPANSION + _EXPANSION_PER_BYTE * self._read:
            raise ReadingError(f"its entities expand to more than {size_text(self._expanded)}: write the text itself")


def _sizes(head: bytes) -> dict[bytes, int]:
    """The size of each entity in bytes. An entity may use the entities that are declared before it."""
    sizes: dict[bytes, int] = {}
    declared = _ENTITY.findall(head)
    if len(declared) != head.count(b"<!ENTITY"):
        raise ReadingError('an entity is not declared as <!ENTITY name "text">')
    for name, double, single in declared:
        value = double or single
        sizes[name] = len(value) + sum(sizes.get(used, 0) for used in _REFERENCE.findall(value))
        if sizes[name] > LARGEST_ENTITY:
            shown = name[:40].decode(errors="replace")
            raise ReadingError(
                f"the entity {shown} expands to more than {LARGEST_ENTITY} bytes: use entities for namespaces only"
            )
    return sizes


_LOOKS: dict[RdfFormat, Callable[[], Look]] = {RdfFormat.JSON_LD: _Nesting, RdfFormat.RDF_XML: _Entities}

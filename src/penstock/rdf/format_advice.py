"""Advice for files whose content does not match their ending: the likely format, a better name or an option.

The ending or `?format=` decides how a file is read. Its content is examined only after an error.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from penstock.rdf.compression import is_damage, open_bytes, uncompressed_name
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import SourceError

_LOOKED_AT = 1 << 14
"""The number of bytes at the start of a file that are examined."""
_MOST_LINES = 20


class Content(NamedTuple):
    """The likely content of a file: `ending` is the right file ending, if Penstock can read it; `timed`: a stream."""

    title: str
    ending: str | None = None
    is_timed: bool = False
    is_graph: bool = False


_TNT = Content("timestamped N-Triples", ".tnt", is_timed=True)
_CHANGES = Content("a graph that changes", ".changes", is_graph=True)
_NQUADS = Content("N-Quads", ".nq", is_timed=True, is_graph=True)
_NTRIPLES = Content("N-Triples", ".nt", is_graph=True)
_TURTLE = Content("Turtle", ".ttl", is_graph=True)
_TRIG = Content("TriG", ".trig", is_timed=True, is_graph=True)
_JSON_LD = Content("JSON-LD", ".jsonld", is_timed=True, is_graph=True)
_LINES_OF_JSON_LD = Content("JSON-LD, a document in each line", ".ndjson", is_timed=True)
_XML = Content("RDF/XML", ".rdf", is_graph=True)
_QUERY = Content("a SPARQL query")
_JSON = Content("JSON that is not JSON-LD")
_CSV = Content("CSV")
_HTML = Content("a web page (HTML)")
_UTF_16 = Content("UTF-16 text")
_PARQUET = Content("Parquet", ".parquet", is_graph=True)

_PACKED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}

_NODE = r"(?:<[^<>\s]*>|_:\S+)"
_LITERAL = r'"(?:[^"\\]|\\.)*"(?:\^\^<[^<>\s]*>|@[A-Za-z0-9-]+)?'
_TRIPLE = rf"{_NODE}\s+<[^<>\s]*>\s+(?:{_NODE}|{_LITERAL})"
_LINES: tuple[tuple[re.Pattern[str], Content], ...] = (
    (re.compile(rf"{_TRIPLE}\s+{_LITERAL}\s*\."), _TNT),
    (re.compile(rf"[AD]\s+{_TRIPLE}\s+{_LITERAL}\s*\."), _CHANGES),
    (re.compile(rf"{_TRIPLE}\s+{_NODE}\s*\."), _NQUADS),
    (re.compile(rf"{_TRIPLE}\s*\."), _NTRIPLES),
)
_DECLARATION = re.compile(r"@?(?:prefix|base)\s", re.IGNORECASE)
_STATEMENT = re.compile(r"(?:<[^<>\s]*>|_:\S+|[\w.-]*:\S*|\[)\s.*[.;,]")
_GRAPH = re.compile(r"(?:GRAPH\s+)?(?:<[^<>\s]*>|_:\S+|[\w.-]*:\S*)?\s*\{", re.IGNORECASE)
_FORM = re.compile(r"(?:SELECT|CONSTRUCT|ASK|DESCRIBE|REGISTER)\b", re.IGNORECASE)


class FormatAdvice:
    """Adds the likely format of the file to the report of malformed input, once per file."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, malformed: Malformed) -> Malformed:
        name, _, line = malformed.place.rpartition(":")
        name = name if line.isdecimal() else malformed.place
        if name in self._known:
            return malformed
        self._known.add(name)
        advice = _advice(Path(name), _for_a_stream)
        return malformed._replace(reason=malformed.reason + advice)


def graph_advice(path: str | Path) -> str:
    """Advice to add to the reason why a file is not a graph; empty if the content matches the ending."""
    return _advice(Path(path), _for_a_graph)


def looks_like(path: Path) -> Content | None:
    """The likely format of a file, by its start (decompressed if its ending says so); None if it is unclear."""
    try:
        with open_bytes(path) as file:
            head = file.read(_LOOKED_AT)
    except SourceError:
        return None
    except Exception as error:
        if not is_damage(error):
            raise
        return None
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _UTF_16
    if head.startswith(b"PAR1"):
        return _PARQUET
    text = head.decode(errors="replace").removeprefix("\ufeff")
    whole = text if len(head) < _LOOKED_AT else text.rpartition("\n")[0] or text
    lines = [line.strip() for line in whole.split("\n") if line.strip() and not line.lstrip().startswith("#")]
    return _content_of(lines[:_MOST_LINES], whole) if lines else None


def _content_of(lines: Sequence[str], text: str) -> Content | None:
    start = lines[0].casefold()
    if start.startswith(("<!doctype html", "<html")):
        return _HTML
    if start.startswith(("<?xml", "<rdf:rdf")):
        return _XML
    if re.match(r"\{\s*(\"|$)|\[\s*(\{|$)", lines[0]) and re.search(r'"[^"\n]*"\s*:', text):
        return _kind_of_json(lines, text)
    counts = Counter(content for line in lines for content in [_line_of(line)] if content is not None)
    if counts[_NQUADS]:  # some of whose lines may be triples
        counts[_NQUADS] += counts.pop(_NTRIPLES, 0)
    if counts:
        content, count = counts.most_common(1)[0]
        if 2 * count > len(lines):
            return content
    declared = any(map(_DECLARATION.match, lines))
    if any(map(_FORM.match, lines)) and (declared or _FORM.match(lines[0])):
        return _QUERY
    if declared or _STATEMENT.fullmatch(lines[0]) or _GRAPH.match(lines[0]):
        return _TRIG if any(map(_GRAPH.match, lines)) else _TURTLE
    return _CSV if _is_csv(lines) else None


def _line_of(line: str) -> Content | None:
    return next((content for pattern, content in _LINES if pattern.fullmatch(line)), None)


def _kind_of_json(lines: Sequence[str], text: str) -> Content:
    if not re.search(r'"@(context|graph|id|type)"', text):
        return _JSON
    is_of_lines = len(lines) > 1 and all(line.startswith("{") and line.endswith("}") for line in lines)
    return _LINES_OF_JSON_LD if is_of_lines else _JSON_LD


def _is_csv(lines: Sequence[str]) -> bool:
    """Whether all lines have the same number of fields, and more than one."""
    counts = [{line.count(separator) for line in lines} for separator in ",;\t"]
    return len(lines) > 1 and any(len(found) == 1 and found != {0} for found in counts)


# Advice


def _advice(path: Path, of_content: Callable[[Path, Content], str]) -> str:
    if not path.is_file():
        return ""
    packed = _packed_as(path)
    ending = path.suffix.lower()
    if ending in _PACKED.values():
        if packed != ending:
            unpacked = uncompressed_name(path).name
            return f"; the file is not {ending[1:]}: rename it to {unpacked if packed is None else unpacked + packed}"
    elif packed is not None:
        return f"; the file is compressed: rename it to {path.name}{packed}"
    found = looks_like(path)
    if found is None or found.ending == uncompressed_name(path).suffix.lower():
        return ""
    return f"; the file looks like {found.title}{of_content(path, found)}"


def _packed_as(path: Path) -> str | None:
    with path.open("rb") as file:
        head = file.read(4)
    return next((ending for magic, ending in _PACKED.items() if head.startswith(magic)), None)


def _for_a_stream(path: Path, found: Content) -> str:
    if found.is_timed:
        return f": rename it to {_renamed(path, found)}, or read it as {path}?format={(found.ending or '')[1:]}"
    if found.is_graph:
        return ", whose triples have no timestamps: pass a graph with --graph; each triple of a stream has a timestamp"
    return f", which is not a stream: {_CONVERSIONS.get(found, _OTHERWISE)}"


def _for_a_graph(path: Path, found: Content) -> str:
    if found.is_graph:
        return f": rename it to {_renamed(path, found)}"
    if found.is_timed:
        return ", which is a stream: pass it with --stream"
    return f", which is not a graph: {_CONVERSIONS.get(found, _OTHERWISE)}"


_OTHERWISE = "convert it to RDF first"
_CONVERSIONS = {
    _CSV: "convert it to RDF first, or read it as a table in Python, with the columns s, p, o, and ts of a stream",
    _HTML: "fetch the file itself",
    _QUERY: "did you mean another file?",
    _UTF_16: "save it as UTF-8",
}


def _renamed(path: Path, found: Content) -> str:
    """The name with the right ending, before the compression ending if there is one."""
    plain = uncompressed_name(path)
    return plain.with_suffix(found.ending or "").name + path.name.removeprefix(plain.name)

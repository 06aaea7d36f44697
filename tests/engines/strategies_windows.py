"""Random datasets: the windows of each dialect (semantics.md §3) over streams, graphs, and report policies (§5)."""

from __future__ import annotations

from dataclasses import dataclass

from tests.engines.strategies_expressions import Drawing
from tests.engines.strategies_patterns import DEFAULT_GRAPH, Place

STREAMS = (":s", ":t")
GRAPHS = (":g", ":h")
STRATEGIES = ("window-close", "non-empty", "content-change", "arrival", "periodic 3", "periodic 5")


@dataclass(frozen=True, slots=True)
class DatasetText:
    """`clauses` go before WHERE; `places` are where triples can be found, the streams more often than the graphs."""

    clauses: str
    places: tuple[Place, ...]
    must_read: tuple[Place, ...] = ()
    """Windows that the dialect wants to see read."""
    group_windows: tuple[str, ...] = ()
    """Of one stream: a window of a group over several streams at once is refused."""


class Datasets(Drawing):
    """One method for each dialect."""

    def dataset(self, dialect: str) -> DatasetText:
        graphs = self.graphs()
        makers = {
            "rspql": self.rspql, "csparql": self.csparql, "cqels": self.cqels, "sparqlstream": self.sparqlstream,
            "streaming-sparql": self.streaming_sparql, "sparql": self.sparql,
        }  # fmt: skip
        return makers[dialect](graphs)

    def graphs(self) -> DatasetText:
        """FROM and FROM NAMED, or neither: then every graph can be read."""
        clauses = [f"FROM {self.choose('', 'NAMED ')}{graph}" for graph in GRAPHS if self.chance(20)]
        places = [Place("GRAPH :g {{ {} }}"), Place("GRAPH ?g {{ {} }}", "?g")] if self.chance(40) else []
        return DatasetText(" ".join(dict.fromkeys(clauses)), tuple(places))

    def length(self) -> int:
        return self.choose(5, 1, 2, 3, 7, 8, 12)

    def size(self) -> int:
        return self.choose(3, 1, 2, 4, 5)

    def policy(self) -> str:
        """Strategies joined by & and |, some of them negated; windows that never stop reporting are fine here."""
        parts = self.several(lambda: self.choose("", "", "", "!") + self.choose(*STRATEGIES), 1, 3)
        text = parts[0]
        for part in parts[1:]:
            text = f"{text} {self.choose('&', '|')} {part}"
        return f"!({text})" if self.chance(10) else text

    # RSP-QL

    def rspql(self, graphs: DatasetText) -> DatasetText:
        named = [f":w{number}" for number in range(1, self.choose(1, 1, 2, 2, 3, 0) + 1)]
        windows = [self.rspql_window() for _ in named]
        clauses = [
            f"FROM NAMED WINDOW {name} ON {self.choose(*STREAMS)} [{window}]"
            for name, window in zip(named, windows, strict=True)
        ]
        places = [
            Place(f"WINDOW {name} {{{{ {{}} }}}}", holds_triples_alone="MATCHING" in window)
            for name, window in zip(named, windows, strict=True)
        ]
        unread = tuple(places)
        if not named or self.chance(30):
            clauses.append(f"FROM WINDOW ON STREAM {self.choose(*STREAMS)} [{self.rspql_window(may_match=False)}]")
            places += [DEFAULT_GRAPH, DEFAULT_GRAPH]
        else:
            places *= 2
            places.append(DEFAULT_GRAPH)
        if any(place.holds_triples_alone for place in places):
            return DatasetText(" ".join([graphs.clauses, *clauses]), tuple(places), unread)
        if named and self.chance(15):
            places.append(Place("WINDOW ?w {{ {} }}", "?w"))
        return DatasetText(" ".join([graphs.clauses, *clauses]), (*places, *graphs.places), unread)

    def rspql_window(self, *, may_match: bool = True) -> str:
        """`may_match`: whether it may count the matches of each triple pattern, as a named window can."""
        match self.choose("sliding", "sliding", "tumbling", "count", "count step", "matching", "now", "all", "past"):
            case "tumbling":
                window = f"RANGE {self.length()}ms"
            case "count":
                window = f"ELEMENTS {self.size()}"
            case "count step":
                window = f"ELEMENTS {self.size()} STEP {self.size()}"
            case "matching":
                window = f"ELEMENTS {self.size()}{' MATCHING' if may_match and self.chance(50) else ''}"
            case "now":
                window = "NOW"
            case "all":
                window = "ALL"
            case "past":
                end = self.choose(0, 2, 3)
                window = f"FROM NOW-{end + self.length()}ms TO NOW-{end}ms"
                window += self.choose("", f" STEP {self.length()}ms")
            case _:
                window = f"RANGE {self.length()}ms STEP {self.length()}ms"
        if self.chance(25):
            window += f" REPORT {self.policy()}"
        if self.chance(15):
            window += f" ORIGIN {self.choose(3, 0, -2, 10)}"
        if self.chance(20):
            window += f" DUPLICATES {self.choose('SET', 'BAG')}"
        return window

    # C-SPARQL: one window a stream

    def csparql(self, graphs: DatasetText) -> DatasetText:
        clauses, places, unread = [graphs.clauses], [DEFAULT_GRAPH], []
        for stream in self.choose((":s",), (":t",), STREAMS):
            match self.choose("sliding", "sliding", "tumbling", "count"):
                case "sliding":
                    window = f"RANGE {self.length()}ms STEP {self.length()}ms"
                case "tumbling":
                    window = f"RANGE {self.length()}ms TUMBLING"
                case _:
                    window = f"RANGE TRIPLES {self.size()}"
            is_named = self.chance(20)
            clauses.append(f"FROM {'NAMED ' if is_named else ''}STREAM {stream} [{window}]")
            block = Place(f"GRAPH {stream} {{{{ {{}} }}}}")
            if is_named:
                unread.append(block)
            if is_named or self.chance(30):
                places.append(block)
            else:
                places.append(DEFAULT_GRAPH)
        return DatasetText(" ".join(clauses), (*places, *graphs.places), tuple(unread))

    # CQELS: windows are where they are read

    def cqels(self, graphs: DatasetText) -> DatasetText:
        places = [self._cqels_block() for _ in range(self.choose(1, 2, 3))]
        static = [DEFAULT_GRAPH] if self.chance(40) else []
        return DatasetText(graphs.clauses, (*places, *places, *static, *graphs.places), (places[0],))

    def _cqels_block(self) -> Place:
        match self.choose("range", "range", "slide", "tumbling", "triples", "now", "all"):
            case "range":
                window = f"RANGE {self.length()}ms"
            case "slide":
                window = f"RANGE {self.length()}ms SLIDE {self.length()}ms"
            case "tumbling":
                window = f"RANGE {self.length()}ms TUMBLING"
            case "triples":
                window = f"TRIPLES {self.size()}"
            case "now":
                window = "NOW"
            case _:
                window = "ALL"
        stream = self.choose(*STREAMS) if not self.chance(5) else "?g"
        variable = stream if stream == "?g" else None
        return Place(f"STREAM {stream} [{window}] {{{{ {{}} }}}}", variable)

    # SPARQLstream

    def sparqlstream(self, graphs: DatasetText) -> DatasetText:
        clauses, places, unread = [graphs.clauses], [DEFAULT_GRAPH], []
        for stream in self.choose((":s",), (":t",), STREAMS):
            is_named = self.chance(40)
            clauses.append(f"FROM {'NAMED ' if is_named else ''}STREAM {stream}{self._past_window()}")
            if is_named and self.chance(60):
                unread.append(Place(f"STREAM {stream} {{{{ {{}} }}}}"))
                places.append(unread[-1])
            else:
                places.append(DEFAULT_GRAPH)
        if not unread and self.chance(15):
            window = self._past_window() or " [TRIPLES 2]"
            places.append(Place(f"STREAM {self.choose(*STREAMS)}{window} {{{{ {{}} }}}}"))
        return DatasetText(" ".join(clauses), (*places, *graphs.places), tuple(unread))

    def _past_window(self) -> str:
        match self.choose("past", "past", "slide", "slide", "triples", "all", "now"):
            case "all":
                return ""
            case "now":
                return " [NOW]"
            case "triples":
                return f" [TRIPLES {self.size()}]"
            case "slide":
                slide = f" SLIDE {self.length()} MS"
            case _:
                slide = ""
        end = self.choose(0, 0, 2, 3)
        to = self.choose("", " TO NOW") if end == 0 else f" TO NOW - {end} MS"
        return f" [NOW - {end + self.length()} MS{to}{slide}]"

    # Streaming SPARQL: windows of FROM STREAM, and of groups

    def streaming_sparql(self, graphs: DatasetText) -> DatasetText:
        clauses, places, unread = [graphs.clauses], [DEFAULT_GRAPH], []
        for stream in self.choose((":s",), (":t",), STREAMS):
            is_named = self.chance(20)
            clauses.append(f"FROM {'NAMED ' if is_named else ''}STREAM {stream} {self.streaming_sparql_window()}")
            if is_named:
                unread.append(Place(f"GRAPH {stream} {{{{ {{}} }}}}"))
                places.append(unread[-1])
            else:
                places.append(DEFAULT_GRAPH)
        has_one_stream = len(places) == 2 and not unread
        windows = tuple(self.several(self.streaming_sparql_window, 1, 2)) if has_one_stream and self.chance(50) else ()
        return DatasetText(" ".join(clauses), (*places, *graphs.places), tuple(unread), windows)

    def streaming_sparql_window(self) -> str:
        width = self.length()
        match self.choose("slide", "slide", "one", "fixed", "elems"):
            case "slide":
                return f"WINDOW RANGE {width} SLIDE {self.choose(width, *range(1, width + 1))}"
            case "one":
                return f"WINDOW RANGE {width} MS SLIDE"
            case "fixed":
                return f"WINDOW RANGE {width} FIXED"
        return f"WINDOW ELEMS {self.size()}"

    # SPARQL over a stream: every stream is part of the default graph

    def sparql(self, graphs: DatasetText) -> DatasetText:
        return DatasetText(graphs.clauses, (DEFAULT_GRAPH, DEFAULT_GRAPH, *graphs.places))

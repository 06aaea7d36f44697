"""Evaluations as tables for a terminal."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Mapping

import pyarrow as pa
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from penstock.rdf.elements import Node
from penstock.rdf.instants import instant_text
from penstock.rdf.plurals import counted
from penstock.rdf.printable import escaped
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.rdf.term_columns import TEXT
from penstock.rdf.vocabulary import XSD, XSD_STRING
from penstock.sinks.shortening import Shortening, is_without_quotes

_WIDTH_OF_A_FILE = 120


class ResultTables:
    """A table for each evaluation, its instant above it; in colour and as wide as the terminal, if it is one.

    `has_names`: the name of the query is above it, too.
    """

    def __init__(self, prefixes: Mapping[str, str], is_terminal: bool, has_names: bool = False) -> None:
        self._shortening = Shortening(prefixes)
        self._is_terminal = is_terminal
        self._has_names = has_names

    def beginning(self, variables: tuple[str, ...]) -> str:
        return ""

    def texts(self, batch: ResultBatch) -> pa.Array:
        return pa.array(map(self._text, batch.evaluations()), TEXT)

    def _text(self, evaluation: Evaluation) -> str:
        console = self._console()
        console.print(self._title(evaluation))
        if evaluation.rows is not None:
            if evaluation.rows and evaluation.variables:
                console.print(self._solutions(evaluation))
        elif evaluation.triples:
            console.print(self._triples(evaluation))
        console.print()
        written = console.file
        assert isinstance(written, io.StringIO)
        return "\n".join(line.rstrip() for line in written.getvalue().split("\n"))

    def _console(self) -> Console:
        width = shutil.get_terminal_size().columns if self._is_terminal else _WIDTH_OF_A_FILE
        return Console(
            file=io.StringIO(), width=width, force_terminal=self._is_terminal, highlight=False, legacy_windows=False
        )

    def _title(self, evaluation: Evaluation) -> Text:
        summary = (f"  {_summary(evaluation)}", _style_of_summary(evaluation))
        name = (f"{evaluation.query}  ", "bold cyan") if self._has_names else ""
        return Text.assemble(name, (instant_text(evaluation.time), "bold"), summary)

    def _solutions(self, evaluation: Evaluation) -> Table:
        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False, show_edge=False)
        columns = zip(*(evaluation.rows or ()), strict=True)
        for name, column in zip(evaluation.variables or (), columns, strict=True):
            table.add_column(name, justify="right" if _are_numbers(column) else "left", overflow="fold")
        for row in evaluation.rows or ():
            table.add_row(*(Text("–", style="dim") if term is None else self._term(term) for term in row))
        return table

    def _triples(self, evaluation: Evaluation) -> Table:
        table = Table.grid(padding=(0, 1), pad_edge=False)
        for _ in range(3):
            table.add_column(overflow="fold")
        for triple in evaluation.triples or ():
            table.add_row(*(self._term(term) for term in (triple.subject, triple.predicate, triple.object)))
        return table

    def _term(self, term: Node | Triple) -> Text:
        if isinstance(term, NamedNode):
            return Text(escaped(self._shortening.iri(term.value)), style="cyan")
        if isinstance(term, BlankNode):
            return Text(escaped(str(term)), style="magenta")
        if not isinstance(term, Literal):
            return Text(escaped(str(term)))
        is_plain = is_without_quotes(term) or _is_whole_decimal(term)
        shown = Text(escaped(term.value).replace("\t", "␉"), style="green" if is_plain else "")
        if term.language is not None:
            shown.append(f" @{term.language}", style="dim")
        elif term.datatype.value not in _KNOWN_BY_SIGHT and not is_plain:
            shown.append(f" ^^{escaped(self._shortening.iri(term.datatype.value))}", style="dim")
        return shown


_KNOWN_BY_SIGHT = frozenset((XSD_STRING, XSD + "dateTime", XSD + "date", XSD + "time"))
_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float", "int", "long"))


def _is_whole_decimal(literal: Literal) -> bool:
    """It looks like an integer, and is worth as much: a column of sums looks the same throughout."""
    return literal.datatype.value == XSD + "decimal" and _WHOLE.fullmatch(literal.value) is not None


def _summary(evaluation: Evaluation) -> str:
    if evaluation.boolean is not None:
        return "yes" if evaluation.boolean else "no"
    count, name = (
        (len(evaluation.triples or ()), "triple") if evaluation.rows is None else (len(evaluation.rows), "solution")
    )
    return counted(count, name) if count else f"no {name}s"


def _style_of_summary(evaluation: Evaluation) -> str:
    return {True: "bold green", False: "bold red", None: "dim"}[evaluation.boolean]


def _are_numbers(column: tuple[Node | None, ...]) -> bool:
    terms = [term for term in column if term is not None]
    return bool(terms) and all(isinstance(term, Literal) and term.datatype.value in _NUMBERS for term in terms)

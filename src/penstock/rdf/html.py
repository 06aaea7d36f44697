"""Evaluations as small tables for notebooks, in the notebook's own style."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.rdf.elements import Node
from penstock.rdf.instants import instant_text
from penstock.rdf.printable import escaped

if TYPE_CHECKING:
    from penstock.rdf.results import Evaluation

MOST_ROWS = 20
"""Longer tables are cut."""


def evaluation_html(evaluation: Evaluation) -> str:
    """The instant, and the solutions, triples or boolean."""
    if evaluation.boolean is not None:
        return _captioned(evaluation, "yes" if evaluation.boolean else "no", "")
    if evaluation.rows is not None:
        rows: Sequence[Sequence[Node | Triple | None]] = evaluation.rows
        heads, noun = evaluation.variables or (), "solution"
    else:
        rows = [(triple.subject, triple.predicate, triple.object) for triple in evaluation.triples or ()]
        heads, noun = ("subject", "predicate", "object"), "triple"
    count = f"{len(rows) or 'no'} {noun}{'' if len(rows) == 1 else 's'}"
    left = f"<p><em>… and {len(rows) - MOST_ROWS} more</em></p>" if len(rows) > MOST_ROWS else ""
    cells = ([_cell(term) for term in row] for row in rows[:MOST_ROWS])
    return _captioned(evaluation, count, (table_html(heads, cells) if rows else "") + left)


def table_html(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are HTML, heads are text."""
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"


def _captioned(evaluation: Evaluation, summary: str, body: str) -> str:
    return f"<div><p><b>{escape(instant_text(evaluation.time))}</b> {escape(summary)}</p>{body}</div>"


def _cell(term: Node | Triple | None) -> str:
    if term is None:
        return ""
    if isinstance(term, NamedNode):
        return f"<code>&lt;{escape(escaped(term.value))}&gt;</code>"
    if isinstance(term, Literal):
        language = "" if term.language is None else f" <small>@{escape(term.language)}</small>"
        return escape(escaped(term.value)) + language
    return f"<code>{escape(escaped(str(term)))}</code>" if isinstance(term, BlankNode) else escape(escaped(str(term)))

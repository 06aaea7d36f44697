"""`penstock check`: whether queries are valid, their dialects, and the streams they read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import click

from penstock.cli.messages import show_error, show_problems
from penstock.cli.options import reading_options
from penstock.cli.query_summary import details, form_word, headline, registered_name, streams_read
from penstock.cli.query_text import NoQueryError, name_of, read_source
from penstock.rdf.plurals import counted
from penstock.syntax import ast
from penstock.syntax.errors import Problem, QuerySyntaxError, locate
from penstock.syntax.query_reader import read
from penstock.syntax.recognition import TITLES, recognise
from penstock.syntax.spans import NOWHERE
from penstock.syntax.tokens import tokenize


@dataclass(frozen=True, slots=True)
class Finding:
    """The result for one QUERY: `query` is None if it is invalid, `text` if it cannot be read."""

    name: str
    text: str | None
    dialect: ast.DialectName | None
    problems: tuple[Problem, ...]
    query: ast.Query | None = None


@click.command(
    epilog="""
    \b
    Examples:
      penstock check query.rq
      penstock check examples/*/query.rq --format json
      cat query.rq | penstock check - --prefix ex=http://example.org/

    Exit status: 0 when every query is fine, else 2. Warnings do not change it.
    """
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@reading_options
@click.option(
    "--format",
    "output_format",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="Print text, or a line of JSON for each query.",
)
@click.pass_context
def check(
    context: click.Context,
    queries: tuple[str, ...],
    reading: Mapping[str, Any],
    output_format: str,
) -> None:
    """Show the dialect of a query and its mistakes.

    QUERY is a file, or - for standard input; there may be several. For a valid query, its form, streams and windows are
    shown. Errors and warnings are written to standard error, with line, column and, if there is one, a suggestion.
    """
    show = _FORMATS[output_format]
    all_fine = True
    for query in queries:
        finding = _examine(query, reading)
        click.echo(show(finding))
        all_fine = all_fine and finding.query is not None
    context.exit(0 if all_fine else 2)


def _examine(query: str, options: Mapping[str, Any]) -> Finding:
    """Reads a query and shows its problems."""
    name = name_of(query)
    try:
        text = read_source(query)
    except NoQueryError as error:
        show_error(name, error.message, error.hint)
        return Finding(name, None, None, (Problem(error.message, NOWHERE, error.hint),))
    try:
        reading = read(text, **options)
    except QuerySyntaxError as error:
        show_problems(error.problems, text, name)
        return Finding(name, text, _dialect_meant(text, options["dialect"]), error.problems)
    show_problems(reading.warnings, text, name)
    return Finding(name, text, reading.query.dialect, reading.warnings, reading.query)


def _dialect_meant(text: str, dialect: str) -> ast.DialectName | None:
    """The dialect of a query that is wrong; None for a mixture."""
    for name in TITLES:
        if name == dialect:
            return name
    try:
        return recognise(tokenize(text))
    except QuerySyntaxError:
        return None


def _as_text(finding: Finding) -> str:
    if finding.text is None:
        return f"{finding.name}: not read"
    words = [] if finding.dialect is None else [TITLES[finding.dialect]]
    if finding.query is None:
        return f"{finding.name}: {', '.join([*words, counted(len(finding.problems), 'error')])}"
    words += [headline(finding.query), "ok"]
    if finding.problems:
        words.append(counted(len(finding.problems), "warning"))
    return "\n  ".join([f"{finding.name}: {', '.join(words)}", *details(finding.query)])


def _as_json(finding: Finding) -> str:
    query = finding.query
    record = {
        "file": finding.name,
        "dialect": finding.dialect,
        "ok": query is not None,
        "problems": [_problem_record(problem, finding.text) for problem in finding.problems],
        "form": None if query is None else form_word(query),
        "operator": None if query is None else query.operator,
        "registered": None if query is None else registered_name(query),
        "streams": [] if query is None else [asdict(read) for read in streams_read(query)],
    }
    return json.dumps(record, ensure_ascii=False)


def _problem_record(problem: Problem, text: str | None) -> Mapping[str, str | int | None]:
    """Lines and columns count from 1, `start` and `end` from 0 in characters; the ends are exclusive."""
    record = {"severity": problem.severity, "message": problem.message, "hint": problem.hint}
    if text is None:
        return record | dict.fromkeys(("line", "column", "end_line", "end_column", "start", "end"))
    start, end = problem.span
    line, column, _ = locate(text, start)
    end_line, end_column, _ = locate(text, end)
    place = {"line": line, "column": column, "end_line": end_line, "end_column": end_column}
    return record | place | {"start": start, "end": end}


_FORMATS: dict[str, Callable[[Finding], str]] = {"text": _as_text, "json": _as_json}

"""`penstock translate`: the same query in another dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from penstock.api.language import printed
from penstock.cli.errors import errors_shown
from penstock.cli.messages import show, show_problems
from penstock.cli.options import dialect_name, reading_options
from penstock.cli.query_text import name_of, read_source, write_file
from penstock.syntax import ast
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.errors import TranslationError
from penstock.syntax.query_reader import read
from penstock.syntax.recognition import TITLES
from penstock.syntax.translation import translate as translate_query


@click.command(
    epilog="""
    \b
    Examples:
      penstock translate query.rq --to rspql
      penstock translate query.rq --to cqels --approximate --out query.cqels.rq
      cat query.rq | penstock translate - --to csparql

    Exit status: 0 when the query is translated, 2 when it is wrong or the dialect cannot express it.
    """
)
@click.argument("query")
@click.option(
    "--to",
    type=dialect_name,
    required=True,
    metavar="DIALECT",
    help=f"The dialect to translate to: {', '.join(DIALECTS)}.",
)
@click.option(
    "--approximate",
    is_flag=True,
    help="Approximate what the dialect cannot express, and list every difference on standard error.",
)
@click.option("--out", metavar="FILE", default="-", help="Write the translation to FILE, not to standard output.")
@reading_options
@click.pass_context
def translate(
    context: click.Context,
    query: str,
    to: ast.DialectName,
    approximate: bool,
    out: str,
    reading: Mapping[str, Any],
) -> None:
    """Print a query in another dialect, with the same meaning.

    QUERY is a file, or - for standard input. If the other dialect cannot express a part of the query, nothing is
    printed, and standard error lists each such part. RSP-QL can express the most.
    """
    name = name_of(query)
    with errors_shown(name):
        text = read_source(query)
        found = read(text, **reading, any_function=True)
        show_problems(found.warnings, text, name)
    try:
        translation = translate_query(found.query, to, approximate=approximate)
    except TranslationError as error:
        message = f"{error.target} cannot express this query, because of"
        show(name, "error", message, error.reasons, _way_out(found.query, to))
        context.exit(2)
    if translation.differences:
        message = f"this is an approximation, because {TITLES[to]} cannot express"
        show(name, "warning", message, translation.differences)
    printed_text = printed(translation.query, reading["prefixes"])
    if out == "-":
        click.echo(printed_text, nl=False)
    else:
        write_file(out, printed_text)


def _way_out(query: ast.Query, to: ast.DialectName) -> str | None:
    """The remedy if `to` cannot express a query."""
    if _can_translate(query, to, approximate=True):
        return "--approximate translates it all the same, and lists the differences"
    if _can_translate(query, "rspql"):
        return "RSP-QL can express it: --to rspql"
    return None


def _can_translate(query: ast.Query, to: ast.DialectName, *, approximate: bool = False) -> bool:
    try:
        translate_query(query, to, approximate=approximate)
    except TranslationError:
        return False
    return True

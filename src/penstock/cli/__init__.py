"""The command line: `penstock demo`, `check`, `translate`, `explain`, `run`, `oracle`, `verify`, `bench`.

Standard output carries results only; messages go to standard error. Exit status: 0 done; 1 a run that
failed; 2 a query, option or input that is wrong; 3 an answer that is wrong; 130 after Ctrl-C.
"""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper
from typing import NoReturn

import click

from penstock import __version__
from penstock.cli.command_group import Commands
from penstock.cli.messages import show_error

INTERRUPTED = 130


@click.group(
    cls=Commands,
    summaries={
        "demo": "Run a continuous query over a bundled stream and city graph.",
        "check": "Show the dialect of a query and its mistakes.",
        "translate": "Print a query in another dialect, with the same meaning.",
        "explain": "Show when results appear and why.",
        "run": "Run continuous queries over bounded or live streams.",
        "oracle": "Print the reference answer, or check recorded results.",
        "verify": "Compare an engine with the oracle.",
        "bench": "Run the papers' experiments, also against other engines.",
    },
    epilog="""
    \b
    Examples:
      penstock demo
      penstock check examples/*/query.rq
      penstock translate query.rq --to rspql
      penstock run query.rq --stream toll.tnt --graph city.ttl
      penstock explain query.rq --stream toll.tnt --format html --out query.html

    `penstock COMMAND --help` describes a command. Exit status: 0 success, 1 a failed run, 2 an invalid query, option or
    input, 3 a wrong answer.
    """,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def commands() -> None:
    """Run continuous SPARQL queries over RDF streams, in six dialects: RSP-QL, C-SPARQL, CQELS-QL, SPARQLstream,
    Streaming SPARQL, and plain SPARQL over a stream."""


def main() -> NoReturn:
    """The command `penstock`: runs it on the arguments of the process, and ends the process."""
    if isinstance(sys.stdout, TextIOWrapper):
        # Queries are UTF-8 whatever the locale; only an escape can produce a lone surrogate, which is written as one.
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    # A garbage collection for every 700 new objects slows down the start: modules are full of objects that stay.
    gc.set_threshold(50_000, 20, 20)
    sys.exit(_run())


def _run() -> int:
    try:
        return int(commands.main(prog_name="penstock", standalone_mode=False) or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        show_error("penstock", "interrupted")
        return INTERRUPTED
    except OSError as error:
        show_error("penstock", error.strerror or str(error))
    except Exception as error:
        from traceback import extract_tb  # slow to load, and hardly ever needed

        place = extract_tb(error.__traceback__)[-1]
        what = f"{type(error).__name__}: {error} ({place.filename}, line {place.lineno})"
        show_error("penstock", what, "this is a mistake in Penstock, not yours; please report it with your query")
    return 1

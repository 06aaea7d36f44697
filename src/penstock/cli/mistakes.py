"""What a user got wrong, told in a sentence: the query, an option, an input. Exit status 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from penstock.algebra.inputs import InputError
from penstock.algebra.reports import PolicyError
from penstock.cli.messages import show, show_error, show_problems
from penstock.cli.sources import NoQueryError
from penstock.rdf import errors as rdf_errors
from penstock.rdf.elements import Malformed
from penstock.syntax.errors import QuerySyntaxError, TranslationError

MOST_MALFORMED = 3


@contextmanager
def told(name: str) -> Iterator[None]:
    """Runs what is inside; a mistake of the user's ends the command with a message instead of a traceback."""
    try:
        yield
    except NoQueryError as error:
        show_error(name, error.message, error.hint)
    except QuerySyntaxError as error:
        show_problems(error.problems, error.text, name)
    except TranslationError as error:
        show_error(name, f"this query has no meaning: {'; '.join(error.reasons)}")
    except RecursionError:
        show_error(name, "this query nests too deeply")
    except (InputError, PolicyError, NotImplementedError, rdf_errors.SourceError) as error:
        show_error(name, str(error))
    else:
        return
    raise click.exceptions.Exit(2)


def show_malformed(malformed: list[Malformed]) -> None:
    """The first few inputs that were left out, and how many more there were."""
    for entry in malformed[:MOST_MALFORMED]:
        show(entry.place, "warning", f"left out: {entry.reason}", ())
    if len(malformed) > MOST_MALFORMED:
        show("penstock", "warning", f"{len(malformed) - MOST_MALFORMED} more elements are left out", ())

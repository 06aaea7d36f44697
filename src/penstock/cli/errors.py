"""Error messages for mistakes in a query, an option or an input (exit status 2), and for failed runs (1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from penstock.cli.messages import show_error, show_problems
from penstock.cli.query_text import NoQueryError
from penstock.syntax.errors import QuerySyntaxError, TranslationError

FAILED, WRONG = 1, 2


@contextmanager
def errors_shown(name: str) -> Iterator[None]:
    """Shows an error that is raised inside as a message, and ends the command."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except NoQueryError as error:
        show_error(name, error.message, error.hint)
    except QuerySyntaxError as error:
        show_problems(error.problems, error.text, name)
    except TranslationError as error:
        show_error(name, f"this query has no meaning: {'; '.join(error.reasons)}")
    except RecursionError:
        show_error(name, "this query nests too deeply")
    except Exception as error:
        status = _shown(name, error)
        if status is None:
            raise
        raise click.exceptions.Exit(status) from None
    else:
        return
    raise click.exceptions.Exit(WRONG)


def _shown(name: str, error: Exception) -> int | None:
    """Shows an error of a run; returns the exit status, or None for a mistake in Penstock."""
    # Slow to load, and needed for errors only.
    from penstock.algebra.inputs import InputError
    from penstock.algebra.reports import PolicyError
    from penstock.api.dead_letters import DeadLettersError, MalformedError
    from penstock.engines.protocol import StorageError
    from penstock.engines.spark.failures import failure
    from penstock.engines.spark.session import SessionError
    from penstock.rdf.errors import SourceError
    from penstock.runtime.checkpoints import CheckpointError
    from penstock.sinks import ReaderGoneError, SinkError

    match error:
        case MalformedError():
            show_error(error.malformed.place, f"{error.malformed.reason}; --strict stops there")
            return WRONG
        case InputError() | PolicyError() | SourceError():
            show_error(name, str(error))
            return WRONG
        case ReaderGoneError():
            return 0
        case DeadLettersError():
            raise click.BadParameter(f"{error}.", param_hint="'--late'") from None
        case SinkError() | CheckpointError() | StorageError():
            show_error(name, str(error))
            return FAILED
        case SessionError():
            show_error(name, str(error), "--engine duckdb needs neither Spark nor Java")
            return FAILED
    reason = failure(error)
    if reason is None:
        return None
    show_error(name, f"Spark failed: {reason}", "--verbose shows Spark's messages")
    return FAILED

"""Error messages for mistakes in a query, an option or an input (exit status 2), and for failed runs (1)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from penstock.algebra.inputs import InputError
from penstock.algebra.reports import PolicyError
from penstock.api.dead_letters import DeadLettersError, MalformedError
from penstock.cli.messages import show_error, show_problems
from penstock.cli.query_text import NoQueryError
from penstock.engines.protocol import StorageError
from penstock.engines.spark.failures import failure
from penstock.engines.spark.session import SessionError
from penstock.rdf import errors as rdf_errors
from penstock.runtime.checkpoints import CheckpointError
from penstock.sinks import ReaderGoneError, SinkError
from penstock.syntax.errors import QuerySyntaxError, TranslationError

FAILED, WRONG = 1, 2


@contextmanager
def told(name: str) -> Iterator[None]:
    """Turns errors inside into a message, and ends the command."""
    status = WRONG
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
    except MalformedError as error:
        show_error(error.malformed.place, f"{error.malformed.reason}; --strict stops there")
    except (InputError, PolicyError, rdf_errors.SourceError) as error:
        show_error(name, str(error))
    except ReaderGoneError:
        status = 0
    except DeadLettersError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--late'") from None
    except (SinkError, CheckpointError, StorageError) as error:
        show_error(name, str(error))
        status = FAILED
    except SessionError as error:
        show_error(name, str(error), "--engine duckdb does without Spark and Java")
        status = FAILED
    except Exception as error:
        reason = failure(error)
        if reason is None:
            raise
        show_error(name, f"Spark failed: {reason}", "--verbose shows what Spark says")
        status = FAILED
    else:
        return
    raise click.exceptions.Exit(status)

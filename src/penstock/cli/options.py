"""Options that commands share: how queries are read. `passed_as` gives a command several options as one argument."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

import click

from penstock.rdf.iris import is_absolute
from penstock.syntax import ast
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.suggestions import closest
from penstock.syntax.tokens import tokenize

Command = TypeVar("Command", bound=Callable[..., Any])

_BINDING = re.compile(r"\s*([^\s:=<]*)\s*(?::\s*=?|=)\s*(.*?)\s*", re.DOTALL)


def passed_as(
    name: str, make: Callable[..., Any], *options: Callable[[Command], Command]
) -> Callable[[Command], Command]:
    """A decorator that adds options to a command. It receives one argument: what `make` returns for their values.

    The parameters of `make` have the names of the options; those that a command lacks have defaults.
    """
    names = signature(make).parameters

    def add(command: Command) -> Command:
        @wraps(command)
        def called(*arguments: Any, **values: Any) -> Any:
            made = make(**{known: values.pop(known) for known in names if known in values})
            return command(*arguments, **{name: made}, **values)

        return with_options(*options)(called)  # type: ignore[arg-type]

    return add


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """A decorator that adds several options to a command, in this order."""

    def add(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def dialect_name(value: str) -> ast.DialectName:
    """A dialect by its name; for another word the error suggests the nearest one."""
    for name in DIALECTS:
        if name == value.lower():
            return name
    raise _no_dialect(value, tuple(DIALECTS))


def dialect_name_or_auto(value: str) -> str:
    known = ("auto", *DIALECTS)
    if value.lower() in known:
        return value.lower()
    raise _no_dialect(value, known)


def _no_dialect(value: str, known: tuple[str, ...]) -> click.BadParameter:
    """Titles such as RSP-QL lead to the name as well."""
    spellings = {dialect.title: dialect.name for dialect in DIALECTS.values()} | {name: name for name in known}
    near = value if value in spellings else closest(value, spellings)
    hint = "" if near is None else f" did you mean {spellings[near]}?"
    return click.BadParameter(f"there is no dialect {value!r};{hint} there are {', '.join(known)}.")


def absolute_iri(value: str) -> str:
    """An absolute IRI, with or without angle brackets."""
    iri = value.strip().removeprefix("<").removesuffix(">")
    if not is_absolute(iri) or tokenize(f"<{iri}>").kinds != ["iri", "eof"]:
        raise click.BadParameter(f"{value!r} is not an absolute IRI, such as http://example.org/.")
    return iri


def prefix_binding(value: str) -> tuple[str, str]:
    """`NAME=IRI`; the form in a query, `NAME: <IRI>`, is accepted as well."""
    binding = _BINDING.fullmatch(value)
    if binding is None or binding[2].startswith("//"):
        raise click.BadParameter(f"{value!r} declares no prefix; write NAME=IRI, such as ex=http://example.org/.")
    if tokenize(f"{binding[1]}:").kinds != ["pname", "eof"]:
        raise click.BadParameter(f"{binding[1]!r} cannot be a prefix, because it is not a name.")
    return binding[1], absolute_iri(binding[2])


no_optimize_option = click.option(
    "--no-optimize",
    is_flag=True,
    help="Run the query as written, without the optimizer. The answer is the same.",
)


numbers_by_value_option = click.option(
    "--numbers-by-value",
    is_flag=True,
    help="Compare numbers by value: 1, 1.0 and 1.0E0 are the same, whatever their datatypes.",
)


def _reading(dialect: str, prefixes: Mapping[str, str], base: str | None) -> dict[str, Any]:
    return {"dialect": dialect, "prefixes": prefixes, "base": base}


reading_options = passed_as(
    "reading",
    _reading,
    click.option(
        "--dialect",
        type=dialect_name_or_auto,
        default="auto",
        show_default=True,
        metavar="DIALECT",
        help=f"The dialect of the query: {', '.join(DIALECTS)}; auto recognises it.",
    ),
    click.option(
        "--prefix",
        "prefixes",
        type=prefix_binding,
        multiple=True,
        metavar="NAME=IRI",
        callback=lambda _context, _option, bindings: dict(bindings),
        help="Declare a prefix (repeatable).",
    ),
    click.option("--base", type=absolute_iri, metavar="IRI", help="Resolve relative IRIs against this one."),
)
"""--dialect, --prefix, --base; the command receives them as `reading`, the arguments of `penstock.syntax.read`."""

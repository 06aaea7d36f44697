"""The bindings of `--stream` and `--graph`: `IRI=SOURCE`, or the source alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.algebra.chaining import Chain
from penstock.algebra.inputs import InputError
from penstock.rdf.addresses import names_server, parse_address
from penstock.rdf.iris import is_absolute, resolve
from penstock.rdf.remote_graphs import is_remote
from penstock.syntax.suggestions import did_you_mean


def stream_bindings(given: Iterable[str], chain: Chain, prefixes: Mapping[str, str]) -> dict[str, str]:
    """The streams' IRIs with their sources.

    Raises InputError where a binding does not fit the queries.
    """
    named = chain.external
    bases = _bases(chain)
    bindings: dict[str, str] = {}
    for number, text in enumerate(given, start=1):
        iri, source = _split(text, (*named, *chain.produced), prefixes, bases)
        if iri is None:
            iri = _the_only_stream(text, chain, number)
        elif iri in chain.produced:
            raise InputError(
                f"the stream <{iri}> is produced by {chain.produced[iri]}, and cannot be {source} as well: remove its "
                "--stream"
            )
        elif iri not in named and not chain.reads_every:
            raise InputError(f"{_who(chain)} no stream <{iri}>; {did_you_mean(iri, named) or _streams_read(chain)}")
        if iri in bindings:
            raise InputError(f"the stream <{iri}> is bound twice: to {bindings[iri]} and to {source}")
        bindings[iri] = source
    if sum(parse_address(source).is_standard_input for source in bindings.values()) > 1:
        raise InputError("two streams are bound to standard input: name a file for one of them")
    return bindings


def graph_bindings(
    given: Iterable[str], chain: Chain, prefixes: Mapping[str, str]
) -> list[tuple[str | None, str]]:  # fmt: skip
    """The graphs' IRIs, None being the default graph, with their files."""
    datasets = [query.dataset for query in chain.queries.values()]
    named = [iri for dataset in datasets for iri in (*dataset.default_graphs, *dataset.named_graphs)]
    bases = _bases(chain)
    return [(None, text) if is_remote(text) else _split(text, named, prefixes, bases) for text in given]


def known_prefixes(chain: Chain, prefixes: Mapping[str, str]) -> dict[str, str]:
    """The given prefixes, and those that the queries declare; if they differ, the first query's."""
    declared = [declaration for query in chain.queries.values() for declaration in query.text.prologue.prefixes]
    return {**prefixes, **{declaration.prefix: declaration.iri for declaration in reversed(declared)}}


def _bases(chain: Chain) -> list[str]:
    """The base IRIs of the queries."""
    return [base for query in chain.queries.values() if (base := query.text.prologue.base) is not None]


def _the_only_stream(text: str, chain: Chain, number: int) -> str:
    """The stream for a source alone; if the queries read every stream, it needs no name."""
    named = chain.external
    if len(named) == 1:
        return named[0]
    if chain.reads_every and not named:
        return f"urn:stream:{number}"
    if not named:
        raise InputError(f"{_who(chain)} no stream: remove --stream {text}")
    raise InputError(f"{_streams_read(chain)}: say which of them is {text}, as in --stream {named[0]}={text}")


def _streams_read(chain: Chain) -> str:
    return f"{_who(chain)} {' and '.join(f'<{iri}>' for iri in chain.external) or 'no stream'}"


def _who(chain: Chain) -> str:
    return "the query reads" if len(chain.queries) == 1 else "the queries read"


def _split(
    text: str, known: Sequence[str], prefixes: Mapping[str, str], bases: Sequence[str]
) -> tuple[str | None, str]:  # fmt: skip
    """`IRI=SOURCE` in its two parts; an IRI may be a prefixed name of the query, and may have `=` in it.

    A relative IRI is one of the query, as written or resolved. If the text can be read in several ways, the IRI is one
    that the query reads.
    """
    places = [place for place, character in enumerate(text) if character == "=" and 0 < place < len(text) - 1]
    readings = [(_expanded(text[:place], prefixes), text[place + 1 :]) for place in places]
    for iri, source in readings:
        if iri in known:
            return iri, source
    for place in places:
        reference = text[:place].removeprefix("<").removesuffix(">")
        for iri in (reference, *(resolve(reference, base) for base in bases)):
            if iri in known:
                return iri, text[place + 1 :]
    for iri, source in readings:
        if iri is not None and not names_server(iri):
            return iri, source
    return None, text


def _expanded(text: str, prefixes: Mapping[str, str]) -> str | None:
    """The IRI in a text, in full, in angle brackets or with a prefix; None if there is none."""
    if text.startswith("<"):
        return text[1:-1] if text.endswith(">") else None
    prefix, colon, local = text.partition(":")
    if colon and prefix in prefixes and not local.startswith("//"):
        return prefixes[prefix] + local
    return text if is_absolute(text) and not any(character in text for character in '<>"{}|\\^` ') else None

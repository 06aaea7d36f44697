"""Addresses of sinks: what `--out` and `query.sink(…)` take.

Those of files and brokers are in the grammar of streams (rdf/addresses.py). Those of endpoints are URLs, with
`sparql+` before them for SPARQL Update; of their query, only `format=` is an option here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from penstock.rdf import addresses
from penstock.rdf.addresses import Address
from penstock.rdf.credentials import without_credentials
from penstock.rdf.errors import SourceError
from penstock.sinks.errors import SinkError

UPDATE = "sparql+"

_ENDPOINT = re.compile(r"(?:sparql\+)?https?://")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_BROKERS = ("kafka", "mqtt", "mqtts")
_FORMAT = "format="


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """The URL of an endpoint; `is_for_updates`: it takes SPARQL Update."""

    url: str
    is_for_updates: bool
    format: str | None = None

    @property
    def name(self) -> str:
        return without_credentials(self.url)


SinkAddress = Address | EndpointAddress


def sink_address(text: str | Path) -> SinkAddress:
    """Raises SinkError for an address that no sink has."""
    written = str(text)
    if _ENDPOINT.match(written):
        return _endpoint(written)
    scheme = _SCHEME.match(written)
    if scheme is not None and scheme[1] not in _BROKERS:
        examples = [addresses.SCHEMES[known].example for known in _BROKERS]
        raise SinkError(
            f"{without_credentials(written)}: there is no sink for {scheme[1]}://: name a file, or write "
            f"{', '.join(examples)}, http://HOST/PATH or sparql+http://HOST/update"
        )
    try:
        address = addresses.parse_address(written)
    except SourceError as error:
        raise SinkError(str(error)) from None
    if address != _for_answers(address):
        raise SinkError(f"{address.name}: of the options of a stream, answers have format= only")
    return address


def takes_messages(address: SinkAddress) -> bool:
    """Whether each evaluation is sent by itself."""
    return isinstance(address, EndpointAddress) or address.is_broker


def _for_answers(address: Address) -> Address:
    """Without what only streams have."""
    return Address(
        address.scheme, address.path, address.servers, address.user, address.format, settings=address.settings
    )


def _endpoint(written: str) -> EndpointAddress:
    place, _, query = written.removeprefix(UPDATE).partition("?")
    options = [option for option in query.split("&") if option]
    formats = [option.removeprefix(_FORMAT) for option in options if option.startswith(_FORMAT)]
    others = [option for option in options if not option.startswith(_FORMAT)]
    url = f"{place}?{'&'.join(others)}" if others else place
    return EndpointAddress(url, written.startswith(UPDATE), formats[0] if formats else None)

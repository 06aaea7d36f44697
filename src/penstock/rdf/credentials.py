"""Users, passwords and tokens for SPARQL endpoints and web servers; removes them from addresses that messages show."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from penstock.rdf.errors import SourceError

VARIABLE = "PENSTOCK_SERVICE_AUTH"
"""The environment variable for credentials: one `URL=USER:PASSWORD` or `URL=Bearer TOKEN` per line."""

_USER_INFO = re.compile(r"(?<=://)[^/?#\s<>\"@]*@")
_BEARER = re.compile(r"bearer\s+(\S+)", re.IGNORECASE)
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
_ENCRYPTED = ((("http", 80), ("https", 443)), (("ws", 80), ("wss", 443)))
"""Ports, and those of the same server for encrypted connections."""


def without_credentials(text: str) -> str:
    """Removes users and passwords from the addresses in a text.

    >>> without_credentials("http://ana:secret@ex.org/sparql does not answer")
    'http://ex.org/sparql does not answer'
    """
    return _USER_INFO.sub("", text)


def with_masked_credentials(text: str) -> str:
    """Replaces each character of users and passwords by a star, so that all other characters keep their positions."""
    return _USER_INFO.sub(lambda found: "*" * (len(found[0]) - 1) + "@", text)


@dataclass(frozen=True, slots=True)
class Credentials:
    """The value of the header `Authorization`; it is never shown."""

    authorization: str = field(repr=False)


def basic(user: str, password: str) -> Credentials:
    return Credentials(f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}")


def in_address(address: str) -> Credentials | None:
    """The user and password in an address, if any. Raises ValueError if it is not an address."""
    parts = urlsplit(address)
    if parts.username is None:
        return None
    return basic(unquote(parts.username), unquote(parts.password or ""))


@dataclass(frozen=True, slots=True)
class ServiceAuth:
    """Credentials by address. They apply to all endpoints whose address begins with it, by whole path segments."""

    known: tuple[tuple[str, Credentials], ...] = ()

    def of(self, address: str) -> Credentials | None:
        """The credentials in the address itself, or those of its longest known prefix. Raises ValueError, as above."""
        own = in_address(address)
        if own is not None:
            return own
        parts = urlsplit(address)
        fitting = [entry for entry in self.known if _begins(parts, urlsplit(entry[0]))]
        return max(fitting, key=lambda entry: len(entry[0]))[1] if fitting else None


def service_auth(given: Iterable[str] | Mapping[str, str] = ()) -> ServiceAuth:
    """Reads `URL=USER:PASSWORD` and `URL=Bearer TOKEN`, and the environment; arguments override the environment.

    >>> service_auth(["http://ex.org/sparql=ana:secret"]).of("http://ex.org/sparql") == basic("ana", "secret")
    True

    Raises SourceError, whose message contains no secrets.
    """
    pairs = [_pair(line, f"the environment variable {VARIABLE}") for line in _of_environment()]
    pairs += given.items() if isinstance(given, Mapping) else [_pair(text, "the credentials") for text in given]
    return ServiceAuth(tuple({url: _credentials(url, said) for url, said in pairs}.items()))


def _of_environment() -> list[str]:
    return [line.strip() for line in os.environ.get(VARIABLE, "").splitlines() if line.strip()]


def _pair(text: str, what: str) -> tuple[str, str]:
    url, equals, said = text.partition("=")
    if not equals:
        raise SourceError(f"{what} cannot be read: write URL=USER:PASSWORD or URL=Bearer TOKEN")
    return url.strip(), said.strip()


def _credentials(url: str, said: str) -> Credentials:
    if urlsplit(url).scheme not in _PORTS or not urlsplit(url).hostname:
        shown = without_credentials(url)
        raise SourceError(f"credentials need an address such as http://host:7200/sparql, but this is {shown!r}")
    token = _BEARER.fullmatch(said)
    if token is not None:
        return Credentials(f"Bearer {_latin(url, token[1])}")
    user, colon, password = said.partition(":")
    if not colon:
        raise SourceError(f"the credentials of {without_credentials(url)} must be USER:PASSWORD or Bearer TOKEN")
    return basic(user, password)


def _latin(url: str, token: str) -> str:
    if not (token.isascii() and token.isprintable()):
        raise SourceError(
            f"the token of {without_credentials(url)} contains a character that is not allowed in a header"
        )
    return token


def is_for(address: str, other: str) -> bool:
    """Whether the credentials of an address may be sent to another one, to which it redirects: to the same host and
    port, or to the same host over https instead of http (wss instead of ws). Raises ValueError if one of
    them is not an address.

    >>> is_for("http://ex.org/sparql", "https://ex.org/query"), is_for("https://ex.org/sparql", "https://ex.com/sparql")
    (True, False)
    """
    one, two = urlsplit(address), urlsplit(other)
    if one.hostname != two.hostname:
        return False
    ports = (one.scheme, _port(one)), (two.scheme, _port(two))
    return ports[0] == ports[1] or ports in _ENCRYPTED


def _begins(address: SplitResult, known: SplitResult) -> bool:
    if (address.scheme, address.hostname, _port(address)) != (known.scheme, known.hostname, _port(known)):
        return False
    path = known.path.rstrip("/")
    return address.path == path or address.path.startswith(f"{path}/")


def _port(parts: SplitResult) -> int | None:
    return parts.port or _PORTS.get(parts.scheme)

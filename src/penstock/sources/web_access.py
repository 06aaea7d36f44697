"""Access to the web server of an address: its URL, credentials, and what its refusals mean."""

from __future__ import annotations

import socket
from http.client import HTTPException, responses
from urllib.error import HTTPError, URLError

from penstock.rdf.addresses import Address
from penstock.rdf.credentials import Credentials, ServiceAuth, basic, is_for
from penstock.rdf.errors import SourceError
from penstock.rdf.http_requests import RedirectError, TooLargeError
from penstock.sources.subscriptions import Unavailable

_PASSING = frozenset({408, 425, 429})
"""Besides 5xx."""


class WebAccess:
    """A user or token in the address takes precedence over `auth`."""

    def __init__(self, address: Address, auth: ServiceAuth) -> None:
        self.name = address.name
        self.url = address.url
        self._own = _own(address)
        self._auth = auth

    def authorization(self, url: str) -> str | None:
        """The credentials for a URL: the server's own, if it redirects to itself, or those known for the URL."""
        known = self._auth.of(self.url if is_for(self.url, url) else url)
        found = self._own if self._own is not None and is_for(self.url, url) else known
        return None if found is None else found.authorization

    def failure(self, error: Exception) -> Exception:
        """Unavailable if waiting may help, or else SourceError."""
        if isinstance(error, HTTPError):
            with error:
                return self.refusal(error.code)
        if isinstance(error, URLError) and isinstance(error.reason, Exception):
            return self.failure(error.reason)
        if isinstance(error, RedirectError | TooLargeError):
            reason = str(error) or "sends a document that is too large"
            return SourceError(f"{self.name} {reason}")
        if isinstance(error, TimeoutError):
            return Unavailable("it did not answer in time")
        if isinstance(error, socket.gaierror):
            return Unavailable("unknown host; is the address correct?")
        if isinstance(error, OSError | HTTPException):
            return Unavailable((getattr(error, "strerror", None) or "the connection was closed").lower())
        return SourceError(f"{self.name} is no address of a web server ({error})")

    def refusal(self, status: int) -> Exception:
        said = f"{status} {responses.get(status, '')}".rstrip()
        if status in _PASSING or status >= 500:
            return Unavailable(f"it answered {said}")
        if status in (401, 403):
            return SourceError(
                f"{self.name} answered {said}: it needs the right user and password, or token: pass them with "
                f"--service-auth {self.url.partition('?')[0]}=USER:PASSWORD, or write USER@HOST and ?password-file=FILE"
            )
        return SourceError(f"{self.name} answered {said}: is this the right address?")


def _own(address: Address) -> Credentials | None:
    token, password = address.settings.get("token"), address.settings.get("password")
    if token is not None:
        if not (token.isascii() and token.isprintable()):
            raise SourceError(f"{address.name}: the token contains a character that is not allowed in a header")
        return Credentials(f"Bearer {token}")
    return None if address.user is None else basic(address.user, password or "")

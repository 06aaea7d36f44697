"""POST requests of sinks: what an answer of the server means for the delivery."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from http.client import HTTPException, responses
from urllib.error import HTTPError, URLError

from penstock.rdf.credentials import ServiceAuth, is_for, without_credentials
from penstock.rdf.http_requests import RedirectError, TooLargeError, post
from penstock.sinks.delivery import PassingError
from penstock.sinks.errors import SinkError

_SECONDS = 30.0
_MOST_BYTES = 1 << 20
"""The answer is not used."""

_PASSING = frozenset({408, 425, 429})
"""Besides 5xx."""
_LONGEST_EXPLANATION = 200


class Posts:
    """Requests to one address. Credentials in the address take precedence over those of `auth`."""

    def __init__(self, address: str, auth: ServiceAuth) -> None:
        self.name = without_credentials(address)
        self._address = address
        self._auth = auth

    def post(self, content: bytes, headers: Mapping[str, str]) -> None:
        """Returns if the server accepts the content. Raises PassingError, and SinkError where waiting does not help."""
        try:
            post(self.name, content, "*/*", self._authorization, time.monotonic() + _SECONDS, _MOST_BYTES, headers)
        except TooLargeError:
            return
        except RedirectError as error:
            raise SinkError(f"{self.name} {error}") from None
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except URLError as error:
            raise self._failure(error.reason) from None
        except (OSError, HTTPException, ValueError) as error:
            raise self._failure(error) from None

    def _authorization(self, address: str) -> str | None:
        credentials = self._auth.of(self._address if is_for(self.name, address) else address)
        return None if credentials is None else credentials.authorization

    def _failure(self, reason: object) -> Exception:
        if isinstance(reason, TimeoutError):
            return PassingError(f"{self.name} did not answer within {_SECONDS:g} s")
        if isinstance(reason, socket.gaierror):
            return PassingError(f"{self.name}: unknown host; is the address correct?")
        if isinstance(reason, OSError | HTTPException):
            text = getattr(reason, "strerror", None) or "the connection was closed"
            return PassingError(f"{self.name} does not answer ({text.lower()})")
        return SinkError(f"{self.name} is not an address: write http://HOST/PATH")

    def _refusal(self, error: HTTPError) -> Exception:
        said = f"{self.name} answered {error.code} {responses.get(error.code, '')}".rstrip()
        if error.code in _PASSING or error.code >= 500:
            return PassingError(said)
        if error.code in (401, 403):
            return SinkError(
                f"{said}: it requires a user and password, or a token: pass them with "
                f"--service-auth {self.name}=USER:PASSWORD"
            )
        if error.code in (404, 405):
            return SinkError(f"{said}: is this the right address for POST requests?")
        return SinkError(f"{said}: it rejects the answer{_explanation(error)}")


def _explanation(error: HTTPError) -> str:
    """The message of the server, if it is a short text."""
    if error.headers.get_content_type() not in ("text/plain", "application/json", "application/problem+json"):
        return ""
    try:
        lines = error.read(_LONGEST_EXPLANATION * 4).decode("utf-8", "replace").split()
    except (OSError, HTTPException):
        return ""
    text = " ".join(lines)[:_LONGEST_EXPLANATION]
    return f" ({text})" if text else ""

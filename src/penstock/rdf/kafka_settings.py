"""The settings of Kafka clients that an address says: for librdkafka, and for Java."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from penstock.rdf.addresses import Address
from penstock.rdf.errors import SourceError

USER, PASSWORD = "sasl.username", "sasl.password"

_MECHANISMS = ("sasl.mechanism", "sasl.mechanisms")
_LOGIN = "org.apache.kafka.common.security.{} required username={} password={};"
_LOGIN_MODULES = {"PLAIN": "plain.PlainLoginModule", "SCRAM": "scram.ScramLoginModule"}


def client_settings(address: Address) -> dict[str, str]:
    """The settings of librdkafka, with its names; `USER@` of the address is `sasl.username`."""
    user = {} if address.user is None else {USER: address.user}
    return {**user, **address.settings, "bootstrap.servers": address.servers}


def java_settings(address: Address) -> dict[str, str]:
    """The same for clients in Java, which name the user, the password and files of TLS differently.

    Raises SourceError for a file that cannot be read.
    """
    settings = client_settings(address)
    mechanism = next((settings.pop(name) for name in _MECHANISMS if name in settings), None)
    user, password = settings.pop(USER, None), settings.pop(PASSWORD, None)
    if mechanism is not None:
        settings["sasl.mechanism"] = mechanism
    if user is not None and password is not None:
        module = _LOGIN_MODULES["SCRAM" if (mechanism or "").startswith("SCRAM") else "PLAIN"]
        settings.setdefault("sasl.mechanism", "PLAIN")
        settings["sasl.jaas.config"] = _LOGIN.format(module, _quoted(user), _quoted(password))
    of_tls = _files_of_tls(settings)
    return {**settings, **of_tls}


def _files_of_tls(settings: dict[str, str]) -> Mapping[str, str]:
    """Certificates and keys in PEM, which Java takes as text. Takes the names of librdkafka out of the settings."""
    found: dict[str, str] = {}
    if "ssl.ca.location" in settings:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _read(settings.pop("ssl.ca.location"))}
    if "ssl.certificate.location" in settings and "ssl.key.location" in settings:
        found["ssl.keystore.type"] = "PEM"
        found["ssl.keystore.certificate.chain"] = _read(settings.pop("ssl.certificate.location"))
        found["ssl.keystore.key"] = _read(settings.pop("ssl.key.location"))
    return found


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{file}: this file cannot be read ({error.strerror})") from None


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'

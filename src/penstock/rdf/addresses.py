"""Addresses of streams and answers: one grammar for files, servers and brokers.

    [replay+]PATH[?OPTIONS]    -[?OPTIONS]    SCHEME://[USER@]HOST[:PORT][,HOST[:PORT]…][/TOPIC][?OPTIONS]

Options are `name=value`, joined by `&`; in values `&` and `%` are written as in a URL (`%26`, `%25`). An option whose
name has a dot, such as `security.protocol`, is a setting of the broker's client. In the address of a web server
(`sse+http`, `ws`, `ldes+http` and the like) whatever is no option belongs to the URL. Secrets are not part of an
address: `password-file=FILE` and `ssl.key.password-file=FILE` name files that contain them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import unquote

from penstock.rdf.credentials import without_credentials
from penstock.rdf.errors import SourceError
from penstock.rdf.instants import parse_instant
from penstock.rdf.vocabulary import COMMON_PREFIXES

FILE = "file"
STANDARD_INPUT = "-"
REPLAY = "replay+"

RECORD, ARRIVAL = "record", "arrival"
"""Values of `time`: the timestamp that the broker has, and the time at which an element arrives."""
EARLIEST, LATEST = "earliest", "latest"
"""Values of `start`, besides an instant."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A kind of server: what an address of it looks like, its port, the setting that is its password, and the
    environment variable with the password. The address of a web server contains a URL of the protocol `web`.
    """

    example: str
    port: int | None = None
    password: str | None = None
    variable: str | None = None
    web: str | None = None

    @property
    def sends_messages(self) -> bool:
        """Whether its streams consist of messages."""
        return self.password is not None

    @property
    def is_broker(self) -> bool:
        """Whether its streams have topics."""
        return self.sends_messages and self.web is None


def _web(scheme: str, protocol: str) -> Scheme:
    variable = f"PENSTOCK_{'WS' if scheme == 'wss' else scheme.partition('+')[0].upper()}_PASSWORD"
    return Scheme(f"{scheme}://HOST/PATH", None, "password", variable, protocol)


SCHEMES = {
    "kafka": Scheme("kafka://HOST:PORT/TOPIC", 9092, "sasl.password", "PENSTOCK_KAFKA_PASSWORD"),
    "mqtt": Scheme("mqtt://HOST/TOPIC", 1883, "password", "PENSTOCK_MQTT_PASSWORD"),
    "mqtts": Scheme("mqtts://HOST/TOPIC", 8883, "password", "PENSTOCK_MQTT_PASSWORD"),
    "sse+http": _web("sse+http", "http"),
    "sse+https": _web("sse+https", "https"),
    "ws": _web("ws", "ws"),
    "wss": _web("wss", "wss"),
    "ldes+http": _web("ldes+http", "http"),
    "ldes+https": _web("ldes+https", "https"),
    "tcp": Scheme("tcp://HOST:PORT"),
}
WEB = frozenset(name for name, scheme in SCHEMES.items() if scheme.web is not None)
"""Those whose addresses contain URLs."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9.-]*(?:\+[A-Za-z0-9.-]+)?)://")
_HOST = re.compile(r"(?:[^\s/:@,\[\]]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
_SECRET = re.compile(r"(?:^|\.)(?:password|secret|token|jaas\.config|pem|keystore\.key)$")
_DURATION = re.compile(r"([0-9]+) ?([a-z]*)", re.IGNORECASE)
_UNITS = {"": 1, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


class ReadingOptions(TypedDict, total=False):
    """Options of `read_stream`."""

    format: str
    time_predicate: str
    unit_ms: int


@dataclass(frozen=True, slots=True)
class Address:
    """What an address says.

    `path` is a file or folder, a topic, or the path of a URL; `servers` are `HOST:PORT`, joined by commas.
    """

    scheme: str
    path: str = ""
    servers: str = ""
    user: str | None = None
    format: str | None = None
    time: str | None = None
    """An IRI in full, `RECORD` or `ARRIVAL`."""
    unit_ms: int | None = None
    start: str | int | None = None
    """`EARLIEST`, `LATEST`, or milliseconds."""
    is_until_now: bool = False
    poll: int | None = None
    """In milliseconds."""
    is_followed: bool = False
    speed: float | None = None
    """That of a replay; None for anything else."""
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Those of the client, with secrets."""
    query: str = field(default="", repr=False)
    """The parameters in a URL."""

    @property
    def name(self) -> str:
        """The address without options and secrets, for messages."""
        if self.scheme in (FILE, STANDARD_INPUT):
            return self.path
        return f"{self.scheme}://{self.servers}" + (f"/{self.path}" if self.path else "")

    @property
    def url(self) -> str:
        """That of a web server, without user and password."""
        protocol = SCHEMES[self.scheme].web
        return f"{protocol}://{self.servers}/{self.path}" + (f"?{self.query}" if self.query else "")

    @property
    def read_options(self) -> ReadingOptions:
        """Those of `read_stream`."""
        options = ReadingOptions()
        if self.format is not None:
            options["format"] = self.format
        if self.time is not None:
            options["time_predicate"] = self.time
        if self.unit_ms is not None:
            options["unit_ms"] = self.unit_ms
        return options

    @property
    def at_once(self) -> Address:
        """The file of a replay, to be read at once; any other address as it is."""
        return replace(self, speed=None)

    @property
    def is_standard_input(self) -> bool:
        return self.scheme == STANDARD_INPUT

    @property
    def is_broker(self) -> bool:
        return self.scheme in SCHEMES and SCHEMES[self.scheme].is_broker

    @property
    def has_messages(self) -> bool:
        """Whether the stream consists of messages that a broker or web server sends."""
        return self.scheme in SCHEMES and SCHEMES[self.scheme].sends_messages

    @property
    def is_endless(self) -> bool:
        """Whether the stream goes on until somebody ends the run."""
        return self.is_followed or self.scheme == "tcp" or (self.has_messages and not self.is_until_now)

    @property
    def server(self) -> tuple[str, int]:
        """The host and port of the first server."""
        host, _, port = self.servers.partition(",")[0].rpartition(":")
        return host.strip("[]"), int(port)


def names_server(text: str) -> bool:
    """Whether a text begins as the address of a server or broker does."""
    url = _URL.match(text)
    return url is not None and url[1] in SCHEMES


def refuse_endless(addresses: Iterable[Address]) -> None:
    """Raises SourceError for a stream that has no end."""
    for address in addresses:
        if address.is_endless:
            ending = ", or add ?until=now" if address.scheme in _OPTIONS["until"].kinds else ""
            raise SourceError(
                f"{address.name} has no end, and this command needs the whole stream: name a file or folder{ending}"
            )


def parse_address(text: str | Path) -> Address:
    """Reads an address; nothing is opened but the files of secrets.

    >>> parse_address("csrbench/data?unit=1s").unit_ms
    1000
    >>> parse_address("kafka://localhost/toll?start=earliest").servers
    'localhost:9092'

    Raises SourceError, whose message contains no secrets.
    """
    written = str(text)
    is_replay = written.startswith(REPLAY)
    target, _, query = written.removeprefix(REPLAY).partition("?")
    shown = without_credentials(written.partition("?")[0])
    if not target:
        raise SourceError(f"{written}: the source has no name: write a file, a folder, or - for standard input")
    url = _URL.match(target)
    if url is None:
        scheme = STANDARD_INPUT if target == STANDARD_INPUT else FILE
        place: dict[str, Any] = {"path": target}
    elif url[1] not in SCHEMES:
        raise SourceError(
            f"{shown}: there are no addresses that begin with {url[1]}://: an address is a file or folder, - for "
            f"standard input, replay+FILE, {', '.join(known.example for known in SCHEMES.values())}"
        )
    else:
        scheme = url[1]
        place = _place(shown, scheme, target[url.end() :])
    if is_replay and scheme != FILE:
        raise SourceError(f"{shown}: a replay is one of a file or folder: {target} comes in real time anyway")
    options = _Options(shown, "replay" if is_replay else scheme)
    options.read(query)
    found = {**place, **options.found}
    if is_replay:
        found.setdefault("speed", 1.0)
    settings = options.settings
    if scheme in SCHEMES and (secret := SCHEMES[scheme].password) is not None:
        variable = SCHEMES[scheme].variable or ""
        if secret not in settings and variable in os.environ:
            settings[secret] = os.environ[variable]
    return Address(scheme, **found, query="&".join(options.others), settings=settings)


def _place(shown: str, scheme: str, rest: str) -> dict[str, Any]:
    """Servers, topic and user."""
    known = SCHEMES[scheme]
    at, _, topic = rest.partition("/")
    user, has_user, hosts = at.rpartition("@")
    name, has_password, _ = user.partition(":")
    if has_password:
        raise SourceError(
            f"{shown}: a password does not belong into an address: write it to a file, and ?password-file=FILE"
        )
    servers = [_HOST.fullmatch(host) for host in hosts.split(",")]
    is_web = known.web is not None
    is_whole = all(found is not None and (found[1] or known.port or is_web) for found in servers)
    is_one = len(servers) == 1 and (is_web or not (has_user or topic))
    if not is_whole or not (topic if known.is_broker else is_one):
        raise SourceError(f"{shown}: the address is written as {known.example}")
    with_ports = [
        found[0] if found[1] or is_web else f"{found[0]}:{known.port}" for found in servers if found is not None
    ]
    return {
        "servers": ",".join(with_ports),
        "path": topic if is_web else unquote(topic),
        "user": unquote(name) if has_user else None,
    }


class _Options:
    """The options of an address, read one by one."""

    def __init__(self, shown: str, kind: str) -> None:
        self._shown = shown
        self._kind = kind
        self._has_client = kind in SCHEMES and SCHEMES[kind].sends_messages
        self.found: dict[str, Any] = {}
        self.settings: dict[str, str] = {}
        self.others: list[str] = []
        """What belongs to the URL of a web server, as it is written."""

    def read(self, query: str) -> None:
        for pair in filter(None, query.split("&")):
            name, equals, value = pair.partition("=")
            if self._kind in WEB and not self._is_ours(name):
                self.others.append(pair)
            else:
                self._read(name, equals, unquote(value))

    def _is_ours(self, name: str) -> bool:
        """Whether a parameter in the URL of a web server is an option, or a secret, which is refused there."""
        has_option = name in _OPTIONS and self._kind in _OPTIONS[name].kinds
        return has_option or name in ("password-file", "token-file") or _SECRET.search(name) is not None

    def _read(self, name: str, equals: str, value: str) -> None:
        secrets = ("password", "token") if self._kind in WEB else ("password",)
        if self._has_client and ("." in name or name.removesuffix("-file") in secrets or _SECRET.search(name)):
            self._set(name, value)
            return
        option = _OPTIONS.get(name)
        if option is None or self._kind not in option.kinds:
            known = [other for other, described in _OPTIONS.items() if self._kind in described.kinds]
            listed = ", ".join(f"{other} (as in {_OPTIONS[other].example})" for other in known) or "none"
            raise SourceError(f"{self._shown}: there is no option {name}: the options are {listed}")
        if option.is_flag != (not equals):
            says = "is written without a value" if option.is_flag else "has no value"
            raise SourceError(f"{self._shown}: the option {name} {says}: write {option.example}")
        if equals and not value:
            raise SourceError(f"{self._shown}: the option {name} has no value: write {option.example}")
        if name == "time" and value in (RECORD, ARRIVAL) and not self._has_client:
            raise SourceError(f"{self._shown}: time={value}: only messages have such a time: name a predicate")
        self.found.update(option.read(value))

    def _set(self, name: str, value: str) -> None:
        """A setting of the client. The value of one that is secret comes from a file."""
        if not value:
            raise SourceError(f"{self._shown}: the setting {name} has no value")
        setting = name.removesuffix("-file")
        if setting == name and _SECRET.search(name):
            raise SourceError(
                f"{self._shown}: a secret does not belong into an address: write it to a file, and {name}-file=FILE"
            )
        if setting == "password":
            setting = SCHEMES[self._kind].password or setting
        self.settings[setting] = value if setting == name else self._secret(name, value)

    def _secret(self, name: str, file: str) -> str:
        try:
            return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise SourceError(f"{self._shown}: {name}={file}: this file cannot be read ({reason})") from None


def option_duration(name: str, value: str) -> int:
    """The duration in an option, in milliseconds."""
    matched = _DURATION.fullmatch(value)
    unit = None if matched is None else _UNITS.get(matched[2].lower())
    if matched is None or unit is None or int(matched[1]) == 0:
        raise SourceError(
            f"{name}={value}: this is not a duration: write milliseconds, or a number with ms, s, m, h or d"
        )
    return int(matched[1]) * unit


def _time(value: str) -> dict[str, Any]:
    iri = value.removeprefix("<").removesuffix(">")
    prefix, _, local = iri.partition(":")
    return {"time": COMMON_PREFIXES[prefix] + local if prefix in COMMON_PREFIXES else iri}


def _start(value: str) -> dict[str, Any]:
    start = value if value in (EARLIEST, LATEST) else parse_instant(value)
    if start is None:
        raise SourceError(f"start={value}: write start=earliest, start=latest, or an instant: 2026-03-02T07:00:00Z")
    return {"start": start}


def _until(value: str) -> dict[str, Any]:
    if value != "now":
        raise SourceError(f"until={value}: a stream can end with what is there now: until=now")
    return {"is_until_now": True}


def _speed(value: str) -> dict[str, Any]:
    try:
        speed = float(value)
    except ValueError:
        speed = 0.0
    if not 0 < speed < float("inf"):
        raise SourceError(f"speed={value}: this is not a speed: write a number above 0, as in speed=10 for ten times")
    return {"speed": speed}


@dataclass(frozen=True, slots=True)
class _Option:
    example: str
    kinds: frozenset[str]
    """The schemes that have it, and `replay`."""
    read: Callable[[str], dict[str, Any]]
    is_flag: bool = False


_FILES = frozenset({FILE, STANDARD_INPUT, "replay", "tcp"})
_OF_MESSAGES = frozenset(name for name, scheme in SCHEMES.items() if scheme.sends_messages)
_READ_AGAIN = frozenset({"kafka", "ldes+http", "ldes+https"})
_OPTIONS = {
    "format": _Option("format=tnt", _FILES | _OF_MESSAGES, lambda value: {"format": value}),
    "unit": _Option("unit=1s", _FILES, lambda value: {"unit_ms": option_duration("unit", value)}),
    "time": _Option("time=prov:generatedAtTime", _FILES | _OF_MESSAGES, _time),
    "start": _Option("start=latest", _READ_AGAIN, _start),
    "until": _Option("until=now", _READ_AGAIN, _until),
    "poll": _Option(
        "poll=10s", frozenset({"ldes+http", "ldes+https"}), lambda value: {"poll": option_duration("poll", value)}
    ),
    "follow": _Option("follow", frozenset({FILE}), lambda _: {"is_followed": True}, is_flag=True),
    "speed": _Option("speed=10", frozenset({"replay"}), _speed),
}

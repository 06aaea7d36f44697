"""Linked Data Event Streams (LDES): a client that reads the members in the order of their timestamps.

The client follows relations from page to page, the pages with the earliest members first. A member is delivered when
no page that is left can have an earlier one. Then the pages that may still change are fetched again, at intervals.

The bookmark is the time of the last delivered member, the members of that time, and the pages to go on with. Members
are added to an event stream in the order of their timestamps, so whatever is before the bookmark has been delivered.
"""

from __future__ import annotations

import heapq
import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from urllib.error import HTTPError
from urllib.parse import urlsplit

from penstock.rdf.addresses import ARRIVAL, LATEST, RECORD, Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.http_requests import RedirectError, Reply, TooLargeError, get
from penstock.rdf.limits import LARGEST_DOCUMENT
from penstock.sources.ldes_pages import ANY_TIME, FORMATS, Bounds, StreamMember, StreamPage, TimestampPath, read_page
from penstock.sources.subscriptions import Arrival, Unavailable, now
from penstock.sources.waiting import Waiting
from penstock.sources.web_access import WebAccess

LOG = logging.getLogger("penstock")

_ACCEPT = ", ".join(f"{kind};q={1 - place / 10:g}" for place, kind in enumerate(FORMATS))
_SECONDS_TO_ANSWER = 60.0
_SECONDS_BETWEEN_POLLS = 5.0
_TICK = 0.1
_MOST_MEMBERS = 5000
"""So many are delivered at a time."""
_TOO_EARLY = (
    "the member is earlier than one that was added before it: an event stream grows in the order of ldes:timestampPath"
)
_GONE = 410
_NOT_MODIFIED = 304


@dataclass(slots=True)
class _KnownPage:
    """A page that has been fetched: `members` are those that it had then."""

    bounds: Bounds
    tag: str | None = None
    is_final: bool = False
    members: set[str] = field(default_factory=set)


class LinkedDataEventStream:
    """The members of an event stream, as a subscription whose marks are bookmarks."""

    def __init__(self, address: Address, auth: ServiceAuth, waiting: Waiting, mark: str | None = None) -> None:
        self.has_ended = False
        self._address = address
        self._access = WebAccess(address, auth)
        self._waiting = waiting
        is_path_given = address.time not in (None, RECORD, ARRIVAL)
        self._path: TimestampPath | None = (address.time or "",) if is_path_given else None
        self._is_path_given = is_path_given
        self._poll = _SECONDS_BETWEEN_POLLS if address.poll is None else address.poll / 1000
        self._known: dict[str, _KnownPage] = {}
        self._numbers = count()
        self._frontier: list[tuple[int, int, str]] = []
        """Pages to fetch, those with the earliest members first."""
        self._held: list[tuple[int, str, StreamMember, str]] = []
        """Members that are not delivered yet, the earliest first, with their pages."""
        self._held_iris: set[str] = set()
        self._malformed: list[Arrival] = []
        self._reached = ANY_TIME
        self._delivered: set[str] = set()
        """The delivered members of that time."""
        self._is_skipping = address.start == LATEST and mark is None
        """Whether nothing is delivered until everything has been read once."""
        if isinstance(address.start, int):
            self._reached = address.start - 1
        self._begin(mark)

    def take(self) -> list[Arrival]:
        found = self._deliverable()
        if found or self._waiting.stopped.is_set():
            return found
        if self._frontier:
            self._fetch_next()
        elif self._address.is_until_now:
            self.has_ended = True
        else:
            self._wait()
        return []

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:
        """The server keeps its members."""

    def close(self) -> None:
        """There is no connection between requests."""

    # Bookmarks

    def _begin(self, mark: str | None) -> None:
        if mark is None:
            self._add(self._access.url, Bounds())
            return
        bookmark = json.loads(mark)
        self._reached, self._delivered = bookmark["time"], set(bookmark["members"])
        if not self._is_path_given:
            self._path = tuple(bookmark["path"])
        for page, *bounds in bookmark["pages"]:
            self._add(page, Bounds(*bounds))

    def _mark(self) -> str:
        """What must be read again is left to read, may change, or has members that are not delivered."""
        open_pages = {page for _, _, page in self._frontier} | {page for _, _, _, page in self._held}
        kept = {page: known for page, known in self._known.items() if not known.is_final or page in open_pages}
        bookmark = {
            "time": self._reached,
            "members": sorted(self._delivered),
            "path": self._path or (),
            "pages": [[page, *known.bounds] for page, known in kept.items()],
        }
        return json.dumps(bookmark)

    # Members

    def _deliverable(self) -> list[Arrival]:
        """The members before those of any page that is left, in the order of time."""
        found, self._malformed = self._malformed, []
        if self._is_skipping and self._frontier:
            return found
        before = self._frontier[0][0] if self._frontier else -ANY_TIME
        members: list[StreamMember] = []
        while self._held and self._held[0][0] < before and len(members) < _MOST_MEMBERS:
            at, iri, member, _ = heapq.heappop(self._held)
            self._held_iris.discard(iri)
            if at > self._reached:
                self._reached, self._delivered = at, set()
            self._delivered.add(iri)
            members.append(member)
        if self._is_skipping:
            self._is_skipping = bool(self._held)
            return found
        found += [
            Arrival(member.content, "application/n-quads", self._time(member), f"{self._address.name}, {member.iri}")
            for member in members
        ]
        if members:
            found[-1] = found[-1]._replace(mark=self._mark())
        return found

    def _time(self, member: StreamMember) -> int:
        return now() if self._address.time == ARRIVAL or member.time is None else member.time

    def _note(self, page: str, known: _KnownPage, members: Sequence[StreamMember], *, is_first: bool) -> None:
        """Hold the members that are new."""
        for member in members:
            if member.iri in known.members or member.iri in self._held_iris:
                continue
            if member.time is None:
                self._report(member, member.error or "the member has no time")
            elif member.time > self._reached or (member.time == self._reached and member.iri not in self._delivered):
                heapq.heappush(self._held, (member.time, member.iri, member, page))
                self._held_iris.add(member.iri)
            elif member.time < self._reached and not is_first:
                self._report(member, _TOO_EARLY)
        known.members = {member.iri for member in members}

    def _report(self, member: StreamMember, reason: str) -> None:
        place = f"{self._address.name}, {member.iri}"
        self._malformed.append(Arrival.unreadable(member.content, place, None, reason))

    # Pages

    def _add(self, page: str, bounds: Bounds) -> None:
        """Fetch a page, unless all of its members have been delivered."""
        if page in self._known or bounds.most < self._reached:
            return
        self._known[page] = _KnownPage(bounds)
        heapq.heappush(self._frontier, (bounds.least, next(self._numbers), page))

    def _wait(self) -> None:
        """Until the pages that may change are due; then they are fetched again."""
        until = time.monotonic() + self._poll
        while time.monotonic() < until:
            if self._waiting.stopped.wait(min(_TICK, self._poll)):
                return
        for page, known in self._known.items():
            if not known.is_final:
                heapq.heappush(self._frontier, (known.bounds.least, next(self._numbers), page))

    def _fetch_next(self) -> None:
        _, _, page = self._frontier[0]
        known = self._known[page]
        headers = {"Accept": _ACCEPT} | ({} if not known.tag else {"If-None-Match": known.tag})
        deadline = time.monotonic() + _SECONDS_TO_ANSWER
        try:
            reply = get(page, headers, self._access.authorization, deadline, LARGEST_DOCUMENT)
        except HTTPError as error:
            with error:
                if error.code == _NOT_MODIFIED:
                    heapq.heappop(self._frontier)
                elif error.code == _GONE and page != self._access.url:
                    LOG.warning(f"{self._address.name}: the page {page} is gone; reading continues without it")
                    heapq.heappop(self._frontier)
                    known.is_final = True
                else:
                    self._fail(self._access.refusal(error.code))
            return
        except (OSError, HTTPException, RedirectError, TooLargeError, ValueError) as error:
            self._fail(self._access.failure(error))
            return
        self._waiting.end()
        heapq.heappop(self._frontier)
        self._read(page, known, reply)

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, Unavailable):
            raise error
        self._waiting.pause(str(error))

    def _read(self, page: str, known: _KnownPage, reply: Reply) -> None:
        format = FORMATS.get(reply.media_type)
        if format is None:
            raise SourceError(
                f"{self._address.name} sends {reply.media_type}: a page of an event stream is {', '.join(FORMATS)}"
            )
        try:
            found = read_page(reply.content, format, reply.address, self._path, is_path_given=self._is_path_given)
        except ReadingError as error:
            raise SourceError(f"{self._address.name}: the page {page} cannot be read: {error.reason}") from None
        self._path = found.path or self._path
        is_first = known.tag is None and not known.members
        self._note(page, known, found.members, is_first=is_first)
        known.tag = reply.headers.get("ETag") or ""
        known.is_final = "immutable" in reply.headers.get("Cache-Control", "")
        for other, bounds in self._behind(page, found).items():
            if urlsplit(page).scheme == "https" and urlsplit(other).scheme != "https":
                raise SourceError(f"{self._address.name}: the page {page} leads to {other}, which is not encrypted")
            self._add(other, Bounds(max(bounds.least, known.bounds.least), min(bounds.most, known.bounds.most)))

    def _behind(self, page: str, found: StreamPage) -> dict[str, Bounds]:
        """The pages to which it leads; from a description of the stream, its first view."""
        is_description = not found.members and not found.next and page not in found.views
        return {found.views[0].partition("#")[0]: Bounds()} if is_description and found.views else dict(found.next)

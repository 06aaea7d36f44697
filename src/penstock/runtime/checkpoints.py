"""Runs that can be killed and started again: what they knew, where they read on, what they had written.

The state of the store, the positions of the sources and the positions of the outputs are committed together, after the
output that they stand for. A run that continues cuts its output to those positions first: so no result is lost and none
is written twice.

| | rows | state |
|---|---|---|
| `DatabaseCheckpoint` | tables of one DuckDB file | in the same transaction |
| `FolderCheckpoint` | segments of the window log | a file for each micro-batch, written last |
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import RestartableStore, StorageError
from penstock.runtime.checkpoint_locks import CheckpointLock, LockedError

State = dict[str, Any]
"""The state of a run besides the rows of its streams, as JSON."""

_FILE = "state.duckdb"
_FORM = 3
"""Increased when the form of states changes: a checkpoint in an older form is refused."""

_HASH = re.compile(r"[0-9a-f]{64}")
_KEPT = 2
"""If Spark was killed before it recorded the last batch as done, it repeats the batch: that needs the state before it.
"""


class CheckpointError(Exception):
    """The folder cannot be used for a checkpoint; the message gives the reason."""


class Checkpoint(Protocol):
    """Where the state of a run is committed. `store` contains the windows of the run."""

    @property
    def store(self) -> RestartableStore[Any]: ...

    @property
    def latest(self) -> State | None:
        """The last committed state."""

    @property
    def has_finished(self) -> bool:
        """Whether all input has been read and answered."""

    def begin(self) -> None:
        """From now on changes to the store take effect when they are committed."""

    def commit(self, number: int, state: State, *, has_finished: bool) -> None:
        """Commit a batch, whose output is safe."""


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Runs the block; raises CheckpointError, in one sentence, if the folder cannot be used."""
    try:
        yield
    except LockedError as error:
        raise CheckpointError(f"{folder}: {error}") from None
    except FileExistsError:
        raise CheckpointError(f"{folder}: this is a file; a checkpoint needs a folder of its own") from None
    except OSError as error:
        raise CheckpointError(f"{folder}: no checkpoint can be kept there ({error.strerror})") from None


def _of_another_run(folder: Path, fingerprint: str) -> CheckpointError:
    """`fingerprint` is the one in the folder; earlier versions wrote a text, not a hash."""
    if not _HASH.fullmatch(fingerprint):
        return CheckpointError(
            f"{folder}: this checkpoint was written by an older version of Penstock, and this version cannot continue "
            "from it; name another folder, or remove this one to begin anew"
        )
    return CheckpointError(
        f"{folder}: this checkpoint is of another run, with other streams or options, another query or another version "
        "of Penstock; name another folder, or remove this one to begin anew"
    )


def _hashed(fingerprint: str) -> str:
    """A hash, because the description of a run may contain passwords; it includes the version of the form of states."""
    return sha256(f"{_FORM}\n{fingerprint}".encode()).hexdigest()


class DatabaseCheckpoint:
    """State and rows in one DuckDB file.

    `fingerprint` identifies the run: its queries, options and streams. A folder of another run is refused.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._fingerprint = _hashed(fingerprint)
        self.latest: State | None = None
        self.has_finished = False
        with _usable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = CheckpointLock(folder)
        try:
            self.store = self.new_store(folder / _FILE)
            self._read()
        except StorageError as error:
            self._lock.release()
            raise CheckpointError(f"{folder}: no checkpoint can be kept there ({error})") from None
        except CheckpointError:
            self.close()
            raise

    def new_store(self, file: Path) -> DuckDBStore:
        return DuckDBStore(file)

    def _read(self) -> None:
        self.store.run("CREATE TABLE IF NOT EXISTS progress (fingerprint VARCHAR, state VARCHAR)")
        rows = self.store.rows("SELECT fingerprint, state FROM progress")
        if not rows:
            return
        ((fingerprint, text),) = rows
        if fingerprint != self._fingerprint:
            raise _of_another_run(self.folder, str(fingerprint))
        kept = json.loads(str(text))
        self.latest, self.has_finished = kept["run"], kept["has_finished"]

    def begin(self) -> None:
        self.store.begin()

    def commit(self, number: int, state: State, *, has_finished: bool) -> None:
        """Commit, and begin the next transaction."""
        text = json.dumps({"run": state, "has_finished": has_finished})
        try:
            self.store.run("DELETE FROM progress")
            self.store.insert("progress", (self._fingerprint, text))
            self.store.commit()
        except StorageError as error:
            raise CheckpointError(f"{self.folder}: the checkpoint cannot be written ({error})") from None
        self.latest, self.has_finished = state, has_finished
        self.store.begin()

    def close(self) -> None:
        """Release the folder: another run can continue from here."""
        self.store.close()
        self._lock.release()


class SegmentStore(RestartableStore[Any], Protocol):
    """A store that keeps segments in a folder."""

    @property
    def segments(self) -> Iterable[str]: ...

    def clean(self, kept: Iterable[str]) -> None:
        """Remove the files of segments that neither count nor are kept."""


class FolderCheckpoint:
    """The states after the last micro-batches, a file each, beside the segments of the store.

    `fingerprint` identifies the run: its queries, options and streams. A folder of another run is refused.
    """

    def __init__(self, folder: Path, fingerprint: str, store: SegmentStore) -> None:
        self.folder = folder
        self.store = store
        self._states = folder / "state"
        self._segments: set[str] = set()
        """The segments of the states before: a batch that is repeated needs them."""
        with _usable(folder):
            self._states.mkdir(parents=True, exist_ok=True)
            self._lock = CheckpointLock(folder)
            try:
                self._check(_hashed(fingerprint))
            except BaseException:
                self._lock.release()
                raise

    def _check(self, fingerprint: str) -> None:
        file = self.folder / "run"
        if not file.exists():
            _write(file, fingerprint)
        elif (known := file.read_text()) != fingerprint:
            raise _of_another_run(self.folder, known)

    @property
    def latest(self) -> State | None:
        return self.before(max(self._numbers(), default=-1) + 1)

    @property
    def has_finished(self) -> bool:
        kept = self._read(max(self._numbers(), default=-1))
        return kept is not None and kept["has_finished"]

    def before(self, number: int) -> State | None:
        """The state that a batch continues from."""
        kept = self._read(max((known for known in self._numbers() if known < number), default=-1))
        return None if kept is None else kept["run"]

    def begin(self) -> None:
        self._segments = set(self.store.segments)

    def commit(self, number: int, state: State, *, has_finished: bool) -> None:
        _write(self._file(number), json.dumps({"run": state, "has_finished": has_finished}))
        for old in sorted(self._numbers())[:-_KEPT]:
            self._file(old).unlink()
        self.store.clean(self._segments)
        self._segments = set(self.store.segments)

    def close(self) -> None:
        """Release the folder: another run can continue from here."""
        self._lock.release()

    def _numbers(self) -> list[int]:
        return [int(path.stem) for path in self._states.glob("*.json")]

    def _file(self, number: int) -> Path:
        return self._states / f"{number}.json"

    def _read(self, number: int) -> dict[str, Any] | None:
        file = self._file(number)
        return json.loads(file.read_text()) if file.exists() else None


def _write(file: Path, text: str) -> None:
    """After a crash either the whole file is there or nothing."""
    new = file.with_suffix(".new")
    with new.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    new.replace(file)

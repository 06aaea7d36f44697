"""Checkpoints: runs that can be killed and continued.

The state of the store, the positions of the sources and the positions of the outputs are committed together, after
the output of the batch. A run that continues first cuts its output to these positions: so no result is lost and none
is written twice. A batch whose state is committed is never evaluated again: what its outlets keep until then, they
deliver (outlets.py).

| | rows | state |
|---|---|---|
| `DatabaseCheckpoint` | tables of one DuckDB file | in the same transaction |
| `FolderCheckpoint` | segments of the window log | a file for each micro-batch, written last |
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
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
_FORM = 5
"""Increased when the form of states changes: a checkpoint in an older form is refused."""

_HASH = re.compile(r"[0-9a-f]{64}")


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
        raise CheckpointError(f"{folder}: this folder cannot hold a checkpoint ({error.strerror})") from None


def _of_another_run(folder: Path, fingerprint: str) -> CheckpointError:
    """`fingerprint` is the one in the folder; earlier versions wrote a text, not a hash."""
    if not _HASH.fullmatch(fingerprint):
        return CheckpointError(
            f"{folder}: this checkpoint was written by an older version of Penstock, and this version cannot continue "
            "from it; name another folder, or remove this one to start again"
        )
    return CheckpointError(
        f"{folder}: this checkpoint belongs to another run, with other streams or options, another query or another "
        "version of Penstock; name another folder, or remove this one to start again"
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
            raise CheckpointError(f"{folder}: this folder cannot hold a checkpoint ({error})") from None
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

    def clean(self) -> None:
        """Remove the files of segments that no longer count."""


class FolderCheckpoint:
    """The state after the last micro-batch, beside the segments of the store.

    `fingerprint` identifies the run: its queries, options and streams. A folder of another run is refused.
    """

    def __init__(self, folder: Path, fingerprint: str, store: SegmentStore) -> None:
        self.folder = folder
        self.store = store
        self._states = folder / "state"
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
        kept = self._read()
        return None if kept is None else kept["run"]

    @property
    def has_finished(self) -> bool:
        kept = self._read()
        return kept is not None and kept["has_finished"]

    def begin(self) -> None:
        """The store writes segments that count from the next commit on."""

    def commit(self, number: int, state: State, *, has_finished: bool) -> None:
        _write(self._file(number), json.dumps({"run": state, "has_finished": has_finished}))
        for old in self._numbers()[:-1]:
            self._file(old).unlink()
        self.store.clean()

    def close(self) -> None:
        """Release the folder: another run can continue from here."""
        self._lock.release()

    def _numbers(self) -> list[int]:
        return sorted(int(path.stem) for path in self._states.glob("*.json"))

    def _file(self, number: int) -> Path:
        return self._states / f"{number}.json"

    def _read(self) -> dict[str, Any] | None:
        numbers = self._numbers()
        return json.loads(self._file(numbers[-1]).read_text()) if numbers else None


def _write(file: Path, text: str) -> None:
    """After a crash either the whole file is there or nothing."""
    new = file.with_suffix(".new")
    with new.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    new.replace(file)

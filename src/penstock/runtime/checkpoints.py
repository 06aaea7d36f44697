"""Runs that can be killed and started again: what they knew, where they read on, what they had written.

State, positions of the sources and the length of the output are committed together, in one transaction of one file,
after what they stand for has been written. A run that goes on from there cuts the output to that length first: so no
result is lost and none is there twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

from penstock.engines.duckdb import DuckDBEngine
from penstock.engines.protocol import StorageError
from penstock.runtime.checkpoint_locks import CheckpointLock, LockedError

State = dict[str, Any]
"""What a run knows besides the rows of its streams; JSON can hold it."""

Written: TypeAlias = Any
"""How much of each output stands, as whoever writes them says it; JSON can hold it."""

_FILE = "state.duckdb"
_HASH = re.compile(r"[0-9a-f]{64}")


class CheckpointError(Exception):
    """A folder that cannot be used for a checkpoint; the message says why."""


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Runs what is inside; CheckpointError, as a sentence, where the folder cannot be used."""
    try:
        yield
    except LockedError as error:
        raise CheckpointError(f"{folder}: {error}") from None
    except FileExistsError:
        raise CheckpointError(f"{folder}: this is a file; a checkpoint needs a folder of its own") from None
    except OSError as error:
        raise CheckpointError(f"{folder}: no checkpoint can be kept there ({error.strerror})") from None


def of_another_run(folder: Path, fingerprint: str) -> CheckpointError:
    """`fingerprint` is the one that the folder has; before it was a hash, it was a text."""
    if not _HASH.fullmatch(fingerprint):
        return CheckpointError(
            f"{folder}: this checkpoint was written by an older version of Penstock, and this version cannot go on "
            "with it; name another folder, or remove this one to begin anew"
        )
    return CheckpointError(
        f"{folder}: this checkpoint is of another run, with other streams or options, another query or another version "
        "of Penstock; name another folder, or remove this one to begin anew"
    )


class Checkpoint:
    """The folder of a run that can be restarted.

    `fingerprint` tells the run: its query, options and streams. A folder that was made by another one is refused.
    """

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self.fingerprint = sha256(fingerprint.encode()).hexdigest()
        """A hash, because what tells a run may have passwords in it."""
        self.state: State | None = None
        self.written: Written = None
        """How much of the output stands."""
        self.has_finished = False
        """Whether all input has been read and answered."""
        with kept_in(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = CheckpointLock(folder)
        try:
            self.engine = self.new_engine(folder / _FILE)
            self._read()
        except StorageError as error:
            self._lock.release()
            raise CheckpointError(f"{folder}: no checkpoint can be kept there ({error})") from None
        except CheckpointError:
            self.close()
            raise

    def new_engine(self, file: Path) -> DuckDBEngine:
        return DuckDBEngine(file)

    def _read(self) -> None:
        self.engine.run("CREATE TABLE IF NOT EXISTS progress (fingerprint VARCHAR, state VARCHAR)")
        rows = self.engine.rows("SELECT fingerprint, state FROM progress")
        if not rows:
            return
        ((fingerprint, text),) = rows
        if fingerprint != self.fingerprint:
            raise of_another_run(self.folder, str(fingerprint))
        kept = json.loads(str(text))
        self.state, self.written, self.has_finished = kept["run"], kept["written"], kept["has_finished"]

    def begin(self) -> None:
        """What happens from now on counts when it is committed."""
        self.engine.begin()

    def commit(self, state: State, written: Written, *, has_finished: bool = False) -> None:
        """Keep the state; then go on as after `begin`."""
        text = json.dumps({"run": state, "written": written, "has_finished": has_finished})
        try:
            self.engine.run("DELETE FROM progress")
            self.engine.insert("progress", (self.fingerprint, text))
            self.engine.commit()
        except StorageError as error:
            raise CheckpointError(f"{self.folder}: the checkpoint cannot be written ({error})") from None
        self.state, self.written, self.has_finished = state, written, has_finished
        self.engine.begin()

    def close(self) -> None:
        """Let another run go on from here."""
        self.engine.close()
        self._lock.release()

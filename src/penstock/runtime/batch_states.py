"""The states of a run after its last micro-batches: a file each, in the folder of its checkpoint.

The one before the last is kept, too: the last batch is repeated if Spark was ended before it knew that it was done.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

from penstock.runtime.checkpoint_locks import CheckpointLock
from penstock.runtime.checkpoints import State, kept_in, of_another_run

_KEPT = 2


class BatchStates:
    """`fingerprint` tells the run: its queries, options and streams. A folder that was made by another is refused."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self.folder = folder
        self._states = folder / "state"
        with kept_in(folder):
            self._states.mkdir(parents=True, exist_ok=True)
            self._lock = CheckpointLock(folder)
            try:
                self._check(sha256(fingerprint.encode()).hexdigest())
            except BaseException:
                self._lock.release()
                raise

    def close(self) -> None:
        """Let another run go on from here."""
        self._lock.release()

    def _check(self, fingerprint: str) -> None:
        file = self.folder / "run"
        if not file.exists():
            _write(file, fingerprint)
        elif (known := file.read_text()) != fingerprint:
            raise of_another_run(self.folder, known)

    @property
    def last(self) -> int:
        """The last batch that has a state; -1 where there is none."""
        return max(self._numbers(), default=-1)

    @property
    def latest(self) -> State | None:
        kept = self._read(self.last)
        return None if kept is None else kept["run"]

    @property
    def has_finished(self) -> bool:
        kept = self._read(self.last)
        return kept is not None and kept["has_finished"]

    def before(self, number: int) -> State | None:
        """The state that a batch goes on from."""
        kept = self._read(max((known for known in self._numbers() if known < number), default=-1))
        return None if kept is None else kept["run"]

    def commit(self, number: int, state: State, *, has_finished: bool) -> None:
        """The batch is done, and all that it has written is safe."""
        _write(self._file(number), json.dumps({"run": state, "has_finished": has_finished}))
        for old in sorted(self._numbers())[:-_KEPT]:
            self._file(old).unlink()

    def _numbers(self) -> list[int]:
        return [int(path.stem) for path in self._states.glob("*.json")]

    def _file(self, number: int) -> Path:
        return self._states / f"{number}.json"

    def _read(self, number: int) -> dict[str, Any] | None:
        file = self._file(number)
        return json.loads(file.read_text()) if file.exists() else None


def _write(file: Path, text: str) -> None:
    """All of it or nothing is there after a crash."""
    new = file.with_suffix(".new")
    with new.open("w") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    new.replace(file)

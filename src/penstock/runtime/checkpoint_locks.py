"""The lock of a checkpoint folder: one run at a time.

The operating system holds the lock (`flock`) and drops it when the process ends, however it ends. The lock file names
its owner. If the file system has no locks, the file decides: a process of this host that has ended has no lock.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import weakref
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

_FILE = "lock"
_MOST_BYTES = 4096
_TAKEN = frozenset({errno.EWOULDBLOCK, errno.EACCES, errno.EAGAIN})


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that has a lock."""

    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.since}"

    @property
    def is_gone(self) -> bool:
        """Whether the process has certainly ended; for another host this is unknown."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False


class LockedError(Exception):
    """Another run has the lock: `owner` describes it; None if it has not written this yet."""

    def __init__(self, owner: Owner | None, hint: str) -> None:
        self.owner = owner
        super().__init__(f"this checkpoint is in use by {owner or 'another process'}: {hint}")


class CheckpointLock:
    """Held from creation until `release`, or until the process ends. Raises LockedError and OSError."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / _FILE, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        self._close = weakref.finalize(self, os.close, self._file)
        try:
            self._take(folder)
        except BaseException:
            self._close()
            raise

    def release(self) -> None:
        """Release the lock for another run."""
        if self._close.alive:
            os.ftruncate(self._file, 0)
            self._close()

    def _take(self, folder: Path) -> None:
        wait = "wait until it has ended, stop it, or name another folder"
        if not self._is_locked_by_system(wait):
            owner = self._owner()
            if owner is not None and not owner.is_gone:
                raise LockedError(owner, f"{wait}. If that process is gone, remove {folder / _FILE}")
        owner = Owner(os.getpid(), socket.gethostname(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC"))
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, json.dumps(asdict(owner)).encode(), 0)

    def _is_locked_by_system(self, hint: str) -> bool:
        """False where the file system has no locks."""
        if fcntl is None:
            return False
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _TAKEN:
                raise LockedError(self._owner(), hint) from None
            return False
        return True

    def _owner(self) -> Owner | None:
        try:
            return Owner(**json.loads(os.pread(self._file, _MOST_BYTES, 0)))
        except (ValueError, TypeError):
            return None

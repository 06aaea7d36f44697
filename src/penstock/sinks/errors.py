"""What can be wrong with output."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager


class SinkError(Exception):
    """Output that cannot be written, as a sentence: no permission, a full disk, a format that does not fit."""


class ReaderGoneError(SinkError):
    """The reader of the output has ended, such as `head` after its last line."""


_NOT_PERMITTED = "this cannot be written (permission denied): change its permissions, or name another file"
_AGAIN = "free some space, and run again (with a checkpoint, the run continues where it stopped)"
_SENTENCES = {
    errno.ENOENT: "the folder of this file does not exist: create it first",
    errno.ENOTDIR: "a part of this path is a file, not a folder: choose another path",
    errno.EISDIR: "this is a folder: name a file in it",
    errno.EACCES: _NOT_PERMITTED,
    errno.EPERM: _NOT_PERMITTED,
    errno.EROFS: "this cannot be written (the file system is read-only): choose another path",
    errno.ENOSPC: f"the disk is full: {_AGAIN}",
    errno.EDQUOT: f"the disk quota is used up: {_AGAIN}",
}


@contextmanager
def told(name: str) -> Iterator[None]:
    """Errors of the system as sentences about the output `name`."""
    try:
        yield
    except BrokenPipeError:
        raise ReaderGoneError(f"{name}: nobody reads the results any more") from None
    except OSError as error:
        sentence = _SENTENCES.get(error.errno or 0) or f"this cannot be written ({error.strerror or error})"
        raise SinkError(f"{name}: {sentence}") from None

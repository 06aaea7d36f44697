"""Where answers go: to standard output or a file, in one of several formats; and how far a run is, for a terminal."""

from penstock.sinks.errors import ReaderGoneError, SinkError
from penstock.sinks.opening import FORMATS, Sink, open_sink

__all__ = ["FORMATS", "ReaderGoneError", "Sink", "SinkError", "open_sink"]

"""Where answers go: standard output, files, brokers and endpoints, in one of several formats; and the progress line."""

from penstock.sinks.errors import ReaderGoneError, SinkError
from penstock.sinks.formats import FORMATS
from penstock.sinks.opening import Sink, open_sink

__all__ = ["FORMATS", "ReaderGoneError", "Sink", "SinkError", "open_sink"]

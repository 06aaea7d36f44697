"""Lines of a server on their way to Spark, which reads text."""

from __future__ import annotations

import socket
import threading

import pyarrow as pa

from penstock.rdf.elements import Malformed
from penstock.sources.spark.relay import read_relayed, relayed

LINES = [b'<http://e/a> <http://e/p> "caf\xc3\xa9" "1000" .', b'<http://e/a> <http://e/p> "caf\xe9" "2000" .']


def test_a_line_that_is_not_utf_8_is_malformed() -> None:
    """Java replaces such bytes, and the element would count with another literal."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with server.accept()[0] as connected:
                connected.sendall(b"\n".join([*LINES, b""]))

        threading.Thread(target=serve, daemon=True).start()
        with socket.create_connection(("127.0.0.1", relayed(*server.getsockname()))) as reader:
            text = reader.makefile("rb").read().decode(errors="replace")
    odd: list[Malformed] = []
    rows = read_relayed(pa.chunked_array([text.splitlines()]), "tcp://e", "s", odd.append)
    assert rows["o"].to_pylist() == ["Scafé"]
    assert [(one.place, one.reason) for one in odd] == [
        ("tcp://e", "the byte 0xe9 is not UTF-8: save the file as UTF-8")
    ]
    assert "2000" in odd[0].text

"""Starts and stops brokers, a web server and a SPARQL endpoint on this machine, for tests and tutorials.

    python scripts/brokers start kafka|mosquitto|oxigraph|web|all… [--folder FOLDER]    prints the addresses as JSON
    python scripts/brokers stop [NAME…] [--kill] [--folder FOLDER]
    python scripts/brokers status [--folder FOLDER]

They listen on loopback, on free ports that stay the same when they start again. Their data, logs, process numbers and
`addresses.json` are in FOLDER. What is missing is fetched: Kafka from Maven Central into the cache folder of the user,
Maven and Mosquitto with apt. The exit status is 2 where it cannot be had.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from kafka import Kafka
from mosquitto import Mosquitto
from oxigraph import Oxigraph
from servers import CACHE, Server, UnavailableError, alone
from web import Web

SERVERS: dict[str, type[Server]] = {"kafka": Kafka, "mosquitto": Mosquitto, "oxigraph": Oxigraph, "web": Web}


def main() -> int:
    given = arguments()
    names = list(SERVERS) if not given.names or "all" in given.names else given.names
    servers = [SERVERS[name](given.folder) for name in names]
    try:
        with alone(given.folder / "lock"):
            if given.verb == "start":
                for server in servers:
                    server.start()
            elif given.verb == "stop":
                for server in servers:
                    server.stop(kill=given.kill)
            every = [server(given.folder) for server in SERVERS.values()]
            addresses = {server.name: server.addresses() for server in every if server.is_running()}
            (given.folder / "addresses.json").write_text(json.dumps(addresses))
    except UnavailableError as reason:
        print(reason, file=sys.stderr)
        return 2
    print(json.dumps(addresses, indent=2))
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="brokers", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("verb", choices=("start", "stop", "status"))
    parser.add_argument("names", nargs="*", metavar="NAME", choices=(*SERVERS, "all", []))
    parser.add_argument("--folder", type=Path, default=CACHE / "running", help="where they keep everything")
    parser.add_argument("--kill", action="store_true", help="stop them with SIGKILL")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

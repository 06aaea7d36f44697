"""Selects the peers of a run: those in this process, and commands that the user names."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from penstock.bench.context import ExperimentContext
from penstock.bench.peers import SHORT, Peer
from penstock.bench.peers.commands import CommandPeer
from penstock.bench.peers.rdflib_windows import RdflibWindows

RSP_JS, JENA = "rsp-js", "jena"
_WRAPPER = Path(__file__).with_name("rsp_js.cjs")


def window_peers(context: ExperimentContext) -> list[Peer]:
    """The peers besides pyoxigraph: rdflib, rsp-js, and the user's commands; remarks list skipped ones."""
    peers: list[Peer] = []
    if find_spec("rdflib") is None:
        context.remark("rdflib was skipped: it is not installed (pip install rdflib).")
    else:
        peers.append(RdflibWindows())
    if RSP_JS not in context.peers:
        context.remark("rsp-js was skipped: --peer rsp-js=FOLDER names the folder that npm installed it in.")
    for name, command in context.peers.items():
        if name == RSP_JS:
            found = _rsp_js(context, Path(command))
            peers += [] if found is None else [found]
        elif name != JENA:
            peers.append(CommandPeer.of(name, command))
    return peers


def _rsp_js(context: ExperimentContext, folder: Path) -> CommandPeer | None:
    """rsp-js behind a wrapper command; the folder contains, or is, `node_modules`."""
    modules = folder if folder.name == "node_modules" else folder / "node_modules"
    node = shutil.which("node")
    if node is None:
        context.remark("rsp-js was skipped: node is not installed.")
    elif not (modules / RSP_JS).is_dir():
        context.remark(f"rsp-js was skipped: {modules} has no {RSP_JS}; npm install {RSP_JS} puts it there.")
    else:
        environment = {**os.environ, "NODE_PATH": str(modules.resolve())}
        return CommandPeer(RSP_JS, (node, str(_WRAPPER)), SHORT, environment)
    return None

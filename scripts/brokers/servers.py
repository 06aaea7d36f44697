"""A server that outlives the command that starts it: its folder, its ports, its process."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

HOST = "127.0.0.1"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "penstock-brokers"
SECONDS_TO_START = 120

Addresses = dict[str, str]


class UnavailableError(Exception):
    """A broker that cannot be had on this machine, and why."""


class Server(ABC):
    """Its files are in a folder of its own; one that starts again finds its data and its ports there."""

    name: str
    ports: tuple[str, ...]
    """What each of its ports is for."""

    def __init__(self, folder: Path) -> None:
        self.folder = (folder / self.name).absolute()

    @abstractmethod
    def fetch(self) -> None:
        """Get what is missing, or raise `UnavailableError`."""

    @abstractmethod
    def command(self, ports: dict[str, int]) -> list[str]:
        """Write its settings, and return the command that starts it."""

    @abstractmethod
    def addresses(self) -> Addresses: ...

    def start(self) -> None:
        if self.is_running():
            return
        self.fetch()
        self.folder.mkdir(parents=True, exist_ok=True)
        ports = self.chosen_ports()
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(
                self.command(ports), stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        (self.folder / "pid").write_text(str(process.pid))
        self._wait(process, list(ports.values()))

    def stop(self, kill: bool) -> None:
        pid = self.pid()
        if pid is None:
            return
        os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
        until = time.monotonic() + 20
        while self.is_running():
            if time.monotonic() > until:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        (self.folder / "pid").unlink(missing_ok=True)

    def is_running(self) -> bool:
        return self.pid() is not None

    def pid(self) -> int | None:
        """The number of its process, if that process still runs and was not replaced by a stranger's."""
        with suppress(OSError, ValueError):
            pid = int((self.folder / "pid").read_text())
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
            if str(self.folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                return pid
        return None

    def chosen_ports(self) -> dict[str, int]:
        kept = self.folder / "ports.json"
        if not kept.exists():
            kept.write_text(json.dumps(dict(zip(self.ports, free_ports(len(self.ports)), strict=True))))
        ports: dict[str, int] = json.loads(kept.read_text())
        return ports

    def _wait(self, process: subprocess.Popen[bytes], ports: list[int]) -> None:
        """Return once it listens on all ports."""
        until = time.monotonic() + SECONDS_TO_START
        while not all(listens(port) for port in ports):
            if process.poll() is not None or time.monotonic() > until:
                log = (self.folder / "log").read_text(errors="replace").splitlines()[-20:]
                raise SystemExit("\n".join([f"{self.name} did not start:", *log]))
            time.sleep(0.05)


def free_ports(number: int) -> list[int]:
    """Ports that nobody listens on, all different because they are held at the same time."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_server((HOST, 0))) for _ in range(number)]
        return [one.getsockname()[1] for one in sockets]


def listens(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False


def found(program: str) -> str | None:
    """Debian has servers in folders where users do not look."""
    return shutil.which(program, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/sbin", "/usr/sbin"]))


def install(package: str) -> None:
    """Install a package of Debian, or raise `UnavailableError`. Two processes do not install at the same time."""
    if not found("apt-get"):
        raise UnavailableError(f"{package} is not installed, and this machine has no apt to fetch it")
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    # At runlevel 1 a package does not start its own service.
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    with alone(CACHE / "apt.lock"):
        for command in (["update"], ["install", "-y", "--no-install-recommends", package]):
            apt = [*as_root, "apt-get", "-q", *command]
            ran = subprocess.run(apt, env=quietly, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode != 0:
        raise UnavailableError(f"apt could not install {package}:\n{ran.stdout.strip()}")


@contextmanager
def alone(file: Path) -> Iterator[None]:
    """Nobody else who asks for the same file is in the block at the same time."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield

"""A service as an operator runs it: its own process, real sockets, real workers. Stopped by whoever started it."""

from __future__ import annotations

import http.client
import os
import signal
import ssl
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from tests.servers.ports import free_port
from wallflower import remote
from wallflower.service.migrations import migrate
from wallflower.service.people import People
from wallflower.stores.database import Database

FILE = """\
[service]
database = "{database}"
address = "127.0.0.1:{port}"
tick_s = 1
workers = {workers}
taken_each = 16
shown_after = 1
folder = "files"
{more}
[tables.stays]
declaration = "stays.toml"
owners = ["otto"]
auditors = ["dora"]
askers = ["@lab"]
[[tables.stays.policies]]
command = "count"
epsilon_at_most = "0.05"
askers = ["@lab"]
[tables.salaries]
declaration = "salaries.toml"
owners = ["otto"]
askers = ["@lab"]
[groups]
lab = [{askers}]
"""
PASSWORD = "a password of the tests"  # noqa: S105 - of accounts that live as long as a test


SOON = {"PAUSE_S": (0.1, 0.5), "TRIES": 5 * remote.TRIES}
"""A program looks again sooner than people's programs do, and is as patient: an answer is here two ticks of a second away at most."""


@dataclass
class Running:
    process: subprocess.Popen
    port: int
    folder: Path
    database: str
    scheme: str = "http"

    @property
    def address(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def children(self) -> dict[str, int]:
        """Process ids of the web process and the workers, by their place in the tree."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == self.process.pid and b"spawn_main" in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue  # it ended while we looked
        return {f"child {place}": pid for place, pid in enumerate(sorted(found))}

    def token(self, name: str) -> str:
        database = Database(self.database)
        people = People(database, time.time)
        person = people.by_session(people.start_session(name, source="test"))
        token = people.make_token(person, f"t{time.monotonic_ns()}", 30, source="test")
        database.close()
        return token


def write_files(
    folder: Path, *, database: str = "service.db", askers=("ada",), workers: int = 1, more: str = ""
) -> tuple[Path, int]:
    """SERVICE.toml and accounts beside the laid-out tables."""
    port = free_port()
    path = folder / "SERVICE.toml"
    names = ", ".join(f'"{name}"' for name in askers)
    path.write_text(FILE.format(database=database, port=port, workers=workers, more=more, askers=names))
    return path, port


def add_people(address: str, names) -> None:
    database = Database(address)
    migrate(database)
    people = People(database, time.time)
    for name in names:
        people.add(name, PASSWORD, operator=name == "otto")
    database.close()


@contextmanager
def serving(folder: Path, path: Path, port: int, database: str, *, scheme: str = "http", environment=None):
    """`wallflower serve FILE` until the block ends; stopped with SIGTERM, as systemd does."""
    log = (folder / "serve.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "wallflower", "serve", str(path)],
        stdout=log,
        stderr=log,
        env={**os.environ, **(environment or {})},
    )
    try:
        running = Running(process, port, folder, database, scheme)
        until_healthy(running)
        with patch.multiple(remote, **SOON):
            yield running
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(240)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        log.close()


def _door(running: Running) -> http.client.HTTPConnection:
    if running.scheme == "http":
        return http.client.HTTPConnection("127.0.0.1", running.port, timeout=60)
    trusting = ssl.create_default_context(cafile=running.folder / "certificate.pem")
    return http.client.HTTPSConnection("127.0.0.1", running.port, timeout=60, context=trusting)


def until_healthy(running: Running, patience_s: float = 400) -> None:
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if running.process.poll() is not None:
            raise AssertionError((running.folder / "serve.log").read_text())
        connection = _door(running)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().read() == b'{"ok": true}':
                return
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    message = "the service did not come up"
    raise AssertionError(message)

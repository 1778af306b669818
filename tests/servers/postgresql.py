"""A PostgreSQL server for tests: made in a temporary folder, on loopback and a free port, gone when the tests end.

    from tests.servers.postgresql import database, server  # noqa: F401 - fixtures

`server` is one server for each process that runs tests; `database` is a fresh database on it for each test. Where the
server's programs are missing the tests are skipped, and with CI=true they fail: nothing is skipped there.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.servers.ports import free_port

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "shared_buffers": "16MB",
    "max_connections": "100",
    "max_wal_size": "64MB",
    "autovacuum": "off",
    "timezone": "UTC",
}
"""Small, and otherwise what a server has by default: fsync and synchronous_commit stay on."""

LET_IN_WITHIN_S = 600


def programs() -> Path | None:
    """The folder of `initdb` and `postgres`; Debian keeps them off the path."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "postgres").exists()), None)


def unprivileged() -> str | None:
    """Who runs the server: PostgreSQL refuses root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise RuntimeError("root needs a user called postgres or nobody to run PostgreSQL")


@dataclass
class Server:
    """One server; `start` and `stop` may be called again and again, and its rows stay."""

    programs: Path
    folder: Path
    port: int = 0
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def make(self) -> None:
        user = unprivileged()
        if user is not None:
            account = pwd.getpwnam(user)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        self._run(
            "initdb", "-D", str(self.folder / "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
        )
        self.port = self.port or free_port()

    def start(self) -> None:
        options = {"port": str(self.port), "unix_socket_directories": str(self.folder), **SETTINGS, **self.settings}
        flags = " ".join(f"-c {name}={value}" for name, value in options.items())
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-l", str(self.log), "-o", flags, "-w", "-t", "400", "start"
        )

    def stop(self, mode: str = "immediate") -> None:
        """ "fast" ends connections and writes everything out; "immediate" is as if the power went."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "-t", "400", "stop")

    def address(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def execute(
        self, statement: str, *, database: str = "postgres", user: str = "postgres"
    ) -> list[tuple[object, ...]]:
        """Run one statement outside any transaction."""
        import psycopg

        with psycopg.connect(self.address(database, user), autocommit=True) as connection:
            found = connection.execute(statement)
            return found.fetchall() if found.description else []

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        user = unprivileged()
        if user is not None:
            command = [
                "setpriv",
                f"--reuid={user}",
                "--regid=" + str(pwd.getpwnam(user).pw_gid),
                "--clear-groups",
                *command,
            ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=self.folder)
        if done.returncode:
            said = self.log.read_text(errors="replace")[-2000:] if self.log.exists() else ""
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stderr}{said}")


def wait_to_be_let_in() -> None:
    """Ten seconds are enough for a server that is there, but not on every loaded machine; a port that is closed refuses at once."""
    from wallflower.engines.postgresql import snapshot
    from wallflower.stores import postgresql as ledgers

    ledgers.LET_IN_WITHIN_S = (LET_IN_WITHIN_S, LET_IN_WITHIN_S)
    snapshot.PATIENCE_S["connect_timeout"] = LET_IN_WITHIN_S


def make(settings: dict[str, str] | None = None) -> Server:
    """A running server of one's own; the caller ends it with `discard`. Another process may take the free port first."""
    found = programs()
    if found is None:
        if os.environ.get("CI") == "true":
            raise RuntimeError("PostgreSQL is not installed (Debian: apt-get install postgresql)")
        pytest.skip("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    wait_to_be_let_in()
    folder = Path(tempfile.mkdtemp(prefix="wallflower-postgresql-"))
    server = Server(found, folder, settings=dict(settings or {}))
    try:
        server.make()
        for attempt in range(3):
            try:
                server.start()
                break
            except RuntimeError:
                if attempt == 2:
                    raise
                server.port = free_port()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return server


def drop(server: Server, name: str) -> None:
    """A database, and whoever is still connected to it: the server waits five seconds for them to go, which may be too short."""
    import psycopg

    for _ in range(60):
        with contextlib.suppress(psycopg.errors.ObjectInUse):
            server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
            return
    server.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def discard(server: Server) -> None:
    try:
        server.stop()
    except RuntimeError:
        pass  # it was stopped by the test
    finally:
        for _ in range(20):
            shutil.rmtree(server.folder, ignore_errors=True)
            if not server.folder.exists():
                break
            time.sleep(0.05)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One server for each process that runs tests."""
    made = make()
    yield made
    discard(made)


@pytest.fixture
def database(server: Server) -> Iterator[str]:
    """The address of a fresh database, without a secret in it."""
    name = f"t{uuid.uuid4().hex}"
    server.execute(f"CREATE DATABASE {name}")
    yield server.address(name)
    drop(server, name)

"""What the docs tell an operator to do is what works: the file, the unit, the proxy, the database's versions."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.servers.ports import free_port
from wallflower.errors import DeclarationError, LedgerError
from wallflower.service.migrations import STEPS, migrate
from wallflower.service.parser import loads
from wallflower.service.requests import find
from wallflower.stores.database import Database

DOCS = Path(__file__).resolve().parents[2] / "docs"


def example() -> str:
    (text,) = re.findall(r"```toml\n(.*?)```", (DOCS / "service.md").read_text(), re.DOTALL)
    return text


def test_the_documented_file_is_one():
    service = loads(example())
    assert service.tables["salaries"].policies[0].command == "count"
    assert service.members(("@research",)) == {"lab-1", "lab-2"}
    commented = re.sub(r"^# (?=\[openid|issuer|client_id|secret|address)", "", example(), flags=re.MULTILINE)
    assert loads(commented).openid.client_id == "wallflower"
    assert tomllib.loads(example())


def test_a_proxy_is_known_however_its_number_is_written():
    """A proxy that is not known makes all visitors one, who are throttled together."""
    assert loads(example().replace('proxy = "127.0.0.1"', 'proxy = "0:0:0::1"')).proxy == "::1"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"127.0.0.1:8443"', '"0.0.0.0:8443"', "other machines"),
        ('"127.0.0.1:8443"', '"127.0.0.1:²"', "an address and a port"),
        ('"127.0.0.1:8443"', f'"127.0.0.1:{"9" * 5000}"', "an address and a port"),
        ('"127.0.0.1:8443"', '"127.0.0.1:65536"', "an address and a port"),
        ("postgresql://wallflower@db", "postgresql://u:secret@db", "no place for one"),
        ('askers = ["@research"]               # a group', 'askers = ["@nobody"]', "no group"),
        ('command = "count"', 'command = "explain"', "one of"),
        ('proxy = "127.0.0.1" ', 'proxy = "localhost" ', "in numbers"),
        ("workers = 2", "worker = 2", "worker"),
        ("tick_s = 60", "tick_s = 0", "tick_s"),
        ('owners = ["payroll"]', "", "owners"),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, said):
    text = example()
    assert old in text
    with pytest.raises(DeclarationError, match=r"line \d+") as caught:
        loads(text.replace(old, new, 1))
    assert said in str(caught.value)
    assert "secret@" not in str(caught.value) or "u:" not in str(caught.value)


def test_the_unit_reads_as_one():
    unit = configparser.ConfigParser(strict=True, interpolation=None)
    unit.optionxform = str
    unit.read(DOCS / "deployment" / "wallflower.service")
    assert {"Unit", "Service", "Install"} == set(unit.sections())
    assert "wallflower serve" in unit["Service"]["ExecStart"]
    assert unit["Service"]["UMask"] == "0077"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_takes_the_unit(tmp_path):
    text = (
        (DOCS / "deployment" / "wallflower.service")
        .read_text()
        .replace("%S/wallflower/venv/bin/wallflower", shutil.which("true"))
    )
    (tmp_path / "wallflower.service").write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "wallflower.service")], capture_output=True, text=True, check=False
    )
    assert "Unknown" not in done.stderr


def test_the_proxys_braces_and_lines_are_whole():
    """nginx itself is not needed to see a forgotten brace or semicolon."""
    text = re.sub(r"#.*", "", (DOCS / "deployment" / "nginx.conf").read_text())
    assert text.count("{") == text.count("}") == 2
    for line in filter(None, map(str.strip, text.splitlines())):
        assert line.endswith((";", "{", "}")), line


NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}{os.pathsep}/usr/sbin")


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
def test_nginx_takes_the_proxy(tmp_path):
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=wallflower.example",
            "-keyout",
            str(tmp_path / "wallflower.key"),
            "-out",
            str(tmp_path / "wallflower.pem"),
        ],
        check=True,
        capture_output=True,
    )
    proxy = (DOCS / "deployment" / "nginx.conf").read_text().replace("listen 443", f"listen 127.0.0.1:{free_port()}")
    (tmp_path / "nginx.conf").write_text(f"pid {tmp_path}/pid;\nevents {{}}\nhttp {{\n{proxy}\n}}\n")
    done = subprocess.run(
        [NGINX, "-t", "-c", str(tmp_path / "nginx.conf")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_earlier_version_is_brought_to_today(tmp_path):
    """From nothing and from each version there has been; a later one is refused."""
    _walk_versions(lambda start: Database(str(tmp_path / f"{start}.db")))


FIRST_REQUEST = (
    "INSERT INTO requests (id, number, subject, asker, command, fields, purpose, price, bound, submitted_at, state) "
    "VALUES ('a', 1, 'stays', 'ada', 'count', '{}', 'p', '{}', '', 'then', 'waiting')"
)


def test_what_an_earlier_version_kept_is_there_today(tmp_path):
    database = Database(str(tmp_path / "1.db"))
    with database.write() as changes:
        changes.run("CREATE TABLE service_version (version INTEGER PRIMARY KEY, at TEXT NOT NULL)")
        for statement in (*STEPS[0].split(";"), FIRST_REQUEST, "INSERT INTO service_version VALUES (1, 'then')"):
            changes.run(statement)
    assert migrate(database) == list(range(2, len(STEPS) + 1))
    with database.read() as seen:
        kept = find(seen, "a")
    assert (kept.asker, kept.state, kept.sent_as) == ("ada", "waiting", None)
    database.close()


def _walk_versions(make):
    for start in range(len(STEPS) + 1):
        database = make(start)
        with database.write() as changes:
            changes.run("CREATE TABLE service_version (version INTEGER PRIMARY KEY, at TEXT NOT NULL)")
            for step in range(start):
                for statement in STEPS[step].split(";"):
                    changes.run(statement)
                changes.run("INSERT INTO service_version VALUES (:version, 'then')", version=step + 1)
        assert migrate(database) == list(range(start + 1, len(STEPS) + 1))
        assert migrate(database) == []
        with database.write() as changes:
            changes.run("INSERT INTO service_version VALUES (:version, 'later')", version=len(STEPS) + 1)
        with pytest.raises(LedgerError, match="version"):
            migrate(database)
        database.close()

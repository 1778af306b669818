"""A real deployment from the docs: PostgreSQL for the service and the ledger, two workers, TLS of its own."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import urllib.request

import pytest

import wallflower as wf
from tests.servers.postgresql import database, server  # noqa: F401 - fixtures
from tests.service.running import add_people, serving, write_files
from wallflower import remote
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.service.addresses import NoRedirects

pytestmark = pytest.mark.slow


def test_postgresql_two_workers_and_tls(laid_out, tmp_path, monkeypatch, database):  # noqa: F811 - the fixture
    for name in ("stays", "salaries"):
        shutil.copy(laid_out.folder / f"{name}.csv", tmp_path)
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
            *("-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "certificate.pem")),
        ],
        check=True,
        capture_output=True,
    )
    address = database
    for name in ("stays", "salaries"):
        text = (laid_out.folder / f"{name}.toml").read_text()
        (tmp_path / f"{name}.toml").write_text(text.replace(f'ledger = "{name}.ledger"', f'ledger = "{address}"'))
        Ledger.init(load(tmp_path / f"{name}.toml"))
    more = 'certificate = "certificate.pem"\ncertificate_key = "key.pem"'
    path, port = write_files(tmp_path, database=address, workers=2, more=more)
    add_people(address, ["otto", "ada", "dora"])
    with serving(tmp_path, path, port, address, scheme="https") as running:
        trusting = ssl.create_default_context(cafile=tmp_path / "certificate.pem")
        opener = urllib.request.build_opener(NoRedirects, urllib.request.HTTPSHandler(context=trusting))
        monkeypatch.setattr(remote, "_OPENER", opener)
        service = wf.connect(running.address, token=running.token("ada"))
        query = wf.count.Outliers(columns=("age",), neighbours=3, radius=6, epsilon="0.05")
        answers = [
            service.table("stays").release(query, purpose="from the docs", patience_s=1200).to_json() for _ in range(2)
        ]
    entries = [answer["ledger"]["entry"] for answer in answers]
    assert len(set(entries)) == 2
    history = Ledger.open(load(tmp_path / "stays.toml")).history()
    assert sum(line.kind == "charge" for line in history) == 2

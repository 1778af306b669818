"""The service as its own processes: programs ask, workers die, everything is answered once."""

from __future__ import annotations

import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import wallflower as wf
from tests.service.running import add_people, serving, write_files
from wallflower.ledger import Ledger
from wallflower.remote import connect
from wallflower.schema import load

pytestmark = pytest.mark.slow
QUERY = {"columns": ("age", "days"), "neighbours": 3, "radius": 6}


@pytest.fixture(scope="module")
def running(laid_out, tmp_path_factory):
    folder = tmp_path_factory.mktemp("running")
    shutil.copytree(laid_out.folder, folder, dirs_exist_ok=True)
    (folder / "service.db").unlink()
    askers = [f"lab-{i}" for i in range(8)]
    path, port = write_files(folder, askers=askers, workers=2)
    database = str(folder / "service.db")
    add_people(database, ["otto", "dora", *askers])
    with serving(folder, path, port, database) as service:
        yield service


def test_a_program_prices_asks_and_reads_its_answer(running):
    table = connect(running.address, token=running.token("lab-0")).table("stays")
    query = wf.count.Outliers(**QUERY, epsilon="0.05")
    price = table.price(query)
    assert price.guarantee.parameters == {"epsilon": "0.05"}
    answer = table.release(query, purpose="planning", patience_s=1200)
    assert isinstance(answer["count"], int)
    assert answer.private is True
    assert answer.guarantee.sentence.startswith("Whatever")


def test_errors_arrive_as_the_same_errors(running):
    remote = connect(running.address, token=running.token("lab-1"))
    with pytest.raises(wf.DeclarationError, match="ages"):
        remote.table("stays").price(wf.count.Outliers(columns=("ages",), neighbours=3, radius=6, epsilon="0.05"))
    with pytest.raises(wf.UsageError):
        remote.table("no-such-table").price(wf.count.Outliers(**QUERY, epsilon="0.05"))
    with pytest.raises(wf.UsageError, match="noise"):
        remote.table("stays").price(wf.count.Outliers(**QUERY, epsilon="0.05", noise="laplace"))
    with pytest.raises(wf.UsageError):
        connect("http://127.0.0.1.example.org", token="t")  # noqa: S106 - refused before it is sent


def test_processes_are_exchanged_while_people_ask_and_no_request_is_lost(running):
    """SIGHUP: every child is a new one afterwards; each question asked meanwhile is answered once."""
    before, old = _charges(running), set(running.children().values())
    tokens = [running.token(f"lab-{i}") for i in range(2, 6)]
    with ThreadPoolExecutor(4) as pool:
        query = wf.count.Outliers(**QUERY, epsilon="0.01")
        asked = [
            pool.submit(
                lambda token=token: (
                    connect(running.address, token=token)
                    .table("stays")
                    .release(query, purpose="meanwhile", patience_s=1200)
                    .to_json()
                )
            )
            for token in tokens
        ]
        running.process.send_signal(signal.SIGHUP)
        _until(lambda: len(running.children()) == len(old) and not old & set(running.children().values()))
        entries = [one.result(1200)["ledger"]["entry"] for one in asked]
    assert len(set(entries)) == len(tokens) == _charges(running) - before


def _until(condition, patience_s=1200):
    end = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def test_a_file_that_cannot_be_taken_over_changes_nothing(running):
    """The service goes on by its old file, and says why."""
    path = running.folder / "SERVICE.toml"
    text = path.read_text()
    path.write_text(text.replace("workers = 2", "workers = 3"))
    old = set(running.children().values())
    running.process.send_signal(signal.SIGHUP)
    _until(lambda: len(running.children()) == len(old) and not old & set(running.children().values()))
    path.write_text(text)
    assert "'workers' cannot change while the service runs" in (running.folder / "serve.log").read_text()


def test_stopped_and_started_again_nothing_is_lost_and_nothing_is_charged_twice(laid_out, tmp_path):
    """SIGTERM while people ask: it ends in order, and the next start answers what waits, once."""
    shutil.copytree(laid_out.folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "service.db").unlink()
    path, port = write_files(tmp_path, workers=2)
    database = str(tmp_path / "service.db")
    add_people(database, ["ada", "otto", "dora"])
    query = wf.count.Outliers(**QUERY, epsilon="0.01")
    with serving(tmp_path, path, port, database) as first:
        token = first.token("ada")
        stays = connect(first.address, token=token).table("stays")
        asked = [stays.ask(query, purpose="before the stop") for _ in range(6)]
        _until(lambda: _charges(first) > 0)
        first.process.send_signal(signal.SIGTERM)
        assert first.process.wait(600) == 0
        children = first.children()
        said = (tmp_path / "serve.log").read_text()
    assert not children
    assert "Stopping: what is under way is finished first." in said
    assert "Traceback" not in said
    with serving(tmp_path, path, port, database) as second:
        entries = [handle.wait(1200).to_json()["ledger"]["entry"] for handle in asked]
        assert len(set(entries)) == len(asked) == _charges(second)


def _charges(running) -> int:
    declaration = load(running.folder / "stays.toml")
    history = Ledger.open(declaration).history()
    return sum(line.to_json()["kind"] == "charge" for line in history)

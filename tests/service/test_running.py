"""The service as its own processes: programs ask, workers die, everything is answered once."""

from __future__ import annotations

import os
import shutil
import signal
import threading
import time

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
    answer = table.release(query, purpose="planning", patience_s=120)
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


def test_children_killed_at_random_lose_no_request_and_charge_none_twice(running):
    """Web process and workers killed while many ask: every request ends answered once, or charged and reported."""
    done: dict[str, object] = {}

    def ask(name: str) -> None:
        remote = connect(running.address, token=running.token(name))
        for turn in range(2):
            query = wf.count.Outliers(**QUERY, epsilon=f"0.0{1 + turn}")
            handle = None
            for _ in range(60):
                try:
                    handle = remote.table("stays").ask(query, purpose="load")
                    break
                except wf.WallflowerError:
                    time.sleep(0.5)  # the web process was just killed; a submission that was not kept is sent again
            for _ in range(200):
                try:
                    done[f"{name} {turn}"] = handle.wait(5).to_json()
                    break
                except wf.LedgerError as error:
                    done[f"{name} {turn}"] = str(error)
                    break
                except wf.WallflowerError as error:
                    if "charge stands" in str(error):
                        done[f"{name} {turn}"] = str(error)
                        break
                    time.sleep(0.5)

    names = [f"lab-{i}" for i in range(8)]
    threads = [threading.Thread(target=ask, args=(name,)) for name in names]
    before = _charges(running)
    for thread in threads:
        thread.start()
    end = time.monotonic() + 12
    victims = 0
    while time.monotonic() < end:
        children = list(running.children().values())
        if children:
            os.kill(children[victims % len(children)], signal.SIGKILL)
            victims += 1
        time.sleep(2)
    for thread in threads:
        thread.join(240)
    assert len(done) == 16
    charged = _charges(running) - before
    answered = [told for told in done.values() if isinstance(told, dict)]
    lost = [told for told in done.values() if isinstance(told, str)]
    entries = [told["ledger"]["entry"] for told in answered]
    assert len(set(entries)) == len(answered)
    assert len(answered) <= charged
    assert len(answered) + len(lost) == 16
    assert victims >= 4


def _charges(running) -> int:
    declaration = load(running.folder / "stays.toml")
    history = Ledger.open(declaration).history()
    return sum(line.to_json()["kind"] == "charge" for line in history)

"""Nothing is overspent, lost or shown uncharged, whoever else charges and whenever the power goes; on both stores."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from fractions import Fraction
from pathlib import Path

import pytest

from tests.ledger import racer
from tests.ledger.places import STORES
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP

ROOT = Path(__file__).resolve().parents[2]
CHARGE = PureDP(epsilon=Fraction("0.001"), neighbours="add-remove")

pytestmark = pytest.mark.slow


@pytest.fixture(params=STORES)
def place(request, tmp_path):
    if request.param == "sqlite":
        return str(tmp_path)
    running = request.getfixturevalue("server")
    if not running.execute("SELECT 1 FROM pg_database WHERE datname = 'ledgers'"):
        running.execute("CREATE DATABASE ledgers")
    return f"{running.address('ledgers')}#t{uuid.uuid4().hex}"


def run(what, place, number, *, timeout_s=600):
    Ledger.init(racer.declared(place))
    command = [sys.executable, "-m", "tests.ledger.racer", what, place, str(number)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def charged_and_answered(ledger):
    lines = ledger.history()
    charged = {line.event.content["request"]: line.event.entry for line in lines if line.kind == "charge"}
    return charged, {line.event.content["charge"] for line in lines if line.kind == "answer"}


def raced(place, processes, **limits):
    made = run("race", place, processes, **limits)
    declared = racer.declared(place)
    ledger = Ledger.open(declared)
    assert len(made) == processes
    assert sum(made) == 40  # 4 / 0.1: what the processes were told they had is all there was
    assert ledger.verify().charges == 40
    assert ledger.show(declared).accounts[0].spent["epsilon"] == Fraction(4)


def killed(place, rounds, *, least, **limits):
    happened = run("kill", place, rounds, **limits)
    declared = racer.declared(place)
    ledger = Ledger.open(declared)
    assert len(happened["killed"]) >= least, "too few were killed to show anything"
    assert len(happened["shown"]) >= least, "too few were left alive to show anything"
    ledger.verify()
    charged, answered = charged_and_answered(ledger)
    assert set(happened["shown"]) <= {request for request, entry in charged.items() if entry in answered}
    assert ledger.show(declared).accounts[0].spent["epsilon"] == Fraction(len(charged), 1000)
    # An id whose process is known to be gone is dead, and the ledger takes new charges.
    for request in [request for request, entry in charged.items() if entry not in answered][:1]:
        number = int(request.removeprefix("round-"))
        with pytest.raises(LedgerError, match="Use a new id"):
            ledger.charge(CHARGE, declaration=declared, query={"round": number}, request_id=request)
    ledger.charge(CHARGE, declaration=declared, query={"round": "after"})


def test_eight_processes_racing_for_the_last_of_a_budget(place):
    raced(place, 8)


def test_killed_at_random_points_every_shown_answer_is_charged(place):
    killed(place, 60, least=6)


@pytest.mark.campaign
def test_sixty_four_processes_racing_for_the_last_of_a_budget(place):
    raced(place, 64, timeout_s=600)


@pytest.mark.campaign
def test_killed_five_hundred_times_every_shown_answer_is_charged(place):
    killed(place, 500, least=50, timeout_s=1800)


def test_showing_before_charging_would_be_noticed(tmp_path):
    happened = run("careless", str(tmp_path), 60)
    charged, _ = charged_and_answered(Ledger.open(racer.declared(tmp_path)))
    assert set(happened["shown"]) - set(charged)

"""Nothing is overspent, lost or shown uncharged, whoever else charges and whenever the power goes."""

from __future__ import annotations

import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from tests.ledger import racer
from wallflower.errors import LedgerError
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


def run(what, folder):
    Ledger.init(racer.declared(folder))
    command = [sys.executable, "-m", "tests.ledger.racer", what, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def charged_and_answered(ledger):
    lines = ledger.history()
    charged = {line.event.content["request"]: line.event.entry for line in lines if line.kind == "charge"}
    return charged, {line.event.content["charge"] for line in lines if line.kind == "answer"}


def test_eight_processes_racing_for_the_last_of_a_budget(tmp_path):
    made = run("race", tmp_path)
    declared = racer.declared(tmp_path)
    ledger = Ledger.open(declared)
    assert len(made) == racer.PROCESSES
    assert sum(made) == 40  # 4 / 0.1: what the processes were told they had is all there was
    assert sum(line.kind == "charge" for line in ledger.history()) == 40
    (standing,) = ledger.show(declared).accounts
    assert standing.spent["epsilon"] == Fraction(4)


def test_killed_at_random_points_every_shown_answer_is_charged(tmp_path):
    happened = run("kill", tmp_path)
    declared = racer.declared(tmp_path)
    ledger = Ledger.open(declared)
    assert len(happened["killed"]) >= 20, "too few were killed to show anything"
    assert len(happened["shown"]) >= 20, "too few were left alive to show anything"
    charged, answered = charged_and_answered(ledger)
    assert set(happened["shown"]) <= {request for request, entry in charged.items() if entry in answered}
    (standing,) = ledger.show(declared).accounts
    assert standing.spent["epsilon"] == Fraction(len(charged), 100)
    # An id that died with its process stays dead, and the ledger takes new charges.
    promise = PureDP(epsilon=Fraction("0.01"), neighbours="add-remove")
    for request in [request for request, entry in charged.items() if entry not in answered][:1]:
        number = int(request.removeprefix("round-"))
        with pytest.raises(LedgerError, match="Use a new id"):
            ledger.charge(promise, declaration=declared, query={"round": number}, request_id=request)
    ledger.charge(promise, declaration=declared, query={"round": "after"})


def test_showing_before_charging_would_be_noticed(tmp_path):
    happened = run("careless", tmp_path)
    charged, _ = charged_and_answered(Ledger.open(racer.declared(tmp_path)))
    assert set(happened["shown"]) - set(charged)

"""Run as a program: many processes use one ledger at once, or are killed while they do. Prints one JSON line.

    python -m tests.ledger.racer race PLACE PROCESSES     they charge until they are refused
    python -m tests.ledger.racer kill PLACE ROUNDS        they charge, answer and show, and are killed on the way
    python -m tests.ledger.racer careless PLACE ROUNDS    the same, but they show first

PLACE is the folder of a SQLite ledger or the address of a server. A program of its own, because a process that forks
should have no threads, and to import everything once.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

from tests.declared import declare
from wallflower.errors import BudgetError
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import PureDP
from wallflower.schema.declaration import Budget
from wallflower.stores.opening import is_server

PROCESSES = 8
ROUNDS = 200


def declared(place: Path | str):
    """The table of a server's ledger is named by the part after `#`."""
    budgets = {"dp": Budget(epsilon=Fraction(4))}
    if is_server(str(place)):
        address, _, table = str(place).partition("#")
        return declare(Path(), id=table, ledger=address, budgets=budgets)
    return declare(Path(place), budgets=budgets)


def race(place: Path | str, processes: int) -> list[int]:
    """How many charges of 0.1 each process was told it had made."""
    declaration = declared(place)
    ledger = Ledger.open(declaration, patience_s=120)
    promise = PureDP(epsilon=Fraction("0.1"), neighbours="add-remove")
    start, go = os.pipe()
    results, result = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(start, 1)  # end of file: all start at once
            made = 0
            try:
                while True:
                    ledger.charge(promise, declaration=declaration, query={"process": number})
                    made += 1
            except BudgetError:
                os.write(result, f"{made}\n".encode())
                os._exit(0)
            os._exit(1)
        children.append(child)
    os.close(go)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert ends == [0] * processes, ends
    return [int(line) for line in os.read(results, 10_000).split()]


def kill(place: Path | str, rounds: int, *, careless: bool = False) -> dict[str, list[str]]:
    """Which requests showed their answer, and which processes were killed before they ended.

    `careless` shows before it charges: the order that must not be, to see that it would be noticed.
    """
    declaration = declared(place)
    ledger = Ledger.open(declaration)
    promise = PureDP(epsilon=Fraction("0.001"), neighbours="add-remove")
    chance = random.Random(20)
    shown: list[str] = []
    killed: list[str] = []
    longest_s = 0.1
    for number in range(rounds):
        request = f"round-{number}"
        results, result = os.pipe()
        child = os.fork()
        if child == 0:
            if careless:
                os.write(result, request.encode())
            charge = ledger.charge(promise, declaration=declaration, query={"round": number}, request_id=request)
            ledger.answer(charge.entry, {"release": {"count": number}})
            if not careless:
                os.write(result, request.encode())
            os._exit(0)
        os.close(result)
        ended = select.select([results], [], [], chance.uniform(0, longest_s))[0]
        os.kill(child, signal.SIGKILL)
        text = os.read(results, 100).decode()
        if text:
            shown.append(text)
        # Keeps the kills spread over the work, however fast the machine; soon, if it is slow.
        longest_s *= 0.8 if ended else 1.25
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
            killed.append(request)
        os.close(results)
    return {"shown": shown, "killed": killed}


if __name__ == "__main__":
    works = {"race": race, "kill": kill, "careless": partial(kill, careless=True)}
    sys.stdout.write(json.dumps(works[sys.argv[1]](sys.argv[2], int(sys.argv[3]))))

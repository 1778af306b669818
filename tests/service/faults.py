"""Many ask while processes are killed: what every request came to, and what the ledger says of it."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import wallflower as wf
from tests.service.running import add_people, serving, write_files
from wallflower.ledger import Ledger
from wallflower.schema import load

EPSILON = "0.0005"
PATIENCE_S = 1200


@dataclass
class Tally:
    """What became of every request, by its name."""

    answered: dict[str, dict] = field(default_factory=dict)
    reported: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    kills: Counter = field(default_factory=Counter)

    @property
    def ended(self) -> int:
        return len(self.answered) + len(self.reported) + len(self.refused)


def laid_out_on(folder: Path, laid_out, address: str | None, *, askers: int, workers: int):
    """Tables, a service's file and its people; ledgers and the service's database at `address`, or in files."""
    database = address or str(folder / "service.db")
    for name in ("stays", "salaries"):
        shutil.copy(laid_out.folder / f"{name}.csv", folder)
        text = (laid_out.folder / f"{name}.toml").read_text()
        text = text if address is None else text.replace(f'ledger = "{name}.ledger"', f'ledger = "{address}"')
        (folder / f"{name}.toml").write_text(text)
        Ledger.init(load(folder / f"{name}.toml"))
    names = [f"lab-{i}" for i in range(askers)]
    path, port = write_files(folder, database=address or "service.db", askers=names, workers=workers)
    add_people(database, ["otto", "dora", *names])
    return serving(folder, path, port, database), names


def asker(running, name: str, token: str, tally: Tally, *, until: float, most: int) -> None:
    """Ask again and again, each question under a name of its own; look twice at every answer."""
    remote = wf.connect(running.address, token=token)
    query = wf.count.Outliers(columns=("age", "days"), neighbours=3, radius=6, epsilon=EPSILON)
    end = until + PATIENCE_S
    for turn in range(most):
        if time.monotonic() > until:
            return
        called = f"{name}-{turn}"
        tally.asked.append(called)
        handle = _tried(lambda called=called: remote.table("stays").ask(query, purpose="load", request_id=called), end)
        if handle is None:
            return
        _follow(handle, called, tally, end)


def _tried(what, end: float):
    """What a patient client gets: whatever is only away for a while is asked again, under the same name."""
    while time.monotonic() < end:
        try:
            return what()
        except wf.WallflowerError:
            time.sleep(0.3)
    return None


def _follow(handle, called: str, tally: Tally, end: float) -> None:
    while time.monotonic() < end:
        try:
            told = handle.wait(10).to_json()
        except wf.BudgetError as error:
            tally.refused[called] = str(error)
            return
        except wf.WallflowerError as error:
            if "was charged" in str(error) or "charge stands" in str(error):
                tally.reported[called] = str(error)
                return
            time.sleep(0.3)
            continue
        again = _tried(lambda: handle.wait(10).to_json(), end)
        if again is not None and again != told:
            tally.changed.append(called)
        tally.answered[called] = told
        return


def campaign(
    running,
    names: list[str],
    *,
    seconds: float,
    most: int = 10**6,
    server=None,
    deaths: Iterator[bool] | None = None,
    between_s: tuple[float, float] = (1.0, 6.0),
) -> Tally:
    """Let everybody ask for so long while a random process dies every few seconds; `deaths`: whether the next is the server;
    `between_s`: the shortest and the longest time between two.
    """
    tally, chance = Tally(), random.Random(1)
    deaths = iter(lambda: chance.random() < 0.25, None) if deaths is None else deaths
    tokens = {name: running.token(name) for name in names}
    until = time.monotonic() + seconds
    threads = [
        threading.Thread(
            target=asker, args=(running, name, tokens[name], tally), kwargs={"until": until, "most": most}, daemon=True
        )
        for name in names
    ]
    for thread in threads:
        thread.start()
    while time.monotonic() < until and any(thread.is_alive() for thread in threads):
        time.sleep(chance.uniform(*between_s))
        next_is_server = next(deaths, None)
        if next_is_server is not None:
            _kill(running, chance, tally, server if next_is_server else None)
    for thread in threads:
        thread.join(PATIENCE_S + 60)
    return tally


def _kill(running, chance: random.Random, tally: Tally, server) -> None:
    if server is not None:
        _kill_server(server)
        tally.kills["PostgreSQL"] += 1
        return
    children = list(running.children().values())
    if children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(chance.choice(children), signal.SIGKILL)
            tally.kills["web, workers, clerk"] += 1


def _kill_server(server) -> None:
    """As if the machine's memory had run out: the first process dies, and the server is started again."""
    pid = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            server.start()
        except RuntimeError:  # its last children still hold the memory they shared
            if time.monotonic() > end:
                raise
            time.sleep(0.1)
        else:
            return


def judged(folder: Path, tally: Tally) -> dict[str, object]:
    """The ledger's own word on all of it."""
    ledger = Ledger.open(load(folder / "stays.toml"))
    ledger.verify()
    lines = [line.to_json() for line in ledger.history()]
    charges = [line["content"] for line in lines if line["kind"] == "charge"]
    spent = sum((Fraction(one["amounts"]["epsilon"]) for one in charges), Fraction(0))
    entries = [told["ledger"]["entry"] for told in tally.answered.values()]
    return {
        "asked": len(tally.asked),
        "answered": len(tally.answered),
        "charged and reported": len(tally.reported),
        "refused by the budget": len(tally.refused),
        "lost": len(tally.asked) - tally.ended,
        "charges": len(charges),
        "charged twice": len(charges) - len({one["request"] for one in charges}),
        "overspent": max(Fraction(0), spent - 4),
        "answers that share an entry": len(entries) - len(set(entries)),
        "changed": len(tally.changed),
        "kills": dict(tally.kills),
    }


def check(folder: Path, tally: Tally) -> dict[str, object]:
    found = judged(folder, tally)
    kept = ("lost", "charged twice", "overspent", "answers that share an entry", "changed")
    print(  # noqa: T201 - a campaign's figures
        f"\n{found['asked']} asked: {found['answered']} answered, {found['charged and reported']} charged and reported, "
        f"{found['refused by the budget']} refused by the budget; {', '.join(f'{found[name]} {name}' for name in kept)}; "
        f"killed {found['kills']}",
        flush=True,
    )
    print("\n" + "\n".join(f"{name:>30}: {value}" for name, value in found.items()), flush=True)  # noqa: T201 - a campaign's figures
    for name in kept:
        assert found[name] == 0, (name, found)
    # A worker may die between its charge and its word: the next one reports it, so nothing is charged in silence.
    assert found["answered"] <= found["charges"] <= found["answered"] + found["charged and reported"]
    return found

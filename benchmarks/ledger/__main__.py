"""Run: python -m benchmarks.ledger [--quick].

Two questions. Does the cost of opening a ledger, charging it and recording an answer depend on how long it is? And how
many charges a second does a PostgreSQL server take from 64 clients, each with the row's lock to itself, or all of them
through one writer that batches? Both are ratios within one run.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tests.declared import declare
from tests.servers.postgresql import Server, discard, make

from benchmarks.harness import Table
from benchmarks.ledger.filling import filled
from wallflower.ledger import Ledger
from wallflower.ledger.batching import BatchingWriter
from wallflower.privacy.guarantees import PureDP
from wallflower.schema.declaration import Budget, Declaration

PROMISE = PureDP(epsilon=Fraction("0.001"), neighbours="add-remove")
CLIENTS = 64


def declared(place: Path | str) -> Declaration:
    made = declare(Path(tempfile.gettempdir()), budgets={"dp": Budget(epsilon=Fraction(10**6))})
    return replace(made, ledger=place)


def middle(times: list[float]) -> float:
    return sorted(times)[len(times) // 2]


def of_length(length: int, folder: Path, rounds: int) -> tuple[float, float, float]:
    """CPU seconds of open + charge + answer, wall seconds of the same, and wall seconds of `show`."""
    declaration = declared(folder / f"{length}.ledger")
    filled(declaration, length)
    cpu, wall = [], []
    for number in range(rounds):
        started, ticks = time.perf_counter(), time.process_time()
        ledger = Ledger.open(declaration)
        charge = ledger.charge(PROMISE, declaration=declaration, query={"command": "count", "round": number})
        ledger.answer(charge.entry, {"release": {"count": number}})
        cpu.append(time.process_time() - ticks)
        wall.append(time.perf_counter() - started)
    shows = []
    for _ in range(3):
        started = time.perf_counter()
        Ledger.open(declaration).show(declaration).lines()
        shows.append(time.perf_counter() - started)
    return middle(cpu), middle(wall), middle(shows)


def charges_a_second(charge: Callable[[int], object], *, clients: int, seconds: float) -> float:
    """How many calls many threads finish in a while."""
    made = [0] * clients
    end = time.perf_counter() + seconds
    start = threading.Barrier(clients + 1)

    def work(client: int) -> None:
        start.wait()
        while time.perf_counter() < end:
            charge(client)
            made[client] += 1

    threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    started = time.perf_counter()
    end = started + seconds
    start.wait()
    for thread in threads:
        thread.join()
    return sum(made) / (time.perf_counter() - started)


def on_a_server(server: Server, seconds: float) -> tuple[float, float]:
    """Charges a second from 64 clients: each on a connection of its own by the row's lock, and through one writer."""
    server.execute("CREATE DATABASE ledgers")
    declaration = declared(server.address("ledgers"))
    Ledger.init(declaration)
    ledgers = [Ledger.open(declaration, patience_s=120) for _ in range(CLIENTS)]
    question = {"command": "count"}
    alone = charges_a_second(
        lambda client: ledgers[client].charge(PROMISE, declaration=declaration, query=question),
        clients=CLIENTS,
        seconds=seconds,
    )
    with BatchingWriter(Ledger.open(declaration, patience_s=120)) as writer:
        together = charges_a_second(
            lambda _client: writer.charge(PROMISE, declaration=declaration, query=question),
            clients=CLIENTS,
            seconds=seconds,
        )
    Ledger.open(declaration).verify()
    return alone, together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 10^4 entries, two seconds of charges")
    quick = parser.parse_args().quick
    lengths = (10, 10_000) if quick else (10, 10_000, 1_000_000)
    table = Table("ledger")
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for length in lengths:
            cpu, wall, show = of_length(length, Path(folder), 21)
            first = first or cpu
            table.add(
                f"open + charge + answer at {length:,} entries",
                f"{first * 1000:.1f} ms of CPU at {lengths[0]}",
                f"{cpu * 1000:.1f} ms of CPU ({cpu / first:.2f}x), {wall * 1000:.0f} ms in all",
                "within 2x",
            )
            table.add(f"show at {length:,} entries", "", f"{show:.3f} s", "below 1 s")
    server = make({"max_connections": "300"})
    try:
        alone, together = on_a_server(server, 2.0 if quick else 8.0)
    finally:
        discard(server)
    table.add(
        f"charges a second on PostgreSQL, {CLIENTS} clients, one writer that batches",
        f"{alone:.0f} by the row's lock",
        f"{together:.0f} ({together / alone:.1f}x)",
        "at least 8x",
    )


if __name__ == "__main__":
    main()

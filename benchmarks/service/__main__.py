"""How many questions a service prices and answers a second, beside what one process does without it."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.service.running import add_people, serving, write_files

import wallflower as wf
from benchmarks.harness import Table
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.service.demo import lay_out

QUERY = {"columns": ("age", "days"), "neighbours": 3, "radius": 6, "epsilon": "0.001"}
CLIENTS, PRICES, ASKED = 16, 400, 120


def main() -> None:
    table = Table("service: prices and releases a second, start-up, memory")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(folder)
        (folder / "service.db").unlink()
        shutil.copy(folder / "stays.toml", folder / "alone.toml")
        text = (
            (folder / "alone.toml")
            .read_text()
            .replace('id = "stays"', 'id = "alone"')
            .replace("stays.ledger", "alone.ledger")
        )
        (folder / "alone.toml").write_text(text)
        Ledger.init(load(folder / "alone.toml"))
        askers = [f"lab-{i}" for i in range(CLIENTS)]
        path, port = write_files(folder, askers=askers, workers=2)
        database = str(folder / "service.db")
        add_people(database, ["otto", "dora", *askers])
        began = time.perf_counter()
        with serving(folder, path, port, database) as running:
            table.add("up, from the command to /health", "-", f"{time.perf_counter() - began:.1f} s", "<= 5 s idle")
            tokens = [running.token(name) for name in askers]
            alone = _alone(folder)
            _prices(table, running, tokens, alone)
            _releases(table, running, tokens, alone)
            table.add("memory of all its processes (PSS)", "-", f"{_memory(running):.0f} MiB", "<= 600 MiB")


def _alone(folder: Path) -> tuple[float, float]:
    """Prices and releases a second of one session in this process, warm."""
    session = wf.open(folder / "alone.toml")
    query = wf.count.Outliers(**QUERY)
    session.release(query)
    began = time.perf_counter()
    for _ in range(200):
        session.price(query)
    prices = 200 / (time.perf_counter() - began)
    began = time.perf_counter()
    for _ in range(30):
        session.release(query)
    return prices, 30 / (time.perf_counter() - began)


def _prices(table: Table, running, tokens: list[str], alone: tuple[float, float]) -> None:
    query = wf.count.Outliers(**QUERY)

    def client(token: str) -> None:
        stays = wf.connect(running.address, token=token).table("stays")
        for _ in range(PRICES // CLIENTS):
            stays.price(query)

    client(tokens[0])
    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, tokens))
    rate = PRICES / (time.perf_counter() - began)
    table.add(
        f"prices a second, {CLIENTS} clients over HTTP",
        f"one session in process: {alone[0]:.0f}",
        f"{rate:.0f}",
        "ratio reported",
    )


def _releases(table: Table, running, tokens: list[str], alone: tuple[float, float]) -> None:
    query = wf.count.Outliers(**QUERY)
    waits: list[float] = []
    lock = threading.Lock()

    def client(token: str) -> None:
        stays = wf.connect(running.address, token=token).table("stays")
        for _ in range(ASKED // CLIENTS):
            began = time.perf_counter()
            stays.release(query, purpose="measured", patience_s=300)
            with lock:
                waits.append(time.perf_counter() - began)

    began = time.perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(client, tokens))
    rate = len(waits) / (time.perf_counter() - began)
    waits.sort()
    table.add(
        f"releases a second, {CLIENTS} clients, 2 workers, tick 1 s, shown after 2",
        f"one session in process, charge and answer on disk: {alone[1]:.0f}",
        f"{rate:.1f} (the ticks take at most 16 a second)",
        "ratio reported",
    )
    table.add(
        "from submission to answer, median and 95 %",
        "3 ticks",
        f"{waits[len(waits) // 2]:.1f} s, {waits[int(0.95 * len(waits))]:.1f} s",
        "ticks",
    )


def _memory(running) -> float:
    pids = [running.process.pid, *running.children().values()]
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


if __name__ == "__main__":
    main()

"""How many questions a service prices and answers a second, beside what one process does without it."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.service.running import Running, add_people, serving, until_healthy, write_files

import wallflower as wf
from benchmarks.harness import Table
from wallflower.ledger import Ledger
from wallflower.ledger.batching import BatchingWriter
from wallflower.schema import load
from wallflower.service.demo import lay_out
from wallflower.session.pricing import price_of

QUERY = {"columns": ("age", "days"), "neighbours": 3, "radius": 6, "epsilon": "0.001"}
CLIENTS, PRICES, ASKED = 16, 400, 120


def main() -> None:
    table = Table("service: prices and releases a second, start-up, memory")
    _demo(table)
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
            table.add("a deployment up, from the command to /health", "-", f"{time.perf_counter() - began:.1f} s", "-")
            tokens = [running.token(name) for name in askers]
            alone = _alone(folder)
            _prices(table, running, tokens, alone)
            _releases(table, running, tokens, alone, _charges(folder))
            pids = [running.process.pid, *running.children().values()]
            table.add("memory of its processes after that (PSS)", "-", f"{_memory(pids):.0f} MiB", "-")


def _demo(table: Table) -> None:
    """`wallflower serve --demo`: how long until it answers, and what its processes hold once its workers are warm."""
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                [sys.executable, "-m", "wallflower", "serve", "--demo"], stdout=written, stderr=written
            )
        try:
            port = 0
            while not port:
                found = re.search(r"127\.0\.0\.1:(\d+)", log.read_text())
                port = int(found[1]) if found else 0
                time.sleep(0.02)
            running = Running(process, port, Path(name), "")
            until_healthy(running)
            table.add(
                "--demo up, from the command to /health", "-", f"{time.perf_counter() - began:.1f} s", "<= 5 s idle"
            )
            pids = [process.pid, *running.children().values()]
            table.add("--demo, memory of its processes, warm (PSS)", "-", f"{_settled(pids):.0f} MiB", "<= 600 MiB")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(90)


def _settled(pids: list[int]) -> float:
    """Memory once it has stopped growing: compiled code is loaded after the first page can be seen."""
    sizes = [_memory(pids)]
    for _ in range(120):
        time.sleep(0.5)
        sizes.append(_memory(pids))
        if len(sizes) > 20 and max(sizes[-20:]) - min(sizes[-20:]) < 1:
            break
    return sizes[-1]


def _charges(folder: Path) -> float:
    """What the ledger alone takes: charges a second by as many threads through one writer that batches."""
    declaration = load(folder / "alone.toml")
    promise = price_of(wf.count.Outliers(**QUERY), declaration).guarantee
    with BatchingWriter(Ledger.open(declaration, patience_s=120)) as writer, ThreadPoolExecutor(CLIENTS) as pool:
        began = time.perf_counter()
        list(
            pool.map(lambda _: writer.charge(promise, declaration=declaration, query={"command": "count"}), range(600))
        )
        return 600 / (time.perf_counter() - began)


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


def _releases(table: Table, running, tokens: list[str], alone: tuple[float, float], charges: float) -> None:
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
        f"one session in process, charge and answer on disk: {alone[1]:.0f}; the batching ledger's charges alone: {charges:.0f}",
        f"{rate:.1f} (the ticks take at most 16 a second)",
        "ratio reported",
    )
    table.add(
        "from submission to answer, median and 95 %",
        "3 ticks",
        f"{waits[len(waits) // 2]:.1f} s, {waits[int(0.95 * len(waits))]:.1f} s",
        "ticks",
    )


def _memory(pids: list[int]) -> float:
    total = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return total / 1024


if __name__ == "__main__":
    main()

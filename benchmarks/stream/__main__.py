"""How fast a stream is: the noise, the correction, and readings end to end through mosquitto.

`python -m benchmarks.stream` (about two minutes), `--quick` for a tenth of the readings.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import Table, seconds
from benchmarks.stream.broker import PASSWORD, TEXT, mosquitto
from wallflower.noise.bulk import BulkLaplace
from wallflower.noise.entropy import SystemEntropy
from wallflower.noise.laplace import discrete_laplace
from wallflower.stream import assembly
from wallflower.stream.corrector import Corrector
from wallflower.stream.messages import Candidates, Differences, Presumed, Window
from wallflower.stream.parser import load
from wallflower.stream.results import Results
from wallflower.stream.simulation import simulate

ROOT = Path(__file__).resolve().parents[2]


def noise(table: Table, count: int) -> None:
    """One thread, entropy from the operating system; two columns make one reading."""
    entropy = SystemEntropy()
    for scale in (Fraction(10), Fraction(20_000), Fraction(10**8)):
        sampler = BulkLaplace(scale)
        sampler.draw(1000, entropy)
        bulk, _ = seconds(lambda sampler=sampler: sampler.draw(count, entropy))
        few = max(count // 2000, 100)
        scalar, _ = seconds(lambda scale=scale, few=few: [discrete_laplace(scale, entropy) for _ in range(few)])
        slow = f"scalar sampler {few / scalar:,.0f}/s; {_opendp(scale)}"
        table.add(f"noise of scale {int(scale):,}", slow, f"{count / bulk / 1e6:.1f} million draws/s", ">= 2 million/s")
    sensor = None
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.toml"
        file.write_text(TEXT.format(port=1883, window=10_000, roster='["s"]'))
        sensor = assembly.sensor(load(file), "s")
    readings = sensor.quantise(np.random.default_rng(0).normal(size=(10_000, 2)))

    def spoken() -> bytes:
        return sensor.say(readings, series=bytes(8), number=0, entropy=entropy)[0].encode()

    work, _ = seconds(spoken, repeats=10)
    table.add(
        "a reading of two columns, noised, coded, encoded",
        "–",
        f"{10_000 / work / 1e6:.1f} million readings/s",
        ">= 2 million/s",
    )


def _opendp(scale: Fraction) -> str:
    try:
        import opendp.prelude as dp  # noqa: PLC0415 - only where it is installed
    except ImportError:
        return "OpenDP not installed"
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=float(scale))
    values = [0] * 5000
    took, _ = seconds(lambda: measurement(values), repeats=1)
    return f"OpenDP {len(values) / took:,.0f}/s"


def correction(table: Table) -> None:
    count, rng = 100_000, np.random.default_rng(0)
    window = Window(stream=bytes(8), sensor="s", series=bytes(8), number=0)
    presumed = rng.random(count) < 0.3
    corrector = Corrector(stream=bytes(8), outlier_width=1.0)
    corrector.receive(Differences(window=window, differences=rng.laplace(size=count)))

    def work() -> None:
        corrector.receive(Presumed(window=window, outliers=presumed))
        corrector.receive(Candidates(window=window, second=~presumed, third=~presumed))

    best, _ = seconds(work, repeats=20)
    table.add(
        "the paper's correction of 100,000 readings",
        "the paper: 30–40 ms (R, 2015 laptop)",
        f"{1000 * best:.2f} ms",
        "<= 5 ms",
    )


def end_to_end(table: Table, count: int, window: int) -> None:
    """A sensor process, a broker, an analyst process with its results on disk; from first arrival to last commit."""
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        rows = np.random.default_rng(0).normal(size=(count, 2)) * 4
        pq.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), folder / "readings.parquet")
        with mosquitto(folder, window) as file:
            analyst = _party("analyst", str(file), "-o", str(folder / "bench.results"))
            time.sleep(5)
            sensor = _party(
                "sensor",
                str(file),
                "--data",
                str(folder / "readings.parquet"),
                "--name",
                "sensor",
                "--book",
                str(folder / "book"),
            )
            _, status, used = os.wait4(sensor.pid, 0)
            if status != 0:
                raise SystemExit("the sensor failed")
            analyst.send_signal(signal.SIGTERM)
            _, _, used_by_analyst = os.wait4(analyst.pid, 0)
        with closing(sqlite3.connect(folder / "bench.results")) as db:
            stored, span, lag = db.execute(
                "SELECT sum(readings), max(stored) - min(received), avg(stored - received) FROM wallflower_windows"
            ).fetchone()
    if stored != count:
        raise SystemExit(f"{stored} of {count} readings arrived")
    table.add(
        f"{count:,} readings through mosquitto, windows of {window:,}", "–",
        f"{count / span:,.0f} readings/s, lag {1000 * lag:.0f} ms (CPU with start: sensor {_cpu(used):.1f} s, analyst {_cpu(used_by_analyst):.1f} s)",
        ">= 500,000/s",
    )  # fmt: skip


def _cpu(used) -> float:
    return used.ru_utime + used.ru_stime


def thousand(table: Table, windows: int, window: int) -> None:
    """A thousand sensors, each with a name, a series and a book: once in process, once on a thousand connections to mosquitto."""
    with tempfile.TemporaryDirectory() as text, mosquitto(Path(text), window) as file:
        declared = load(file)
        rows = np.random.default_rng(0).normal(size=(window, 2)) * 4

        def source():
            yield from (rows for _ in range(windows))

        columns = {column.name: float(column.domain.step) for column in declared.columns}
        results = Results(None, stream="bench", columns=columns, facts={})
        took, _ = seconds(
            lambda: simulate(declared, [source() for _ in range(1000)], results=results, entropy=SystemEntropy()),
            repeats=1,
        )
        total = 1000 * windows * window
        if results.totals()[1] != total:
            raise SystemExit("readings are missing")
        results.close()
        table.add(
            f"1,000 sensors in process, {windows} windows of {window} each",
            "–",
            f"{total / took:,.0f} readings/s",
            "every window once",
        )
        kept = Path(text) / "bench.results"
        analyst = _party("analyst", str(file), "-o", str(kept))
        time.sleep(5)
        started = time.monotonic()
        crews = [_crew(str(file), str(windows), str(start), "4") for start in range(4)]
        if any(crew.wait(timeout=400) for crew in crews):
            raise SystemExit("a crew failed")
        took = time.monotonic() - started
        analyst.send_signal(signal.SIGTERM)
        analyst.wait(timeout=60)
        with closing(sqlite3.connect(kept)) as db:
            found = db.execute(
                "SELECT count(DISTINCT sensor), count(*), sum(readings) FROM wallflower_windows"
            ).fetchone()
        if found != (1000, 1000 * windows, total):
            raise SystemExit(f"not every window was decided once: {found}")
        table.add(
            "the same through mosquitto, 1,000 connections in 4 processes",
            "–",
            f"{total / took:,.0f} readings/s, connecting included",
            "every window once",
        )


def _crew(*arguments: str) -> subprocess.Popen:
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.stream.crew", *arguments], env={**os.environ, "PYTHONPATH": path}
    )


def _party(*arguments: str) -> subprocess.Popen:
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "WALLFLOWER_MQTT_PASSWORD": PASSWORD, "PYTHONPATH": path}
    command = [sys.executable, "-m", "wallflower", "stream", *arguments]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stream")
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (min(most, 65_536), most)
    )  # the broker inherits it: a connection is a file
    table = Table("stream")
    noise(table, 200_000 if quick else 2_000_000)
    correction(table)
    for window in (10_000, 20_000):
        end_to_end(table, 500_000 if quick else 4_000_000, window)
    thousand(table, 1 if quick else 5, 200)


if __name__ == "__main__":
    main()

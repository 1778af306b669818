"""A standalone Spark master with two workers on loopback: three JVMs, started and stopped by the tests that need them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.ports import free_port
from tests.servers.spark import needed

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A master and workers do little; their JVMs should cost little."""
PATIENCE_S = 240
DEFAULTS = {
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": QUICK,
    "spark.driver.memory": "700m",
    "spark.driver.extraJavaOptions": QUICK,
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.eventLog.enabled": "true",
    "spark.eventLog.compress": "false",
}


@dataclass
class Cluster:
    folder: Path
    port: int
    console: int
    settings: dict[str, str] = field(default_factory=dict)
    """Over those of `DEFAULTS`."""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"spark://127.0.0.1:{self.port}"

    @property
    def events(self) -> Path:
        return self.folder / "events"

    @property
    def work(self) -> Path:
        """What the executors print and log, in a folder for each worker."""
        return self.folder / "work"

    @property
    def driver_environment(self) -> dict[str, str]:
        """For a process that opens a session here: settings as an administrator leaves them, in spark-defaults.conf."""
        return {**self._environment, "SPARK_CONF_DIR": str(self.folder / "conf")}

    def start(self) -> None:
        for name in ("conf", "events", "work", "local"):
            (self.folder / name).mkdir()
        settings = {
            **DEFAULTS,
            **self.settings,
            "spark.eventLog.dir": self.events.as_uri(),
            "spark.local.dir": str(self.folder / "local"),
        }
        lines = "".join(f"{name} {value}\n" for name, value in settings.items())
        (self.folder / "conf" / "spark-defaults.conf").write_text(lines, encoding="utf-8")
        self._run("master.Master", "--port", str(self.port), "--webui-port", str(self.console))
        for at in range(2):
            # A worker keeps asking until the master is there.
            work = ("--work-dir", str(self.work / str(at)), "--cores", "1", "--memory", "2g", "--webui-port", "0")
            self._run("worker.Worker", *work, self.address)
        self._wait()

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            # A port that is taken is an error, and not the next one instead. The server for submitting jobs has a port of its own that is
            # always the same: a second cluster on this machine would not start.
            "SPARK_DAEMON_JAVA_OPTS": f"{QUICK} -Dspark.port.maxRetries=0 -Dspark.master.rest.enabled=false",
        }

    def _run(self, class_: str, *arguments: str) -> None:
        import pyspark

        program = Path(pyspark.__file__).parent / "bin" / "spark-class"
        command = [str(program), f"org.apache.spark.deploy.{class_}", "--host", "127.0.0.1", *arguments]
        log = self.folder / f"{len(self.processes)}.log"
        with log.open("wb") as file:
            self.processes.append(subprocess.Popen(command, env=self._environment, stdout=file, stderr=file))

    def _wait(self) -> None:
        """Until both workers have told the master that they are there."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            if any(process.poll() is not None for process in self.processes):
                break
            if self._workers() == 2:
                return
            time.sleep(0.2)
        said = "".join(path.read_text(errors="replace")[-1500:] for path in sorted(self.folder.glob("*.log")))
        raise RuntimeError(f"the cluster did not start:\n{said}")

    def _workers(self) -> int:
        """How many the master's console knows; until all of its pages are there it may say anything."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.console}/json/", timeout=10) as page:
                return int(json.load(page)["aliveworkers"])
        except (OSError, ValueError):
            return 0


def _started(settings: dict[str, str]) -> Cluster:
    """Another process may take a free port first; the master then ends, and is tried again elsewhere."""
    for attempt in range(3):
        made = Cluster(Path(tempfile.mkdtemp(prefix="wallflower-cluster-")), free_port(), free_port(), settings)
        try:
            made.start()
        except BaseException as error:
            _ended(made)
            if attempt == 2 or not isinstance(error, RuntimeError):
                raise
        else:
            return made
    raise AssertionError


def _ended(made: Cluster) -> None:
    made.stop()
    shutil.rmtree(made.folder, ignore_errors=True)


@contextlib.contextmanager
def cluster(settings: dict[str, str] | None = None) -> Iterator[Cluster]:
    needed()
    made = _started(dict(settings or {}))
    try:
        yield made
    finally:
        _ended(made)

"""A mosquitto of the benchmark's own, on a free loopback port, with the configuration that ships."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from wallflower.stream.broker import write_configuration
from wallflower.stream.parser import loads

PASSWORD = "secret"  # noqa: S105 - on a loopback port, while the benchmark runs
TEXT = """
[stream]
id = "bench"
broker = "mqtt://127.0.0.1:{port}"
topic_prefix = "bench/stream"
roster = {roster}
quota = 20000
window = {window}
protocol = "private"
guarantee = "local-dp"
core_radius = "3"
epsilon2 = "2"

[columns.x]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5
epsilon = "1"

[columns.y]
lower = -100
upper = 100
step = "0.01"
centre = 0
scale = 5
epsilon = "1"

[budget]
per_window = "1000000000000"
per_day = "1000000000000"
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str) -> str:
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        raise SystemExit(f"{name} is not installed: run scripts/system_packages.sh")
    return found


@contextmanager
def mosquitto(folder: Path, window: int) -> Iterator[Path]:
    """The stream declaration of a broker that runs while the block does; every password is PASSWORD."""
    port = free_port()
    file = folder / "bench.toml"
    names = ["sensor", *(f"s{place}" for place in range(1000))]
    file.write_text(TEXT.format(port=port, window=window, roster=str(names).replace("'", '"')))
    configuration, _ = write_configuration(loads(file.read_text()), folder / "broker")
    if os.geteuid() == 0:
        with configuration.open("a") as lines:
            lines.write("user root\n")
    passwords = folder / "broker" / "passwords"
    passwords.write_text("".join(f"{user}:{PASSWORD}\n" for user in (*names, "analyst")))
    passwords.chmod(0o600)
    subprocess.run([program("mosquitto_passwd"), "-U", str(passwords)], check=True, capture_output=True)
    process = subprocess.Popen(
        [program("mosquitto"), "-c", str(configuration)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        for _ in range(400):
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.05)
        yield file
    finally:
        process.terminate()
        process.wait(timeout=10)

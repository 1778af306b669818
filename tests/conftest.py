"""What holds for every test, on however busy a machine and however the run was started."""

from __future__ import annotations

import gc
import os
import signal
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# Nothing is timed, so that a busy machine fails nothing.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A run in the background of a script inherits that interrupts are ignored, and would hand that on to the commands that tests
# start and then interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# So does one under nohup, for the end of its terminal. What is heard here is not ignored by the commands that it starts.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_heard: None)

# The commands that tests start by the hundred would otherwise compile every module anew, each of them.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Threads of a compiled loop that wait for each other while keeping a core busy take it from the other processes of tests: a third of
# the processor time of the loops' own tests. It is read once, when the first loop with threads is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Ledgers wait for the disk at every commit: a dozen times in a test of the service, a thousand times in the demo. In memory that
# costs nothing, and a busy or slow disk holds up nobody. Processes that are killed find there what they wrote, as on a disk.
MEMORY, ROOM = "/dev/shm", 4 * 2**30  # noqa: S108 - folders of one's own are made in it, as in /tmp


def memory_has_room() -> bool:
    try:
        found = os.statvfs(MEMORY)
    except OSError:
        return False
    return os.access(MEMORY, os.W_OK) and not found.f_flag & os.ST_NOEXEC and found.f_bavail * found.f_frsize >= ROOM


if "TMPDIR" not in os.environ and memory_has_room():
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY

# Modules and collected tests live as long as the process: the collector need not look at half a million of their objects again
# and again. What a test leaves behind is made later and found as ever.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that hold slow tests come first, in whatever order they were shuffled to: at the end no core waits for one of them.

    Those that ask Spark come before all others: the first process of tests begins there, and no other starts a JVM of its own.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (not item.path.name.startswith("test_spark"), item.path not in slow))

"""Which process is answering a charge, and whether it is known to be gone.

A process is named by what nothing else can have at the same time: this start of the machine, the space its number was
given in, the number, and when it began. Where another machine answers, a number that its connection holds says it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

BOOT = Path("/proc/sys/kernel/random/boot_id")
SPACE = Path("/proc/self/ns/pid")
RUNNING = "running"
"""When a process began that cannot be looked at: no /proc here, or one that hides the processes of other users."""


def this_process(part: str, presence: int | None) -> dict[str, Any]:
    """What a charge says about who answers it; `part` tells users of one process apart."""
    found = {**_named(os.getpid()), "part": part}
    return found if presence is None else {**found, "presence": presence}


@lru_cache(maxsize=4)
def _named(number: int) -> dict[str, Any]:
    return {"boot": boot(), "space": space(), "number": number, "began": began(number)}


# A child's number may be one that an ancestor had: what was kept then says when the ancestor began.
os.register_at_fork(after_in_child=_named.cache_clear)


def is_gone(process: Mapping[str, Any], present: Callable[[int], bool | None], *, one_machine: bool) -> bool:
    """Whether it is known that `process` has ended; False where that cannot be known.

    `one_machine`: every user of the ledger runs on one machine, so another start of it is an earlier one.
    """
    if "presence" in process:
        held = present(int(process["presence"]))
        if held is not None:
            return not held
    if process["boot"] != boot():
        return one_machine and bool(process["boot"]) and bool(boot())
    if process["space"] != space():
        return False
    return began(int(process["number"])) not in {str(process["began"]), RUNNING}


def boot() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def space() -> str:
    try:
        return str(SPACE.readlink())
    except OSError:
        return ""


def began(number: int) -> str:
    """When a running process began, in ticks of this start of the machine; empty when there is none of that number, and
    `RUNNING` when there is one and no more can be seen of it.
    """
    try:
        stat = Path(f"/proc/{number}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _running(number)
    state, *rest = stat.rpartition(")")[2].split()
    return "" if state in "ZX" else rest[18]  # a zombie answers nothing any more


def _running(number: int) -> str:
    """Without /proc, or behind one that hides it, only whether the number is in use can be seen."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass
    return RUNNING

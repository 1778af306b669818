"""A port for a server that a test starts."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from itertools import count
from pathlib import Path

FIRST, MANY = 15_000, 17_000
"""Below every port that a system hands to a client: nobody's connection takes one between our look and the server's own start."""
_TURN = count(os.getpid() * 499)  # workers start far apart, and none names a port twice before it has named them all
LOCKS = Path(tempfile.gettempdir(), f"wallflower-ports-{os.getuid()}")
_OURS: list[int] = []
"""Open files, whose locks say to the other processes of tests which ports are taken: a server may start long after our look, or again."""


def free_port() -> int:
    for turn in _TURN:
        port = FIRST + turn % MANY
        if _is_free(port) and _is_ours(port):
            return port
    raise AssertionError  # a count has no end


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _is_ours(port: int) -> bool:
    """Whether no other process of tests has named it; kept until this one ends."""
    LOCKS.mkdir(exist_ok=True)
    place = os.open(LOCKS / str(port), os.O_CREAT | os.O_WRONLY)
    try:
        fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(place)
        return False
    _OURS.append(place)
    return True

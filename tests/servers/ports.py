"""A port for a server that a test starts."""

from __future__ import annotations

import os
import socket
from itertools import count

FIRST, MANY = 15_000, 17_000
"""Below every port that a system hands to a client: nobody's connection takes one between our look and the server's own start."""
_TURN = count(os.getpid() * 499)  # workers start far apart, and none names a port twice before it has named them all


def free_port() -> int:
    for turn in _TURN:
        port = FIRST + turn % MANY
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise AssertionError  # a count has no end

"""Killed at random while many ask: every request ends answered once, or charged and reported; nothing is spent twice."""

from __future__ import annotations

import os

import pytest

from tests.servers import postgresql
from tests.service import faults


@pytest.mark.slow
def test_processes_and_the_server_die_while_a_few_ask(laid_out, tmp_path):
    server = postgresql.make()
    try:
        service, names = faults.laid_out_on(tmp_path, laid_out, server.address(), askers=4, workers=2)
        with service as running:
            # An answer takes a second or two: both die before the last is there.
            tally = faults.campaign(
                running, names, seconds=30, most=1, server=server, deaths=iter([True, False]), between_s=(0.5, 1.5)
            )
            found = faults.check(tmp_path, tally)
        assert tally.kills["PostgreSQL"] == 1
        assert found["asked"] == found["answered"] + found["charged and reported"] == 4
    finally:
        postgresql.discard(server)


@pytest.mark.campaign
def test_sixty_four_ask_for_ten_minutes(laid_out, tmp_path):
    server = postgresql.make({"max_connections": "200"})
    try:
        service, names = faults.laid_out_on(tmp_path, laid_out, server.address(), askers=64, workers=4)
        with service as running:
            tally = faults.campaign(
                running, names, seconds=float(os.environ.get("WALLFLOWER_LOAD_S", "600")), server=server
            )
            found = faults.check(tmp_path, tally)
        assert found["answered"] > 64
    finally:
        postgresql.discard(server)

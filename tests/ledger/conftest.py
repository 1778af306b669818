"""Fixtures for every test of the ledger."""

from tests.ledger.places import declared, ledger
from tests.servers.postgresql import server

__all__ = ["declared", "ledger", "server"]

from __future__ import annotations

from contextlib import contextmanager

import pytest

from tests.contracts.engine_sources import EVERYWHERE
from tests.contracts.registry import every_example
from tests.servers import spark
from wallflower.engines import open_source
from wallflower.engines.base import refuse_damage
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session


class Watched:
    """A source that remembers whether it was opened, or looked through for damage, and can break when it is."""

    def __init__(self, source, error: Exception | None = None) -> None:
        self.source, self.error, self.opened, self.tried = source, error, 0, 0

    def verify(self, columns) -> None:
        self.source.verify(columns)

    def refuse_damage(self, columns) -> None:
        self.tried += 1
        refuse_damage(self.source, columns)

    @contextmanager
    def rows(self, columns):
        self.opened += 1
        if self.error is not None:
            raise self.error
        with self.source.rows(columns) as rows:
            yield rows


class Forbidden:
    """A source that must not be touched at all."""

    def verify(self, columns) -> None:
        pytest.fail("the source was looked at")

    def refuse_damage(self, columns) -> None:
        pytest.fail("the source was looked through for damage")

    def rows(self, columns):
        pytest.fail("the rows were opened")


@pytest.fixture(params=every_example(), ids=lambda example: example.label)
def example(request):
    return request.param


@pytest.fixture
def prepared(example, tmp_path):
    """Declaration, ledger and rows on disk, and a session whose source is watched."""

    def prepare(*, csv=None, test=False, seed=None, error=None, change=None):
        path = example.lay_out(tmp_path, csv=csv, test=test, change=change)
        declaration = load(path)
        Ledger.init(declaration)
        watched = Watched(open_source(declaration), error)
        return Session(declaration, watched, seed=seed), watched, path

    return prepare


@pytest.fixture(params=EVERYWHERE, ids=lambda make: make.__name__)
def place(request):
    """A function that puts a table where an engine reads it."""
    return request.param


@pytest.fixture
def spark_session():
    """For every test of Spark, whichever a process of tests comes to first."""
    return spark.session()

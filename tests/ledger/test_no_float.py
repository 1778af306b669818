"""No float enters the ledger: not in a promise, a limit, a question, the file or a statement."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from tests.declared import declare, model
from tests.ledger.test_ledger import COUNT, opened, pure
from wallflower.errors import UsageError
from wallflower.ledger import Ledger
from wallflower.privacy.guarantees import (
    PureDP,
)
from wallflower.schema.declaration import Budget


class TestNoFloat:
    def test_not_in_a_promise(self):
        with pytest.raises(Exception, match="exact Fraction"):
            PureDP(epsilon=0.1, neighbours="add-remove")

    @pytest.mark.parametrize(
        "change",
        [
            {"budgets": {"dp": Budget(epsilon=0.1)}},
            {"budgets": {"dp": Budget(epsilon=Fraction(1), delta=1e-6)}},
            {"models": {"default": model(radius=0.26)}},
        ],
    )
    def test_not_in_a_limit_or_a_model(self, tmp_path, change):
        with pytest.raises((TypeError, UsageError), match=r"not as a float|cannot hold a float"):
            Ledger.init(declare(tmp_path, **change))
        assert list(tmp_path.iterdir()) == []

    def test_not_in_a_query_or_an_answer(self, tmp_path):
        declared = declare(tmp_path)
        ledger = opened(declared)
        with pytest.raises(TypeError, match="cannot hold a float"):
            ledger.charge(pure("1"), declaration=declared, query={"radius": [0.1]})
        charge = ledger.charge(pure("1"), declaration=declared, query=COUNT)
        with pytest.raises(TypeError, match="cannot hold a float") as caught:
            ledger.answer(charge.entry, {"release": {"count": 41.5}})
        assert "41.5" not in str(caught.value)
        assert len(ledger.history()) == 2

    def test_not_in_the_file_and_not_in_a_statement(self, tmp_path):
        declared = declare(tmp_path, models={"default": model()})
        ledger = opened(declared)
        ledger.charge(pure("1/3"), declaration=declared, query=COUNT)
        for line in ledger.history():
            json.loads(line.event.body, parse_float=lambda text: pytest.fail(f"a float: {text}"))
        for standing in ledger.show(declared).accounts:
            assert all(
                type(amount) is Fraction for amount in (*standing.spent.values(), *standing.limit.amounts.values())
            )

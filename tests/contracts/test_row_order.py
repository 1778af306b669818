"""No answer depends on the order of rows, and none glues columns of two fetches together."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tests.contracts.engine_sources import Shuffled, categories, declare, from_arrow, numbers
from wallflower.engines import open_source
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.schema.declaration import Drop
from wallflower.session import Session


def test_every_question_is_answered_alike_when_each_fetch_shuffles_the_rows(example, tmp_path):
    answers, seen = [], []
    for place, wrap in (("steady", lambda source: source), ("shuffled", Shuffled)):
        folder = tmp_path / place
        folder.mkdir()
        declaration = load(example.lay_out(folder, test=True))
        Ledger.init(declaration)
        session = Session(declaration, wrap(open_source(declaration)), seed=7)
        query = example.query(folder)
        answers.append(session.release(query).value)
        seen.append(session.owner.report(query).value["seen"].get("facts"))
    assert answers[0] == answers[1]
    assert seen[0] == seen[1]


def test_the_shuffling_source_mixes_rows_up_between_fetches_and_never_within_one(tmp_path):
    """It would catch columns glued together: here they are, wrong."""
    table = pa.table({"x": [at / 10 for at in range(50)], "c": ["ab3"[at % 3] for at in range(50)]})
    source = Shuffled(from_arrow(table, declare(numbers(), categories(missing=Drop()), key=None), tmp_path))
    with source.rows(("x", "c")) as rows:
        together = rows.fetch(numbers=("x",), codes=("c",))
        assert np.array_equal(together.numbers[:, 0] % 3, together.codes[:, 0])
        apart = rows.fetch(numbers=("x",)).numbers[:, 0] % 3, rows.fetch(codes=("c",)).codes[:, 0]
        assert not np.array_equal(*apart)
    assert source.fetches == 3

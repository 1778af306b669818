"""What is said of people where names of the declaration hold the word "row"."""

from __future__ import annotations

import pyarrow as pa

import wallflower as wf
from wallflower.detectors import Distance
from wallflower.explain import Context, Records
from wallflower.schema import loads

DECLARED = """
[table]
id = "visits"
unit = "person"
person = "id"
neighbours = "add-remove"
max_people = 100
reviewed = true
ledger = "visits.ledger"
[budget.output-constrained-dp]
epsilon = "4"
[columns.row]
role = "quasi-identifier"
values = ["a", "b"]
outside = "drop"
missing = "drop"
per_person = "most-common"
[columns.rows]
role = "sensitive"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"
per_person = "rows"
"""


def test_a_name_is_said_as_it_is_and_what_a_row_stands_for_as_a_person(tmp_path):
    visits = wf.table(pa.table({"id": ["1"], "row": ["a"]}), loads(DECLARED, folder=tmp_path))
    one = Context(record="row 7", metric="rows", by=("row",), detector=Distance(p="0.2", radius=3), epsilon=1)
    price = visits.price(one)
    assert (price.settings["record"], price.settings["metric"], price.settings["by"]) == ("row 7", "rows", "row")
    said = price.guarantee.holds_when
    assert said.startswith("the person that changes is not the one with key 'row 7' and")
    assert "(over row, written row=sets, of at least 10 people) in which 'row 7' stands out on rows by" in said
    assert price.guarantee.unit == "person"
    both = visits.price(Records(records=("row 7", "8"), question=one)).guarantee
    assert both.unit == "person"
    assert said in both.holds_when

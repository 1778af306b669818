"""What `check` counts where people have many rows: the same from every engine."""

import pytest

from tests.contracts.engine_sources import from_arrow, from_csv
from tests.contracts.people_reference import PeopleReference, identity, moment
from tests.contracts.test_people import READ, ROWS, capped, people, table_of
from wallflower.engines import examine
from wallflower.schema.declaration import Drop


@pytest.mark.parametrize("place", [from_arrow, from_csv], ids=lambda make: make.__name__)
@pytest.mark.parametrize("most", [None, 2])
def test_people_and_rows_without_a_person_are_counted(place, tmp_path, most):
    declaration = (
        people(x="sum", outside=Drop(), missing=Drop(), read=READ) if most is None else capped(most, read=READ)
    )
    declared = tuple(declaration.columns)
    seen = examine(place(table_of(), declaration, tmp_path), declaration)
    reference = PeopleReference(declaration, declared, table_of().to_pylist())
    told = seen.to_json()
    owned = [row for row in ROWS if identity(row[0], declaration) is not None]
    assert told["rows"] == len(ROWS)
    assert told["people"] == len({row[0] for row in owned})
    assert told["rows_without_key"] == len(ROWS) - len(owned)
    assert told["rows_that_leave"] == len(reference.all) - len(reference.rows)
    assert told.get("rows_beyond", 0) == (0 if most is None else len(owned) - len(reference.all))
    assert told["max_people"] == declaration.max_people
    untimed = [row for row in owned if moment(row[4], declaration) is None]
    assert told["rows_without_time"] == len(untimed) > 0
    assert any("no readable time" in line for line in seen.lines())
    text = " ".join(seen.lines())
    assert "people" in text
    assert "say not whose" in text
    assert seen.tally.spoilt["x"] == (("oops", 1),)
    assert dict(seen.tally.strays["c"]) == {"zed": 3}

"""`unit = "person"`, reading settings, askers and zCDP: what loads, what it means, and what a slip is told."""

import tomllib

import pytest
from jsonschema import Draft202012Validator

from tests.schema.test_json_schema import as_json
from wallflower.errors import DeclarationError
from wallflower.schema import json_schema, loads
from wallflower.schema.formats import ISO, MOMENTS, DateFormat

VISITS = """\
[table]
id = "visits"
source = "visits.csv"
unit = "person"
person = "patient"
time = "visited"
neighbours = "add-remove"
max_people = 10_000
ledger = "visits.ledger"
read = {delimiter = ";", encoding = "latin-1", decimal = ",", thousands = ".", date = ["%d.%m.%Y", "%Y-%m-%d"], missing_codes = ["NA", "999"]}

[budget.dp]
epsilon = "4"
delta = "1e-6"
accounting = "zcdp"

[askers.ward-3.dp]
epsilon = "1"

[columns.cost]
role = "sensitive"
lower = 0
upper = 5_000
step = "0.01"
outside = "clip"
missing = 0
per_person = "sum"
thousands = ""
missing_codes = []

[columns.visits]
role = "insensitive"
lower = 0
upper = 50
step = 1
outside = "clip"
missing = 0
per_person = "rows"

[columns.diagnosis]
role = "quasi-identifier"
values = ["flu", "cold", "other"]
outside = "other"
missing = "other"
per_person = "most-common"

[columns.last]
role = "insensitive"
lower = 2000-01-01
upper = 2030-12-31
outside = "clip"
missing = 2000-01-01
per_person = "latest"
date = "%m/%d/%y"
"""


def changed(old, new, text=VISITS):
    assert old in text
    return text.replace(old, new)


def capped(text=VISITS):
    kept = [line for line in text.splitlines() if not line.startswith("per_person")]
    return "\n".join(kept).replace('unit = "person"', 'unit = "person"\nrows_per_person = 5')


def accepts(text):
    return Draft202012Validator(json_schema("declaration")).is_valid(as_json(tomllib.loads(text)))


def test_a_declaration_of_people():
    declared = loads(VISITS)
    assert (declared.unit, declared.person, declared.key, declared.time) == ("person", "patient", "patient", "visited")
    assert declared.reduced
    assert (declared.max_rows, declared.max_people) == (10_000, 10_000)
    assert [column.per_person for column in declared.columns.values()] == ["sum", "rows", "most-common", "latest"]
    assert declared.budgets["dp"].accounting == "zcdp"
    assert declared.askers["ward-3"]["dp"].epsilon == 1
    assert accepts(VISITS)


def test_up_to_m_rows_of_a_person():
    declared = loads(capped())
    assert not declared.reduced
    assert (declared.max_rows, declared.max_people, declared.rows_per_person) == (50_000, 10_000, 5)
    assert accepts(capped())


def test_a_column_is_read_by_its_own_settings_and_else_by_the_tables():
    declared = loads(VISITS)
    german = (DateFormat("%d.%m.%Y"), ISO)
    assert declared.format_of("cost").thousands == ""
    assert declared.format_of("cost").missing_codes == ()
    assert declared.format_of("visits").thousands == "."
    assert declared.format_of("patient").missing_codes == ("NA", "999")
    assert declared.format_of("last").dates == (DateFormat("%m/%d/%y"),)
    assert declared.format_of("visited").dates == german
    plain = loads(VISITS.replace(', date = ["%d.%m.%Y", "%Y-%m-%d"]', ""))
    assert plain.format_of("visited").dates == MOMENTS
    assert plain.format_of("patient").dates == (ISO,)


SLIPS = {
    "no person": ('person = "patient"\n', "", "[table] needs 'person'"),
    "rows instead of people": ("max_people", "max_rows", "write max_people"),
    "a key of its own": ('person = "patient"', 'person = "patient"\nkey = "visit"', "Leave 'key' out"),
    "an order by the person": ('time = "visited"', 'time = "patient"', "both name"),
    "no reducer": ('per_person = "sum"\n', "", "needs 'per_person'"),
    "another reducer": ('"sum"', '"median"', "must be one of"),
    "a sum of words": ('"most-common"', '"sum"', "is for numbers"),
    "a mean of words": ('"most-common"', '"mean"', "is for numbers"),
    "a sum of dates": ('"latest"', '"sum"', "dates do not add up"),
    "an order that is not there": ('time = "visited"\n', "", "needs an order"),
    "rows counted in halves": ("step = 1\n", 'step = "0.5"\n', "counts a person's rows"),
    "both ways": ('unit = "person"', 'unit = "person"\nrows_per_person = 3', "exclude each other"),
    "a unit of rows": ('unit = "person"', 'unit = "row"', 'belongs to unit = "person"'),
    "two marks alike": ('thousands = "."', 'thousands = ","', "are both"),
    "a mark that is a letter": ('thousands = "."', 'thousands = "x"', "between groups of three digits"),
    "a date without a year": ('"%m/%d/%y"', '"%m/%d"', "each once"),
    "a date with a week": ('"%m/%d/%y"', '"%G-%V-%d"', "%G is not a mark"),
    "a date format on numbers": ('thousands = ""', 'date = "%d.%m.%Y"', "for columns of dates"),
    "thousands on dates": ('date = "%m/%d/%y"', 'thousands = "."', "for columns of numbers"),
    "a code in figures": ('["NA", "999"]', '["NA", 999]', 'Write "999"'),
    "a code twice": ('["NA", "999"]', '["NA", "NA"]', "without repeats"),
    "a code that is a value": ('["NA", "999"]', '["flu"]', "missing_codes = [] for this column"),
    "zcdp without delta": ('delta = "1e-6"\n', "", "needs a delta"),
    "an asker of another budget": ("[askers.ward-3.dp]", "[askers.ward-3.output-constrained-dp]", "which is not there"),
    "an asker of no safe name": ("[askers.ward-3.dp]", '[askers."ward 3".dp]', "an asker's name is at most 64 letters"),
    "an asker's own accounting": ('epsilon = "1"', 'epsilon = "1"\naccounting = "zcdp"', "said once for all askers"),
}
NOT_SAYABLE = {
    "an order by the person",
    "a key of its own",
    "no reducer",
    "a sum of words",
    "a mean of words",
    "a sum of dates",
    "an order that is not there",
    "rows counted in halves",
    "both ways",
    "two marks alike",
    "a date without a year",
    "a date with a week",
    "a code that is a value",
    "an asker of another budget",
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_explained_with_its_line(slip):
    old, new, expected = SLIPS[slip]
    with pytest.raises(DeclarationError) as refusal:
        loads(changed(old, new))
    assert expected in str(refusal.value)
    assert "line " in str(refusal.value)
    if slip not in NOT_SAYABLE:
        assert not accepts(changed(old, new))


def test_the_person_is_an_identifier():
    with pytest.raises(DeclarationError, match="its role is"):
        loads(
            VISITS
            + '[columns.patient]\nrole = "insensitive"\nvalues = ["a"]\noutside = "a"\nmissing = "a"\nper_person = "min"\n'
        )
    assert loads(VISITS + '[columns.patient]\nrole = "identifier"\n').person == "patient"


def test_m_rows_are_for_add_remove_only():
    text = capped().replace('"add-remove"', '"replace-one"')
    with pytest.raises(DeclarationError, match="is private"):
        loads(text)
    assert not accepts(text)
    assert loads(VISITS.replace('"add-remove"', '"replace-one"')).reduced


@pytest.mark.parametrize(
    ("format_", "text", "day"),
    [
        ("%d.%m.%Y", "1.2.1970", 31),
        ("%d.%m.%Y", "31.02.1970", None),
        ("%d.%m.%Y", " 1.2.1970", None),
        ("%d.%m.%Y", "1.2.1970\n", None),
        ("%Y%m%d", "19700102", 1),
        ("%Y%m%d", "1970102", None),
        ("%d%b%Y", "02JAN1970", 1),
        ("%d%b%Y", "02xyz1970", None),
        ("%d/%m/%y", "01/01/69", -365),
        ("%d/%m/%y", "01/01/68", 35794),
        ("%d.%m.%Y %H:%M", "02.01.1970 23:59", 1),
        ("%d.%m.%Y %H:%M", "02.01.1970 24:00", None),
        ("%d.%m.%Y", "٠1.01.1970", None),
        ("%d %%%m %Y", "1 %2 1970", 31),
        ("%Y-%m-%dT%H:%M", "1970-01-02T23:59", 1),
    ],
)
def test_dates_are_read_by_their_format(format_, text, day):
    assert DateFormat(format_).day(text) == day


def test_every_part_of_a_moment_counts():
    moment = DateFormat("%Y-%m-%d %H:%M:%S.%f").moment("1970-01-02 03:04:05.5")
    assert moment == (((24 + 3) * 60 + 4) * 60 + 5) * 1_000_000 + 500_000

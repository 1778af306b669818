"""The JSON Schemas and the loader agree wherever a schema can say what the loader says."""

import tomllib
from datetime import date, datetime, time

import pytest
from jsonschema import Draft202012Validator

from tests.schema.samples import GOOD, changed
from tests.schema.slips import SLIPS
from wallflower.errors import DeclarationError
from wallflower.privacy.guarantees import ApproxDP, OutputConstrainedDP, PureDP, SensitivePrivacy
from wallflower.schema import json_schema, loads

NOT_SAYABLE = {
    "bounds the wrong way round",
    "a bound off the grid",
    "an outside value that is not declared",
    "clipping a category",  # "clip" might be a declared value
    "a file of values that is not there",
    "a bin outside the bounds",
    "bins that do not begin at the lower bound",
    "bins out of order",
    "a day that does not exist",
    "two names that differ in case",
    "an unknown column in a model",
    "a model on words",
    "an exponent that would fill the memory",
    "a weight for another column",
}
NOT_TOML = {"text without quotes", "a key twice"}


def as_json(value):
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.isoformat() if isinstance(value, date | datetime | time) else value


def accepts(text):
    return Draft202012Validator(json_schema("declaration")).is_valid(as_json(tomllib.loads(text)))


@pytest.mark.parametrize("of", ["declaration", "release"])
def test_the_schemas_are_schemas(of):
    Draft202012Validator.check_schema(json_schema(of))


GOOD_ONES = {
    "the sample": GOOD,
    "no budget": GOOD.replace('[budget.dp]\nepsilon = "4"\ndelta = "1e-6"\n', ""),
    "no source": changed('source = "salaries.csv"\n', ""),
    "a table in a file": changed('source = "salaries.csv"', 'source = "s.duckdb"\ntable = "salaries"'),
    "executors": changed("max_rows = 1_000_000", "max_rows = 1_000_000\nexecutors = true"),
    "its own memory": changed("max_rows = 1_000_000", 'max_rows = 1_000_000\nmemory = "512 MiB"'),
    "a fraction": changed('epsilon = "2"', 'epsilon = "1/3"'),
    "streams": changed(
        "[budget.dp]", '[budget.local-dp]\nepsilon = 1\n[budget.metric-privacy]\nepsilon = "0.5"\n[budget.dp]'
    ),
    "bare decimals": changed('step = "0.01"', "step = 0.01"),
    "decimals in quotes": changed("lower = 0\n", 'lower = "-12.5"\n').replace("bins = [0, 100_000, 200_000.50]", ""),
    "a declared number": changed('outside = "clip"', "outside = 12.25"),
    "a name with blanks": changed("[columns.title]", '[columns."job title (1)"]'),
    "a distance for words": changed("weights = {salary = 1, hired = 0.5}", 'distance = "mixed"\nincluded = true'),
    "a nested hierarchy": changed('outside = "Lawyer"', 'outside = "Lawyer"\nhierarchy = {any = ["CEO"]}'),
}


@pytest.mark.parametrize("name", GOOD_ONES)
def test_both_accept(name):
    loads(GOOD_ONES[name])
    assert accepts(GOOD_ONES[name])


@pytest.mark.parametrize("slip", sorted(SLIPS.keys() - NOT_SAYABLE - NOT_TOML))
def test_both_refuse(slip):
    old, new, _ = SLIPS[slip]
    with pytest.raises(DeclarationError):
        loads(changed(old, new))
    assert not accepts(changed(old, new))


@pytest.mark.parametrize("slip", sorted(NOT_SAYABLE))
def test_the_loader_alone_refuses(slip):
    """When the schema learns to say one of these, it leaves the list."""
    old, new, _ = SLIPS[slip]
    assert accepts(changed(old, new))


def test_both_refuse_to_drop_where_the_number_of_rows_is_public():
    assert not accepts(changed('"add-remove"', '"replace-one"'))


def test_both_know_the_same_keys():
    from wallflower.schema import budgets, columns, models, reader

    schema = json_schema("declaration")
    kinds = (schema["$defs"][kind]["properties"] for kind in ("categories", "numbers", "dates"))
    assert set(schema["properties"]) == set(reader.SECTIONS)
    assert set(schema["$defs"]["table"]["properties"]) == set(reader.TABLE_KEYS)
    assert set(schema["properties"]["budget"]["properties"]) == set(budgets.FAMILIES)
    assert set().union(*kinds) == set(columns.KEYS)
    assert set(schema["$defs"]["model"]["properties"]) == set(models.KEYS)
    assert schema["$defs"]["column"]["properties"]["role"]["enum"] == list(columns.ROLES)


def released(**changes):
    guarantee = PureDP(epsilon=loads(GOOD).budgets["dp"].epsilon, neighbours="add-remove")
    return {
        "ok": True,
        "asked": {"command": "count", "neighbours": 3},
        "at": "2026-11-16T09:30:00Z",
        "declaration": {"table": "salaries", "fingerprint": loads(GOOD).fingerprint},
        "notes": ["what the price warned of"],
        "release": {"count": 3, "interval": [0, 9]},
        "guarantee": guarantee.to_json(),
        "mechanism": {"name": "discrete-laplace", "scale": "3"},
        "ledger": {
            "account": "salaries",
            "entry": 1,
            "spent": {"epsilon": "0.4"},
            "left": {"epsilon": "1.6"},
            "debited": [
                {"account": "dp", "spent": {"epsilon": "0.4"}, "left": {"epsilon": "1.6"}},
                {"account": "sensitive-privacy/default", "spent": {"epsilon": "0.4"}, "left": None},
            ],
            "head": "sha256:" + "0f" * 32,
        },
        "private": True,
        "wallflower": "0.1.0",
    } | changes


ANSWERS = [
    None,
    {"count": 0, "interval": None},
    {"context": {"title": ["CEO", "Lawyer"]}, "text": "among CEOs and lawyers"},
    {"answers": [{"asked": {"x": "0.5"}, "anomalous": True}]},
    {"subspaces": [{"columns": ["x", "y"], "count": None}]},
    {"file": "out.csv", "rows": 9, "groups": 3, "sha256": "0f" * 32},
]


@pytest.mark.parametrize("answer", ANSWERS)
def test_every_answer_has_its_shape(answer):
    Draft202012Validator(json_schema("release")).validate(released(release=answer))


@pytest.mark.parametrize(
    "guarantee",
    [
        ApproxDP(
            epsilon=loads(GOOD).budgets["dp"].epsilon, delta=loads(GOOD).budgets["dp"].delta, neighbours="add-remove"
        ),
        OutputConstrainedDP(epsilon=loads(GOOD).budgets["dp"].epsilon, neighbours="replace-one"),
        SensitivePrivacy(epsilon=loads(GOOD).budgets["dp"].epsilon, k=3, model="default", neighbours="add-remove"),
    ],
    ids=lambda guarantee: guarantee.family,
)
def test_every_promise_has_its_shape(guarantee):
    Draft202012Validator(json_schema("release")).validate(released(guarantee=guarantee.to_json()))


@pytest.mark.parametrize(
    "changes",
    [
        {"release": {"count": 3, "interval": None, "true_count": 4}},
        {"release": {"count": 3.5, "interval": None}},
        {"rows": 17},
        {"mechanism": {"scale": "3"}},
        {"mechanism": {"name": "laplace", "scale": 3.0}},
        {"ok": False},
        {"ledger": {"account": "salaries", "entry": 1, "spent": {"epsilon": 0.4}, "left": {}}},
    ],
    ids=str,
)
def test_a_release_holds_nothing_else(changes):
    assert not Draft202012Validator(json_schema("release")).is_valid(released(**changes))


def test_errors_have_one_shape():
    validator = Draft202012Validator(json_schema("release"))
    assert validator.is_valid({"ok": False, "error": {"kind": "usage", "message": "no", "hint": ""}})
    assert not validator.is_valid({"ok": False, "error": {"kind": "usage", "message": "no"}})
    assert not validator.is_valid({"ok": False, "error": {"kind": "usage", "message": "no", "hint": "", "row": 3}})

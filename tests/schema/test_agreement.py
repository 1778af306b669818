"""Bend a good declaration at random: the loader never breaks, and never accepts what the JSON Schema refuses."""

import copy
import tomllib
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.schema.samples import GOOD
from tests.schema.test_json_schema import as_json
from wallflower.errors import DeclarationError
from wallflower.schema import json_schema, loads
from wallflower.schema.toml_text import quoted

VALIDATOR = Draft202012Validator(json_schema("declaration"))
PARSED = tomllib.loads(GOOD)
odd = st.sampled_from(
    [
        0,
        1,
        -1,
        7,
        24,
        0.5,
        -0.25,
        True,
        "",
        "drop",
        "clip",
        "0",
        "-3",
        "1/3",
        "1e-3",
        "row",
        "replace-one",
        "identifier",
        "CEO",
        "euclidean",
        "mixed",
        date(2000, 1, 1),
        "2000-01-01",
        [],
        [0],
        ["CEO", "CEO"],
        ["salary"],
        {},
        {"salary": 1},
        {"x": {"role": "identifier"}},
    ]
)
new_keys = st.sampled_from(
    [
        "id",
        "table",
        "values",
        "lower",
        "step",
        "bins",
        "weight",
        "scale",
        "centre",
        "distance",
        "included",
        "delta",
        "x",
        "a b",
        "hierarchy",
    ]
)


def places(value, at=()):
    if isinstance(value, dict):
        yield at
        for key, item in value.items():
            yield from places(item, (*at, key))
    elif isinstance(value, list):
        yield at
        yield from ((*at, place) for place in range(len(value)))
    else:
        yield at


@st.composite
def bent(draw):
    value = copy.deepcopy(PARSED)
    for _ in range(draw(st.integers(1, 3))):
        *above, last = draw(st.sampled_from([path for path in places(value) if path]))
        holder = value
        for step in above:
            holder = holder[step]
        action = draw(st.sampled_from(["remove", "replace", "add"]))
        if action == "remove":
            del holder[last]
        elif action == "add" and isinstance(holder[last], dict):
            holder[last][draw(new_keys)] = copy.deepcopy(draw(odd))
        else:
            holder[last] = copy.deepcopy(draw(odd))
    return value


def dumped(value):
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(key)} = {dumped(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(dumped, value))}]"
    if isinstance(value, str):
        return quoted(value)
    return str(value).lower()


@settings(max_examples=400)
@given(bent())
def test_what_the_loader_accepts_the_schema_accepts(value):
    text = "\n".join(f"{key} = {dumped(item)}" for key, item in value.items())
    complaint = ""
    try:
        loads(text)
    except DeclarationError as error:
        complaint = error.message
    if complaint:
        assert "line " in complaint or "as a whole" in complaint
    else:
        VALIDATOR.validate(as_json(tomllib.loads(text)))

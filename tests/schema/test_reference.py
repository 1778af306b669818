"""docs/reference/declaration.md names every key there is, and its examples load."""

import re
from pathlib import Path

import pytest

from wallflower.errors import DeclarationError
from wallflower.schema import json_schema, loads

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "declaration.md").read_text(encoding="utf-8")
FIRST, PEOPLE, *PARTS = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)


def keys(schema):
    """Every name in `properties`, and every word of an `enum` or `const`, anywhere in the schema."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        words = [*schema.get("enum", ()), schema.get("const")]
        yield from (word for word in words if isinstance(word, str))
        for part in schema.values():
            yield from keys(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from keys(part)


@pytest.mark.parametrize("key", sorted(set(keys(json_schema("declaration"))) - {"columns", "budget"}))
def test_every_key_is_on_the_page(key):
    assert re.search(rf"`\"?{re.escape(key)}\"?`|\[{re.escape(key)}[.\]]|\[{re.escape(key)}\.NAME\]", PAGE), key


def test_the_first_example_is_a_whole_declaration():
    assert list(loads(FIRST, source_optional=False).columns) == ["employee", "title", "salary"]


def test_the_example_of_people_is_a_whole_declaration():
    declared = loads(PEOPLE, source_optional=False)
    assert (declared.unit, declared.person, declared.columns["cost"].per_person) == ("person", "patient", "sum")


def test_the_parts_make_a_whole_with_the_table():
    table = FIRST[: FIRST.index("[budget.dp]")]
    declaration = loads("\n".join([table, *PARTS]))
    assert list(declaration.columns) == ["ward", "age", "admitted"]
    assert set(declaration.budgets) == set(json_schema("declaration")["properties"]["budget"]["properties"])
    assert list(declaration.models) == ["default"]


def test_the_error_on_the_page_is_the_one_that_is_raised():
    quoted = re.search(r"```text\n(.*?)\n```", PAGE, flags=re.DOTALL)[1]
    with pytest.raises(DeclarationError) as caught:
        loads(FIRST.replace("max_rows", "max_row"))
    assert str(caught.value) == quoted.replace("salaries.toml", "the declaration")

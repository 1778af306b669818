"""The front end serves any kind of declaration: a made-up one here, with every mistake on its line."""

import pytest

from wallflower.errors import DeclarationError
from wallflower.schema.parser import parse, read_text

OVEN = """\
[oven]
id = "kitchen"
degrees = 180.5

[trays.upper]
rolls = 12

[trays.lower]
rolls = 8
"""


def read(text):
    file = parse(text, name="oven.toml", known=("oven", "trays"))
    oven = file.section("oven", ("id", "degrees", "fan"))
    answer = {}
    if oven is not None:
        oven.need("id", 'id = "kitchen"')
        answer = {"id": oven.name("id"), "degrees": oven.number("degrees"), "fan": oven.flag("fan")}
    answer["trays"] = {name: tray.whole("rolls", least=1, most=20) for name, tray in file.sections("trays", ("rolls",))}
    file.problems.raise_any()
    return answer


def test_a_kind_of_file_is_a_function_of_sections():
    read_oven = read(OVEN)
    assert read_oven["id"] == "kitchen"
    assert str(read_oven["degrees"]) == "361/2"
    assert read_oven["fan"] is None
    assert read_oven["trays"] == {"upper": 12, "lower": 8}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rolls = 8", "rolls = 21", ("line 9", "from 1 to 20")),
        ("rolls = 12", "role = 12", ("line 6", "Did you mean 'rolls'?")),
        ('id = "kitchen"', 'id = "two words"', ("line 2", "at most 64")),
        ("[oven]", "[ovne]", ("line 1", "Did you mean 'oven'?")),
        ('id = "kitchen"', "", ("line 1", "[oven] needs 'id'")),
        ("[trays.lower]\nrolls = 8", "[trays]\nlower = 8", ("line 9", "[trays.lower]")),
        ("[trays.lower]\nrolls = 8", "rolls = = 8", ("line 8", "not valid TOML")),
    ],
)
def test_a_mistake_is_quoted_with_its_line(old, new, expected):
    assert old in OVEN
    with pytest.raises(DeclarationError) as refusal:
        read(OVEN.replace(old, new))
    for part in ("oven.toml", *expected):
        assert part in str(refusal.value)


def test_what_the_file_should_have_been_is_named(tmp_path):
    with pytest.raises(DeclarationError, match=r"the oven file .* cannot be read"):
        read_text(tmp_path / "none.toml", what="oven file")
    with pytest.raises(DeclarationError, match="is a file of data, and a oven file"):
        read_text(tmp_path / "rows.csv", what="oven file")

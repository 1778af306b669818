"""The scanner finds every path that `tomllib` finds, on the line where it stands."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallflower.errors import DeclarationError
from wallflower.schema import loads
from wallflower.schema.lines import locate

LAYOUT = """\
title = 'x # no comment'   # a comment = 1
[ table . "quoted key" ]
a.b . c = 1
'a'.d = [ # opened
  1,
  # between
  [2,
   3], "],[",
  { deep = 1, "deeper = " = { deepest = [
    4 ] } },
]
text = \"\"\"one
[two]
three = 3 \\\"\"\" \"\"\"\"\"
last = '''
four = 4'''''
after = 2020-01-01 00:00:00
[[many]]
x = 1
[[many]]
x = 2
[empty]
"""


def test_odd_layouts_are_found():
    tomllib.loads(LAYOUT)
    lines = locate(LAYOUT)
    table = ("table", "quoted key")
    expected = {
        ("title",): 1,
        table: 2,
        (*table, "a", "b", "c"): 3,
        (*table, "a", "d"): 4,
        (*table, "a", "d", 0): 5,
        (*table, "a", "d", 1): 7,
        (*table, "a", "d", 1, 1): 8,
        (*table, "a", "d", 2): 8,
        (*table, "a", "d", 3, "deep"): 9,
        (*table, "a", "d", 3, "deeper = ", "deepest"): 9,
        (*table, "a", "d", 3, "deeper = ", "deepest", 0): 10,
        (*table, "text"): 12,
        (*table, "last"): 15,
        (*table, "after"): 17,
        ("many",): 18,
        ("empty",): 22,
    }
    assert {path: lines.found.get(path) for path in expected} == expected


def test_what_is_not_there_is_placed_at_what_is_around_it():
    lines = locate(LAYOUT)
    assert lines.of(("empty", "nothing", 3)) == 22
    assert lines.of(("nothing",)) is None


@pytest.mark.parametrize(
    ("written", "line", "shown"),
    [
        (
            'columns = {"a b" = {role = "insensitive", lower = 0, uper = 9, step = 1, outside = "clip", missing = 0}}',
            9,
            "columns = {",
        ),
        ('[columns]\n"a b".role = "x"', 10, '"a b".role = "x"'),
        (
            "[columns.'a b']\nrole = 'insensitive'\nvalues = [\n  'x', # one\n  'y',\n  'x',\n]\noutside = 'x'\nmissing = 'x'",
            14,
            "'x',",
        ),
        ('[ columns . "a b" ]   # here\n', 9, '[ columns . "a b" ]   # here'),
    ],
)
def test_errors_quote_the_line_in_any_layout(written, line, shown):
    head = 'table.id = "t"\ntable.unit = "row"\ntable.neighbours = "add-remove"\ntable.max_rows = 1\n'
    head += 'table.reviewed = true\n\ntable."ledger" = "l"\n\n'
    with pytest.raises(DeclarationError) as caught:
        loads(head + written)
    assert f"line {line}: {shown}" in str(caught.value)


names = st.text(min_size=1, max_size=6)


def quoted(text):
    escaped = "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08x}" for c in text)
    return f'"{escaped}"'


def rendered(value, draw):
    blank = draw(st.sampled_from([" ", "", "  \t"]))
    if isinstance(value, dict):
        inner = ",".join(f"{blank}{quoted(key)}{blank}={blank}{rendered(item, draw)}" for key, item in value.items())
        return f"{{{inner}{blank}}}"
    if isinstance(value, list):
        gap = draw(st.sampled_from(["", " ", "\n", "\n# x = [\n", "\n\n  "]))
        return f"[{gap}{f'{gap},{gap}'.join(rendered(item, draw) for item in value)}{gap}]"
    if isinstance(value, str):
        return draw(st.sampled_from([quoted(value), quoted(value).replace('"', '"""')]))
    return str(value).lower()


values = st.recursive(
    st.integers(-9, 9) | st.booleans() | names,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def paths(value, at=()):
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*at, key)
        yield from paths(item, (*at, key))


@given(tables=st.dictionaries(names, st.dictionaries(names, values, max_size=3), max_size=3), data=st.data())
def test_every_path_is_found_and_no_other(tables, data):
    text, expected = "", {}
    for name, table in tables.items():
        text += data.draw(st.sampled_from(["", "\n", "# [no.table]\n"]))
        expected[(name,)] = text.count("\n") + 1
        text += f"[{quoted(name)}]\n"
        for key, value in table.items():
            expected[(name, key)] = text.count("\n") + 1
            text += f"{quoted(key)} = {rendered(value, data.draw)}\n"
    parsed = tomllib.loads(text)
    assert parsed == tables
    lines = locate(text)
    assert set(lines.found) == set(paths(parsed))
    assert {path: lines.found[path] for path in expected} == expected


@given(st.text(max_size=60))
def test_the_scanner_ends_on_any_text(text):
    locate(text)

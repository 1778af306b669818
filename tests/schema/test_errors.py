"""What an owner reads after a slip: the line, what was expected, the nearest valid name."""

import unicodedata

import pytest

from tests.schema.samples import GOOD, changed
from tests.schema.slips import SLIPS
from wallflower.errors import DeclarationError
from wallflower.schema import load, loads


def complaint(text, **options):
    with pytest.raises(DeclarationError) as caught:
        loads(text, **options)
    return str(caught.value)


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_explained(slip):
    old, new, expected = SLIPS[slip]
    assert complaint(changed(old, new)) == f"the declaration, {expected}"


def test_a_table_that_is_none_is_one_problem():
    message = complaint(f"table = 5\n{GOOD.replace('[table]', '[read.own]')}")
    assert "'table'" in message
    assert "needs a [table]" not in message


def test_a_value_is_shown_in_its_own_letters():
    assert complaint(changed('"add-remove"', '"größer"')).endswith(', got "größer".')


def test_drop_is_refused_where_the_number_of_rows_is_public():
    text = complaint(changed('"add-remove"', '"replace-one"'))
    assert text == (
        "the declaration has 3 problems:\n"
        'line 30: missing = "drop"\n'
        '  missing = "drop" is refused here. Under neighbours = "replace-one" the number of rows is public, and a dropped row would '
        "change it. Name a declared value for missing.\n"
        'line 38: missing = "drop"\n'
        '  missing = "drop" is refused here. Under neighbours = "replace-one" the number of rows is public, and a dropped row would '
        "change it. Name a declared value for missing.\n"
        'line 48: outside = "drop"\n'
        '  outside = "drop" is refused here. Under neighbours = "replace-one" the number of rows is public, and a dropped row would '
        'change it. Name a declared value for outside, or write "clip".'
    )


def test_replace_one_loads_once_nothing_is_dropped():
    text = changed('"add-remove"', '"replace-one"').replace('missing = "drop"\ncentre', "missing = 0\ncentre")
    text = text.replace('missing = "drop"', 'missing = "CEO"').replace('outside = "drop"', 'outside = "clip"')
    assert loads(text).neighbours == "replace-one"


def test_what_would_be_refused_is_not_proposed():
    text = changed('"add-remove"', '"replace-one"').replace('missing = "drop"\ncentre', "missing = -1\ncentre")
    text = text.replace('missing = "drop"', 'missing = "CFO"').replace('outside = "drop"', "outside = 1900-01-01")
    assert complaint(text) == (
        "the declaration has 3 problems:\n"
        "line 30: missing = \"CFO\"\n  'missing' must be a declared value, got \"CFO\". Did you mean 'CEO'?\n"
        "line 38: missing = -1\n  'missing' must be a value from 0 to 5000000 on the declared grid, got -1.\n"
        "line 48: outside = 1900-01-01\n"
        "  'outside' must be \"clip\" or a value from 1990-01-01 to 2030-12-31 on the declared grid, got 1900-01-01."
    )


def test_an_example_is_one_that_would_be_accepted():
    text = changed('"add-remove"', '"replace-one"').replace('missing = "drop"\n', "").replace('outside = "drop"\n', "")
    assert complaint(text) == (
        "the declaration has 3 problems:\n"
        "line 26: [columns.title]\n  [columns.title] needs 'missing'. Write, for example, missing = \"CEO\".\n"
        "line 31: [columns.salary]\n  [columns.salary] needs 'missing'. Write, for example, missing = \"0\".\n"
        "line 42: [columns.hired]\n  [columns.hired] needs 'outside'. Write, for example, outside = \"clip\"."
    )


def test_more_problems_than_help_are_counted():
    text = GOOD + "".join(f"\n[columns.c{number}]\n" for number in range(5))
    message = complaint(text)
    assert message.startswith("the declaration has 20 problems:\nline 60: [columns.c0]\n  [columns.c0] needs 'role'.")
    assert message.endswith("\n... and 12 more.")


def test_the_message_names_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text(changed("beta = 24", "beta = 0"))
    with pytest.raises(DeclarationError, match=r"^mine\.toml, line 54: beta = 0\n"):
        load(tmp_path / "mine.toml")


def test_a_missing_file_says_how_to_begin(tmp_path):
    with pytest.raises(
        DeclarationError, match=r"No such file or directory\. Draft one with: wallflower declare DATA -o FILE"
    ):
        load(tmp_path / "nothing.toml")


def test_a_file_that_is_not_text_is_refused(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'[table]\nid = "\xe9"\n')
    with pytest.raises(DeclarationError, match="is not UTF-8 text"):
        load(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[table]\nread = {",
            "the declaration is not valid TOML: Invalid initial character for a key part, and then the file ends.",
        ),
        ("[table]\nx = [1,\n", "the declaration is not valid TOML: Invalid value, and then the file ends."),
        (f"x = {'9' * 5000}", "the declaration is not valid TOML: a number is too long or the nesting too deep."),
        (f"x = {'[' * 5000}", "the declaration is not valid TOML: a number is too long or the nesting too deep."),
        (
            "[table]\nlower = 2020-02-30\nx =  # DECIDE: y",
            "line 2, column 9: lower = 2020-02-30\nThis is not valid TOML: Invalid date",
        ),
        ("[table]\nx =  # DECIDE: y\nlower = 2020-02-30", "line 2: x =  # DECIDE: y\n1 line is still to be decided"),
    ],
)
def test_what_is_not_toml_is_explained(text, expected):
    assert expected in complaint(text)


@pytest.mark.parametrize("text", ["", "# nothing\n"])
def test_an_empty_file_says_what_it_needs(text):
    assert "needs a [table]" in complaint(text)


def test_a_file_of_one_table_says_that_columns_are_missing():
    message = complaint(GOOD[: GOOD.index("[columns.employee]")])
    assert message.startswith("the declaration, as a whole:\nThe file declares no column. Write a [columns.NAME]")


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ("", 'the values file "v.csv" is empty'),
        ("a\nb,c\n", 'line 2 of "v.csv" has 2 columns, and one value a line was expected'),
        ('a\n""\n', 'line 2 of "v.csv" is an empty text'),
        ("a\nb\na\n", "'values' holds \"a\" twice"),
        ('a\n"b\n', 'the values file "v.csv" cannot be read'),
    ],
)
def test_a_bad_file_of_values_is_explained(tmp_path, contents, expected):
    (tmp_path / "v.csv").write_text(contents)
    text = changed('values = ["CEO", "Lawyer", "Doctor"]\noutside = "Lawyer"', 'values = "v.csv"\noutside = "drop"')
    assert expected in complaint(text, folder=tmp_path)


def test_a_word_of_the_file_that_is_also_a_value_is_refused():
    text = changed('"Doctor"]\noutside = "Lawyer"', '"drop"]\noutside = "drop"')
    assert '"drop" is both a declared value and a word of this file' in complaint(text)


@pytest.mark.parametrize("encoding", ["base64", "utf-9", "undefined", "", "idna", "punycode", "Unicode_Escape"])
def test_an_encoding_that_is_none_is_refused(encoding):
    assert "'encoding' must be " in complaint(changed('encoding = "latin-1"', f'encoding = "{encoding}"'))


@pytest.mark.parametrize("delimiter", ["\\u0000", "\\n", "::", ""])
def test_a_delimiter_that_no_reader_takes_is_refused(delimiter):
    assert "'delimiter' must be one character" in complaint(changed('delimiter = ";"', f'delimiter = "{delimiter}"'))


@pytest.mark.parametrize("read", ['delimiter = "."', 'decimal = ","', 'delimiter = ",", decimal = ","'])
def test_one_character_cannot_part_cells_and_be_the_decimal_point(read):
    text = changed('read = {delimiter = ";", encoding = "latin-1", decimal = ","}', f"read = {{{read}}}")
    assert "Name the two characters apart." in complaint(text)


def test_a_long_line_is_shortened():
    many = ", ".join(f'"title {number}"' for number in [*range(50), 0])
    quoted, said = complaint(
        changed('"CEO", "Lawyer", "Doctor"]\noutside = "Lawyer"', f'{many}]\noutside = "drop"')
    ).splitlines()
    assert quoted.startswith('the declaration, line 28: values = ["title 0", "title 1"')
    assert quoted.endswith("...")
    assert len(quoted) == len("the declaration, line 28: ") + 120
    assert said == "'values' holds \"title 0\" twice. Every declared value stands once."


@pytest.mark.parametrize(
    "text",
    [
        "table = 1",
        "table = []",
        "columns = 3\n[table]",
        "[table]\n[columns]\nx = 3",
        "[[table]]\nid = 1",
        "[table]\nread = 3\n[budget]\ndp = 4\n[identify]\nx = 3",
        "[table]\n[[columns.x]]\nrole = 1",
        "[table]\nid = 1979-05-27T07:32:00Z\nmax_rows = nan\n[columns.x]\nlower = inf\nupper = nan\nstep = -inf",
        "[table]\nid = ''\n[columns.'']\nrole = []\nvalues = {}\nbins = 3\nhierarchy = 3\nscale = {}",
        "[table]\n[columns.x]\nrole = 'sensitive'\nvalues = []\noutside = []\nmissing = {}",
        "[table]\n[columns.x]\nlower = 0\nupper = 9\nstep = 1\nbins = [[1]]\ncentre = {}\noutside = true\nmissing = 2000-01-01",
        "[table]\n[columns.x]\nrole = 'identifier'\n[identify.'a b']\ncolumns = ['x', 'x', 3]\nweights = 3",
    ],
)
def test_whatever_is_written_the_answer_is_a_declaration_error(text):
    assert "line " in complaint(text)


@pytest.mark.parametrize(
    "text",
    [
        "a = \x1b[31m\n",
        'x = "\x1b]0;title\x07"\n',
        '[table]\n"\\u001b[2Jid" = 1\n',
        '[table]\nid = "\\u001b[31mred"\nsource = "\\u202egpj.exe"\nunit = "\\u009b1m"\n',
        '[columns."a\\u001b[31mb"]\nrole = "none\\u0007"\n',
        '[identify."\\u001bx"]\nbeta = 1\n',
    ],
)
def test_a_control_character_is_shown_and_not_obeyed(text):
    with pytest.raises(DeclarationError) as refusal:
        loads(text)
    hidden = [each for each in str(refusal.value) if unicodedata.category(each) in {"Cc", "Cf"} and each != "\n"]
    assert not hidden


def test_a_control_character_in_a_value_that_is_refused_is_shown_and_not_obeyed():
    assert "\\x1b[31m" in str(DeclarationError.of(object(), "alpha", "a number", "\x1b[31m5"))


def test_a_file_name_with_control_characters_is_shown(tmp_path):
    place = tmp_path / "a\x1b[31m.toml"
    place.write_text("x = \n")
    with pytest.raises(DeclarationError) as refusal:
        load(place)
    assert "\x1b" not in str(refusal.value)
    assert "\\x1b" in str(refusal.value)

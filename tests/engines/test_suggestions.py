"""What is proposed about the format of texts, and how many cells it would mend."""

import tomllib

import pytest

from tests.contracts.engine_sources import categories, dates, numbers
from wallflower.engines.file_format import file_format
from wallflower.engines.suggestions import guessed, mends
from wallflower.schema.formats import CellFormat


def counted(*texts):
    return tuple((text, texts.count(text)) for text in dict.fromkeys(texts))


@pytest.mark.parametrize(
    ("texts", "kind", "more"),
    [
        (("1", "2", "30"), "integer", {}),
        (("1", "2.5"), "real", {}),
        (("1,234", "2,500.5", "12"), "real", {"thousands": ","}),
        (("31.12.2020", "01.02.2021"), "date", {"dates": ("%d.%m.%Y",)}),
        (("2020-12-31",), "date", {"dates": ()}),
        (("12/31/2020", "01/02/2021"), "date", {"dates": ("%m/%d/%Y",)}),
        ((*("31.12.2020",) * 3, *("2020-12-30",) * 2), "date", {"dates": ("%d.%m.%Y", "%Y-%m-%d")}),
        ((*map(str, range(20, 90)), "unknown", "999"), "integer", {"missing_codes": ("unknown", "999")}),
        ((*map(str, range(4)), "-9"), "integer", {"missing_codes": ("-9",)}),
        ((*map(str, range(4)), "9"), "integer", {"missing_codes": ()}),
        ((*map(str, range(20, 90)), "99"), "integer", {"missing_codes": ()}),  # no further than values go
        ((*map(str, range(100, 140)), "1,234"), "integer", {"thousands": ","}),  # most are short
        ((*map(str, range(20, 90)), "1e401", "-1e999", "9" * 5000), "integer", {"thousands": "", "missing_codes": ()}),
        ((*map(str, range(20, 90)), "1e300", "2.5e-320"), "real", {}),
        (("true", "false"), "boolean", {}),
        (("a", "b", "3"), "text", {}),
        ((), "text", {}),
        (("NA", "n/a"), "text", {}),
    ],
)
def test_a_column_is_guessed_from_its_texts(texts, kind, more):
    guess = guessed(counted(*texts))
    assert guess.kind == kind
    for name, value in more.items():
        assert getattr(guess, name) == value


@pytest.mark.parametrize("cell", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 5000])
def test_no_cell_is_written_out_to_be_looked_at(cell):
    """One such cell kept a draft from ending, or made the whole file unreadable."""
    texts = counted(*map(str, range(20, 90)), cell)
    assert guessed(texts).kind == "integer"
    assert mends(numbers(lower="0", upper="110", step="1"), CellFormat(), (), counted(cell)) == []


CODES = ["99", "999", "9999", "99999", "999999", "-1", "-9", "-99", "-999", "-9999", "888", "8888", "777", "7777"]


@pytest.mark.parametrize("cell", [*CODES, "9", "-2", "98", "100", "-777"])
def test_numbers_that_surveys_write_for_nothing_are_proposed_as_codes(cell):
    found = mends(numbers(lower="0", upper="5", step="1"), CellFormat(), (), ((cell, 3),))
    assert [(mend.line, mend.cells) for mend in found] == [(f'missing_codes = ["{cell}"]', 3)] * (cell in CODES)


def test_the_setting_that_mends_most_comes_first():
    x = numbers(lower="0", upper="110", step="1")
    found = mends(x, CellFormat(), (("unknown", 2), ("1,234", 9)), ())
    assert [mend.cells for mend in found] == sorted((mend.cells for mend in found), reverse=True)
    assert found[-1].line == 'missing_codes = ["unknown"]'


@pytest.mark.parametrize(
    ("format_", "cell", "proposed"),
    [
        (CellFormat(), "1,5", True),
        (CellFormat(thousands=","), "1.234,5", True),  # the marks change places
        (CellFormat(decimal=","), "1.5", False),
        (CellFormat(decimal=",", thousands="."), "1,5", False),  # it is the mark already
    ],
)
def test_a_decimal_comma_is_proposed_where_there_is_none(format_, cell, proposed):
    found = mends(numbers(lower="0", upper="5000", step="1"), format_, ((cell, 4),), ())
    assert [mend.cells for mend in found if mend.of_table] == [4] * proposed


def test_a_proposed_line_can_be_put_into_the_declaration():
    """Whatever codes stand there already: it repeats them."""
    codes = ("a\x7f", 'the "worst"\\', "\u2028")
    x = numbers(lower="0", upper="110", step="1")
    (found,) = mends(x, CellFormat(missing_codes=codes), (("unknown", 2),), ())
    assert tomllib.loads(found.line) == {"missing_codes": [*codes, "unknown"]}


def test_settings_are_counted_by_the_cells_they_would_mend():
    x = numbers(lower="0", upper="110", step="1")
    found = {
        mend.line: mend.cells
        for mend in mends(x, CellFormat(), (("1,234", 5), ("unknown", 3)), (("999", 7), ("120", 1)))
    }
    assert found['thousands = ","'] == 5
    assert found['missing_codes = ["unknown", "999"]'] == 10
    days = {mend.line: mend.cells for mend in mends(dates(), CellFormat(), (("31.12.2020", 4), ("x", 1)), ())}
    assert days['date = ["%Y-%m-%d", "%d.%m.%Y"]'] == 4
    words = mends(categories(), CellFormat(), (), (("N/A", 2), ("z", 9)))
    assert [(mend.line, mend.cells) for mend in words] == [('missing_codes = ["N/A"]', 2)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n", (",", "utf-8", ".", True)),
        ("a;b\n1,5;Gyn\xe4\n2,5;x\n".encode("latin-1"), (";", "latin-1", ",", True)),
        (b"a;b\n1,234;x\n850;y\n12,500;z\n", (";", "utf-8", ".", True)),  # thousands, by every cell
        (b"a;b\n1,234;x\n0,850;y\n", (";", "utf-8", ",", True)),  # no thousand begins with a nought
        ("a\tb\n1\t\u20ac\n".encode("cp1252"), ("\t", "cp1252", ".", True)),
        (b"\xef\xbb\xbfa|b\n1|2\n", ("|", "utf-8", ".", True)),
        ("a;b\n1;2\n".encode("utf-16"), (";", "utf-16", ".", True)),
        (b"1,2\n3,4\n", (",", "utf-8", ".", False)),
        (b"a,2.5\nb,3.5\n", (",", "utf-8", ".", False)),
        (b"a,2020-12-31\nb,2021-01-01\n", (",", "utf-8", ".", False)),
        (b",b\n1,2\n", (",", "utf-8", ".", True)),  # a column without a name
        (b"a,a\nb,c\n", (",", "utf-8", ".", False)),  # names are different, rows need not be
        (b"a,a\n", (",", "utf-8", ".", True)),  # no row at all
        (b"", (",", "utf-8", ".", True)),
        (b"only\n1\n2\n", (",", "utf-8", ".", True)),
    ],
)
def test_a_text_file_is_looked_at(tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    found = file_format(path)
    reading = found.reading
    assert (reading.delimiter, reading.encoding, reading.decimal, found.named) == expected

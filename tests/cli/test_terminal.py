"""Names and values are printed as they are: no bracket, colon or control character in one means anything to a terminal."""

from __future__ import annotations

import pytest

from wallflower.cli.app import run
from wallflower.cli.terminal import out

ODD = ["a[/b]", "[red]", ":bug:", "[link=x]", "a\u009b31mb", "\u202egpj.exe", "é", "\u200c"]
TABLE = """
[table]
id = "t"
source = "t.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 100
reviewed = true
ledger = "t.ledger"
[budget.dp]
epsilon = "4"
[columns."{name}"]
role = "sensitive"
lower = 0
upper = 9
step = 1
outside = "clip"
missing = "drop"
"""


def told(text):
    return text.replace("\x9b", "\\x9b").replace("\u202e", "\\u202e")


@pytest.mark.parametrize("name", ODD)
def test_a_name_is_printed_as_it_is(name, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.toml").write_text(TABLE.format(name=name), encoding="utf-8")
    (tmp_path / "t.csv").write_text(f"{name},z\n1,\n2,\nx,\n", encoding="utf-8")
    assert run(["check", "t.toml"]) == 0, capfd.readouterr().err
    assert told(name) in capfd.readouterr().out
    assert run(["ledger", "init", "t.toml"]) == 0
    assert run(["ledger", "backup", "t.toml", f"copy {name}.ledger".replace("/", "|")]) == 0
    assert told(f"copy {name}".replace("/", "|")) in capfd.readouterr().out
    assert run(["ledger", "close", "t.toml", "--request-id", name]) == 3
    assert told(name) in capfd.readouterr().err
    asked = ["count", "t.toml", "--columns", name, "--neighbours", "1", "--radius", "1", "--epsilon", "1"]
    named = ["--asker", name, "--purpose", name] if name.isprintable() else []  # others are refused
    assert run([*asked, *named]) == 0, capfd.readouterr().err
    assert run(["ledger", "history", "t.toml"]) == 0
    printed = capfd.readouterr()
    assert not named or told(name) in printed.out
    assert "\x9b" not in printed.out + printed.err
    assert "\u202e" not in printed.out + printed.err


def test_a_name_that_is_no_text_is_printed_all_the_same(capfd):
    """Names of files may hold bytes that are no text, which Python hands on as halves of letters."""
    out.print("copy \udcff.ledger")
    assert "copy \\udcff.ledger" in capfd.readouterr().out

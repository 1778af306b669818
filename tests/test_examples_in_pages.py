"""What pages show without running it: every command and option exists, and every declaration and Python block can be read."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer
from scripts.reference import every_command

from tests.doc_blocks import FENCE, blocks
from wallflower.cli.app import build

ROOT = Path(__file__).resolve().parents[1]
PAGES = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "reference"]
OPTIONS = {
    path: {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    for path, command in every_command(typer.main.get_command(build()), "wallflower")
}


OPTIONS["wallflower serve"] = OPTIONS["wallflower serve run"]  # `run` may be left out


def unknown(line: str) -> list[str]:
    """What of a command line does not exist: the command, or some of its options."""
    words = shlex.split(line, comments=True)
    path = max((path for path in OPTIONS if words[: path.count(" ") + 1] == path.split()), key=len)
    used = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)} - {"--help", "-h"}
    lost = [word for word in words[1:2] if path == "wallflower" and not word.startswith("-")]
    return lost + sorted(used - OPTIONS[path])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_shows_exists(page):
    text = page.read_text(encoding="utf-8")
    for block in blocks(text):
        where = f"{page.name}, line {block.line}"
        if block.kind == "toml":
            tomllib.loads(block.body)
        elif block.kind == "python":
            compile(block.body, where, "exec")
    shown = [
        line
        for body in re.findall(r"^```\w*[^\n]*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        for line in lines(body)
    ]
    inline = re.findall(r"`(wallflower [^`]+)`", FENCE.sub("", text))
    wrong = {line: lost for line in [*shown, *inline] if (lost := unknown(line))}
    assert wrong == {}


def lines(body: str) -> list[str]:
    joined = re.sub(r" *\\\n *", " ", body)
    found = (re.match(r"(?:\$ )?(wallflower .*)", line) for line in joined.splitlines())
    # What stands after several spaces, or after a closed bracket of options, is a remark for the reader.
    return [re.split(r" {3,}| #", match[1])[0] for match in found if match]


def test_a_lost_command_and_a_lost_option_are_noticed():
    assert unknown("wallflower cuont x.toml") == ["cuont"]
    assert unknown('wallflower count x.toml --columns "a b" --nieghbours 3') == ["--nieghbours"]
    assert unknown("wallflower stream simulate x.toml --data y.csv") == []


OF_SCRIPTS = {"--map", "--again", "--only"}
"""Options of `scripts.mutations` and of `benchmarks.explain`, spoken of in passing."""
EVERY_OPTION = (
    set().union(*OPTIONS.values())
    | {"--help", "-h", "--version", "--install-completion", "--show-completion"}
    | OF_SCRIPTS
)
TOLD = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
HOMES = (ROOT, ROOT / "src", ROOT / "src" / "wallflower")


def named_in_vain(text: str, page: Path) -> list[str]:
    """Options and files that running text names in backquotes and nobody finds; commands of other programs have options of their own."""
    found = []
    for said in re.findall(r"`([^`\n]+)`", FENCE.sub("", text)):
        if not re.match(r"(python|pip|make|pytest|git) ", said):
            found += [word for word in re.findall(r"(?<![\w-])--[a-z][\w-]*", said) if word not in EVERY_OPTION]
        for file in re.findall(r"(?<![\w./-])(?:[\w.-]+/)+[\w.-]+\.(?:py|md|toml|txt|sh|json|cu)\b", said):
            homes = (*HOMES, page.parent)
            placeholder = re.search(r"\b(?:AREA|NAME)\b|_(?:AREA|NAME)\b", file)
            if not placeholder and not any((home / file).exists() or [*home.glob(f"*/{file}")] for home in homes):
                found.append(file)
    return found


@pytest.mark.parametrize("page", TOLD, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_in_passing_exists(page):
    assert named_in_vain(page.read_text(encoding="utf-8"), page) == []


def test_a_lost_name_in_passing_is_noticed():
    said = "`--radius` and `--raduis`, in `count/queries.py`, not `count/quieries.py`; `pip install --upgrade x`, `tests/AREA/test_NAME.py`"
    assert named_in_vain(said, ROOT / "README.md") == ["--raduis", "count/quieries.py"]

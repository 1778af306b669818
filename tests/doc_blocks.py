"""Runs the fenced blocks of a page in an empty folder, in the order they stand in, as a reader would.

    ```csv file=NAME, ```toml file=NAME     written to that file; without a name the block is only shown
    ```console                              `$ wallflower …` is run; lines below a command are what it prints
    ```python                               run; all such blocks of a page share their names
    ```text                                 right after ```python: what that block prints

A command may begin with NAME=value, which is set for it alone, and end in &: it then runs beside the others and is ended with the page.
mosquitto and mosquitto_passwd are run as they are.

`…` inside a line stands for any text of that line, a line of `…` alone for any lines. A command without lines below it may print
anything. A command that fails is followed by `$ echo $?` and its exit code; `> FILE` keeps what it prints.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.searched import searched
from tests.stream.support import tool
from wallflower.cli.app import run

FENCE = re.compile(r"^```(?P<kind>\w+)(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Block:
    kind: str
    file: str | None
    body: str
    line: int
    """Where the block starts on its page."""


def blocks(text: str) -> list[Block]:
    found = []
    for match in FENCE.finditer(text):
        named = re.search(r"file=(\S+)", match["info"])
        line = text.count("\n", 0, match.start()) + 1
        found.append(
            Block(kind=match["kind"], file=named[1] if named else None, body=match["body"], line=line),
        )
    return found


def run_page(
    page: Path, *, names: Mapping[str, str] | None = None, instead: Mapping[str, str] | None = None
) -> list[str]:
    """Run every block of `page` in the current folder; returns what each command and each Python block printed.

    `names` says which file a csv or toml block without a name becomes; `instead` replaces texts of the page, such as a port.
    """
    background: list[subprocess.Popen[bytes]] = []
    try:
        return _run_blocks(page, names, instead or {}, background)
    finally:
        for process in reversed(background):
            process.terminate()
        for process in background:
            process.wait(timeout=300)


def _run_blocks(
    page: Path,
    names: Mapping[str, str] | None,
    instead: Mapping[str, str],
    background: list[subprocess.Popen[bytes]],
) -> list[str]:
    text = page.read_text(encoding="utf-8")
    for old, new in instead.items():
        text = text.replace(old, new)
    scope: dict[str, Any] = {"__name__": page.stem}
    printed: list[str] = []
    last = ""
    for block in blocks(text):
        where = f"{page.name}, line {block.line}"
        if block.kind in {"csv", "toml"}:
            file = block.file or (names or {}).get(block.kind)
            if file:
                Path(file).write_text(block.body, encoding="utf-8")
        elif block.kind == "console":
            printed += _console(block.body, where, background)
        elif block.kind == "python":
            last = _python(block.body, where, scope)
            printed.append(last)
        elif block.kind == "text" and last:
            assert matches(block.body, last), f"{where}: printed instead:\n{last}"
            last = ""
    return printed


def matches(expected: str, printed: str) -> bool:
    """Whether `printed` reads as `expected`, in which … stands for anything."""
    lines = [line.rstrip() for line in expected.strip().splitlines()]
    pattern = "".join(
        r"(?:.*\n)*?" if line == "…" else ".*".join(re.escape(part) for part in line.split("…")) + r" *\n"
        for line in lines
    )
    return re.fullmatch(pattern, printed.strip("\n") + "\n") is not None


def _console(body: str, where: str, background: list[subprocess.Popen[bytes]]) -> Iterator[str]:
    code = 0
    for asked, expected in _exchanges(body, where):
        if asked == "echo $?":
            assert expected.strip() == str(code), f"{where}: the exit code was {code}"
            code = 0
            continue
        assert code == 0, f"{where}: the command before `{asked}` failed with {code}"
        if _is_a_process(asked):
            _process(asked, where, background)
            continue
        code, said, kept = _command(asked, where)
        if expected.strip():
            assert matches(expected, said), f"{where}: `{asked}` printed instead:\n{said}"
        yield said + kept
    assert code == 0, f"{where}: the last command failed with {code}"


def _exchanges(body: str, where: str) -> Iterator[tuple[str, str]]:
    """Each command with the lines below it; a line that ends in a backslash goes on in the next."""
    parts = re.split(r"^\$ ", body.replace("\\\n", " "), flags=re.MULTILINE)
    assert not parts[0].strip(), f"{where}: a console block starts with a command"
    for part in parts[1:]:
        asked, _, expected = part.partition("\n")
        yield asked.strip(), expected


def _is_a_process(asked: str) -> bool:
    return asked.endswith("&") or "=" in asked.split(maxsplit=1)[0] or asked.startswith("mosquitto")


def _process(asked: str, where: str, background: list[subprocess.Popen[bytes]]) -> None:
    """A command in a process of its own; with & it goes on beside the page."""
    words = shlex.split(asked.removesuffix("&"))
    environment = dict(os.environ)
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    target = Path(words[words.index(">") + 1]) if ">" in words else None
    words = words[: words.index(">")] if target else words
    if words[0] == "wallflower":
        words = [sys.executable, "-m", *words]
        root = Path(__file__).resolve().parents[1] / "src"
        environment["PYTHONPATH"] = searched(root)
    else:
        assert words[0] in {"mosquitto", "mosquitto_passwd"}, f"{where}: `{asked}` is not run"
        words[0] = tool(words[0])
        if words[0].endswith("mosquitto") and os.geteuid() == 0:
            # As root mosquitto would become another user, who may not read the test's folder.
            with Path(words[-1]).open("a", encoding="utf-8") as file:
                file.write("user root\n")
    with contextlib.ExitStack() as files:
        out = files.enter_context(target.open("wb")) if target else subprocess.DEVNULL
        process = subprocess.Popen(words, env=environment, stdout=out, stderr=subprocess.DEVNULL)
    if asked.endswith("&"):
        background.append(process)
    else:
        code = process.wait(timeout=600)
        assert code == 0, f"{where}: `{asked}` failed with {code}"


def _command(asked: str, where: str) -> tuple[int, str, str]:
    words = shlex.split(asked)
    assert words[0] == "wallflower", f"{where}: only wallflower's own commands are run, got `{asked}`"
    target = None
    if ">" in words:
        target = words[words.index(">") + 1]
        words = words[: words.index(">")]
    out, err = io.StringIO(), io.StringIO()
    both = out if target is None else err
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(both):
        code = run(words[1:])
    if target is not None:
        Path(target).write_text(out.getvalue(), encoding="utf-8")
        return code, err.getvalue(), out.getvalue()
    return code, out.getvalue(), ""


def _python(body: str, where: str, scope: dict[str, Any]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(body, where, "exec"), scope)  # noqa: S102 - the point of the test
    return out.getvalue()

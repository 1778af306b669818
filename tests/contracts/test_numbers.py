"""Every public number of every query, through the whole range of its type: priced, or refused; never a bug, never charged first."""

from __future__ import annotations

import dataclasses
import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
import typer

from tests.contracts.test_same_release import cells
from wallflower import errors
from wallflower.cli import app
from wallflower.cli.app import run
from wallflower.engines import from_frame
from wallflower.ledger import Ledger
from wallflower.schema import load
from wallflower.session import Session, description

HUGE = 10**400
VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2**31, 2**53 + 1, 2**63, 10**30, HUGE, -HUGE, True, None, 0.5, 5e-324, float("nan"), float("-inf")),
    *("", "text", "1/0", "nan", "inf", "-1", "1e-400", "1e400", "1e-40", "1e-12", "1e-300", "1e18", "9" * 5000),
    *(Fraction(1, HUGE), Fraction(HUGE), Fraction(1, 3) + Fraction(1, 10**4000)),
)
SPELLED = ("", "0", "-1", "nan", "inf", "-inf", "1e-400", "1e400", "1e-13", "1e99999", "1/0", "text", "9" * 5000)
NOT_NUMBERS = {"record", "start", "search", "contexts", "by"}
PATIENCE = 900
"""Seconds of processor time; no case needs one, once all is compiled, which may be done here first."""


def is_a_number(value: object) -> bool:
    try:
        Fraction(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, ZeroDivisionError):
        return value is None
    return not isinstance(value, bool)


def places(query: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path to each public number, those of a detector included."""
    for field in dataclasses.fields(query):
        value = getattr(query, field.name)
        if dataclasses.is_dataclass(value):
            yield from places(value, (*above, field.name))
        elif field.name not in NOT_NUMBERS and is_a_number(value):
            yield (*above, field.name)


def put(query: Any, path: tuple[str, ...], value: Any) -> Any:
    inner = value if len(path) == 1 else put(getattr(query, path[0]), path[1:], value)
    return dataclasses.replace(query, **{path[0]: inner})


@contextmanager
def soon(what: object) -> Iterator[None]:
    def late(*_: object) -> None:
        pytest.fail(f"{str(what)[:200]} takes for ever")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def rich(example, folder):
    """The example's table with a budget that is never exhausted."""
    path = example.lay_out(folder)
    text = re.sub(r'(?m)^epsilon = "[^"]*"', 'epsilon = "1000000000"', path.read_text())
    path.write_text(re.sub(r"(?m)^publications = \d+", "publications = 1000000", text))
    Ledger.init(load(path))
    return path


def tried(session, base, path, value, seen):
    """The refusal; None when the question was answered, now or before."""
    try:
        query = put(base, path, value)
        asked = json.dumps(description(query))
        if asked not in seen:
            seen.add(asked)
            session.release(query)
    except errors.ReleaseFailed as error:
        pytest.fail(f"{path} = {str(value)[:50]} was charged: {error}")
    except errors.WallflowerError as error:
        return error
    return None


TOGETHER = {"certificate_epsilon", "certificate_failure", "k"}
"""Refused without each other, whatever their value; or, with the example's possible values, at all of these."""


@pytest.mark.slow
def test_every_number_is_priced_or_refused(example, tmp_path):
    declaration = load(rich(example, tmp_path))
    # A small file's texts are read by the same rows as a frame's, which need not be opened anew for each of a hundred questions.
    session = Session(declaration, from_frame(cells(tmp_path / "rows.csv"), declaration))
    base = example.query(tmp_path)
    seen, answered = set(), set()
    found = list(places(base))
    assert found
    session.release(base)
    for path in found:
        for value in VALUES:
            with soon((path, value)):
                refusal = tried(session, base, path, value, seen)
            assert refusal is None or (refusal.exit_code in {2, 3} and len(str(refusal)) < 500)
            answered |= {path} if refusal is None else set()
    assert {path for path in found if path[-1] not in TOGETHER} <= answered


@pytest.mark.slow
def test_every_option_is_priced_or_refused(example, tmp_path, capsys, monkeypatch):
    path = rich(example, tmp_path)
    arguments = example.arguments(path)
    command = typer.main.get_command(app.build(arguments[:1]))
    # A process reads one command line, and this one dozens, which differ in a number: the options are put together once.
    monkeypatch.setattr(app, "_needed", lambda _asked: None)
    monkeypatch.setattr(typer.main, "get_command", lambda _none: command)
    options = [
        at
        for at, (word, following) in enumerate(pairwise(arguments))
        if word.startswith("--") and is_a_number(following)
    ]
    assert options
    for at in options:
        for value in SPELLED:
            asked = [*arguments[: at + 1], value, *arguments[at + 2 :]]
            with soon(asked):
                code = run(asked)
            shown = capsys.readouterr()
            assert code in {0, 2, 3, 5}, f"{asked}: {shown.err}"
            assert "Traceback" not in shown.err


@pytest.mark.parametrize("value", ["1e-400", "1e400", "nan", "0"])
@pytest.mark.parametrize("option", ["--epsilon", "--certificate-epsilon", "--certificate-failure"])
def test_the_parts_of_a_certificate_are_refused_like_any_number(tmp_path, capsys, option, value):
    from tests.contracts.registry import every_example

    example = next(one for one in every_example() if one.name == "explain full grubbs")
    path = rich(example, tmp_path)
    asked = [*example.arguments(path), "--certificate-epsilon", "0.01", "--certificate-failure", "0.05"]
    assert run([*asked, option, value]) == 2
    assert "'" in capsys.readouterr().err

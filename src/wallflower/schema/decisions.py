"""The open lines of a draft, one question each: what `declare --ask` asks, and where an answer goes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_OPEN = re.compile(r"^(?P<key>\w+) = (?P<value>.*?) ?# DECIDE: (?P<why>.*)$")
_SECTION = re.compile(r"^\[(?P<name>.+)\]$")
QUOTED = frozenset({"epsilon", "radius", "step"})
"""Numbers that are kept exact, and so stand in quotes."""


@dataclass(frozen=True)
class Decision:
    """One line that waits for the owner."""

    line: int
    section: str
    key: str
    proposed: str
    """What stands there already; empty where nothing may be proposed."""
    why: str

    @property
    def question(self) -> str:
        proposal = f" [{self.proposed}]" if self.proposed else ""
        return f"{self.section} {self.key}{proposal}: {self.why}"


def decisions(text: str) -> Iterator[Decision]:
    section = ""
    for number, line in enumerate(text.split("\n")):
        named = _SECTION.match(line)
        section = f"[{named['name']}]" if named else section
        found = _OPEN.match(line)
        if found:
            yield Decision(number, section, found["key"], found["value"].strip(), found["why"])


def answered(text: str, ask: Callable[[Decision, str], str]) -> str:
    """`text` with every decision taken; `ask` is given the question and, after a slip, what was wrong with the answer.

    An empty answer takes what is proposed, or leaves the line open.
    """
    lines = text.split("\n")
    for decision in decisions(text):
        complaint = ""
        while True:
            answer = ask(decision, complaint).strip()
            if not answer:
                break
            value = _toml(decision.key, answer)
            if value is not None:
                lines[decision.line] = f"{decision.key} = {value}"
                break
            complaint = "That cannot be written into the file; lists stand in [...], texts in quotes."
        if not answer and decision.proposed:
            lines[decision.line] = f"{decision.key} = {decision.proposed}"
    return "\n".join(lines)


def _toml(key: str, answer: str) -> str | None:
    """The answer as TOML: words and exact numbers get quotes, a list of words brackets as well."""
    bare = answer.strip('"')
    options = [answer]
    if key in QUOTED:
        options = [f'"{bare}"'] if re.fullmatch(r"[0-9./eE+-]+", bare) else []
    elif key == "values" and not answer.startswith(("[", '"')):
        words = [word.strip().strip('"') for word in answer.split(",") if word.strip()]
        options = ["[" + ", ".join(f'"{word}"' for word in words) + "]"]
    elif not answer.startswith(('"', "[")):
        options = [answer, f'"{answer}"']
    for option in options:
        try:
            tomllib.loads(f"{key} = {option}")
        except tomllib.TOMLDecodeError:
            continue
        return option
    return None

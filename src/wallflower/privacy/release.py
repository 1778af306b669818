"""What leaves the owner's desk, and the wrapper for what must not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, NoReturn

from wallflower.privacy.guarantees import Guarantee
from wallflower.version import __version__


class OwnerOnly:
    """A value computed from rows without protection. Its text shows nothing and nothing serialises it.

    >>> OwnerOnly({"true count": 7})
    <OwnerOnly: NOT PRIVATE, for the owner's desk; .value unwraps it>
    """

    __slots__ = ("_value",)

    def __init__(self, value: object) -> None:
        self._value = value

    @property
    def value(self) -> Any:
        return self._value

    def __repr__(self) -> str:
        return "<OwnerOnly: NOT PRIVATE, for the owner's desk; .value unwraps it>"

    def __reduce__(self) -> NoReturn:
        message = "an OwnerOnly value is never serialised"
        raise TypeError(message)


def plain(value: object) -> Any:
    """The same value in nothing but JSON's own types, copied: no float, which can carry more of the rows than it shows,
    and no subclass, which can carry anything.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return "".join(value)
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            message = "a release names its fields by text"
            raise TypeError(message)
        return {"".join(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return [plain(item) for item in value]
    message = f"a release cannot hold a {type(value).__name__}"
    raise TypeError(message)


@dataclass(frozen=True, kw_only=True)
class Release:
    """One answer with its promise. The whole of it may leave.

    >>> from fractions import Fraction
    >>> from wallflower.privacy.guarantees import PureDP
    >>> promise = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
    >>> ledger = {"account": "visits", "entry": 2, "spent": {"epsilon": "0.5"}, "left": {"epsilon": "1.5"}}
    >>> answer = Release(value={"count": 7}, guarantee=promise, mechanism={}, ledger=ledger, private=True)
    >>> answer["count"], answer.to_json()["private"]
    (7, True)
    """

    value: Mapping[str, Any] | None
    """The answer, by command (the JSON field `release`); None when there is no answer."""
    guarantee: Guarantee
    mechanism: Mapping[str, str]
    ledger: Mapping[str, Any]
    private: bool
    """False when the noise came from a seed: then nothing is promised."""

    def __post_init__(self) -> None:
        for part in ("value", "mechanism", "ledger"):
            given = getattr(self, part)
            if not isinstance(given, Mapping) and not (part == "value" and given is None):
                message = f"the {part} of a release is a mapping, not a {type(given).__name__}"
                raise TypeError(message)
            object.__setattr__(self, part, plain(given))  # a copy: whoever keeps the original cannot change a release

    def __getitem__(self, name: str) -> Any:
        if self.value is None:
            message = "there is no answer to this question; the charge stands"
            raise LookupError(message)
        return self.value[name]

    def to_json(self) -> dict[str, Any]:
        return {
            "ok": True,
            "release": None if self.value is None else dict(self.value),
            "guarantee": self.guarantee.to_json(),
            "mechanism": dict(self.mechanism),
            "ledger": dict(self.ledger),
            "private": self.private,
            "wallflower": __version__,
        }

    def lines(self) -> list[tuple[str, str]]:
        """Label and text, in reading order; what the terminal and the notebook show."""
        rows = [("answer", "no answer" if self.value is None else _said(self.value))]
        if not self.private:
            rows.append(("NOT PRIVATE", "drawn from a seed, for tests only: the promise below does not hold"))
        rows.append(("promise", self.guarantee.sentence))
        spent, left = self.ledger.get("spent", {}), self.ledger.get("left", {})
        so_far = ", ".join(f"{name} {amount} spent, {left.get(name, '?')} left" for name, amount in spent.items())
        rows.append(("ledger", f"entry {self.ledger.get('entry')} of '{self.ledger.get('account')}': {so_far}"))
        return rows

    def __str__(self) -> str:
        rows = self.lines()
        width = max(len(label) for label, _ in rows)
        return "\n".join(f"{label:<{width}}  {text}" for label, text in rows)

    def _repr_html_(self) -> str:
        cells = "".join(
            f'<tr><th style="text-align:left">{escape(label)}</th><td style="text-align:left">{escape(text)}</td></tr>'
            for label, text in self.lines()
        )
        return f"<table>{cells}</table>"


def _said(value: Mapping[str, Any]) -> str:  # noqa: PLR0911 - one line a shape
    if isinstance(value.get("text"), str):
        return str(value["text"])
    if isinstance(value.get("records"), list):
        return "; ".join(
            f"{one['record']}: {_said(one['answer']) if one['answer'] else 'no answer'}" for one in value["records"]
        )
    if isinstance(value.get("contexts"), list):
        return "; ".join(str(one["text"]) for one in value["contexts"])
    if "answers" in value:
        return "; ".join(
            f"{_plain(one['asked'])}: {'an anomaly' if one['anomalous'] else 'no anomaly'}" for one in value["answers"]
        )
    if "subspaces" in value:
        return "; ".join(
            _plain(one["columns"]) + ("" if one["count"] is None else f": count {one['count']}")
            for one in value["subspaces"]
        )
    if isinstance(value.get("groups"), list):
        return "; ".join(
            f"{one['value']}: {one['count']}" + ("" if one["interval"] is None else f" ({_ends(one['interval'])})")
            for one in value["groups"]
        )
    said = {
        name: _ends(item) if name == "interval" else _plain(item) for name, item in value.items() if item is not None
    }
    return ", ".join(f"{name} {text}" for name, text in said.items())


def _plain(item: object) -> str:
    if isinstance(item, Mapping):
        return ", ".join(f"{name} {_plain(part)}" for name, part in item.items())
    if isinstance(item, list | tuple):
        return ", ".join(_plain(part) for part in item)
    if isinstance(item, bool):
        return "yes" if item else "no"
    return str(item)


def _ends(interval: Sequence[int]) -> str:
    return f"{interval[0]} to {interval[-1]}"

"""What leaves the owner's desk, and the wrapper for what must not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from wallflower.privacy.frames import frame_of
from wallflower.privacy.guarantees import Guarantee
from wallflower.schema.canonical import plain
from wallflower.schema.display import InNotebooks, as_html, as_text
from wallflower.version import __version__

NOT_PRIVATE = (
    "NOT PRIVATE. This is what is really in the rows; it is for the owner of the table and must not leave the desk."
)
NOT_SHOWN = "A notebook keeps what it shows: .show() shows it."


class OwnerOnly:
    """A value computed from rows without protection. Its text shows nothing of it and nothing serialises it.

    A notebook keeps what it shows, so one that ends a cell shows the question it answers until `show()` is called.

    >>> OwnerOnly({"true count": 7})
    <OwnerOnly: NOT PRIVATE, for the owner's desk; .value unwraps it>
    """

    __slots__ = ("_question", "_value")

    def __init__(self, value: object, *, question: Sequence[tuple[str, str]] = ()) -> None:
        self._value = value
        self._question = tuple(question)

    @property
    def value(self) -> Any:
        return self._value

    def show(self) -> Shown:
        """What is really there, for a notebook that only the owner opens."""
        return Shown(question=self._question, value=self._value)

    def __repr__(self) -> str:
        return "<OwnerOnly: NOT PRIVATE, for the owner's desk; .value unwraps it>"

    def _repr_html_(self) -> str:
        return as_html(self._question, banner=f"{NOT_PRIVATE} {NOT_SHOWN}")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython calls it so
        printer.text(
            "\n".join([f"{NOT_PRIVATE} {NOT_SHOWN}", as_text(self._question)] if self._question else [repr(self)])
        )

    def __reduce__(self) -> NoReturn:
        message = "an OwnerOnly value is never serialised"
        raise TypeError(message)


@dataclass(frozen=True, kw_only=True, repr=False)
class Shown(InNotebooks):
    """An owner's report laid open: `OwnerOnly.show` makes it, on purpose."""

    question: tuple[tuple[str, str], ...]
    value: Any

    def lines(self) -> list[tuple[str, str]]:
        seen = self.value.get("seen") if isinstance(self.value, Mapping) else None
        if not isinstance(seen, Mapping):
            return [*self.question, ("found", str(self.value))]
        rows = [*self.question, *((str(name), str(fact)) for name, fact in seen.get("facts", {}).items())]
        for table in seen.get("tables", []):
            named = [zip(table["columns"], row, strict=False) for row in table["rows"]]
            rows += [(str(table["title"]), ", ".join(f"{name} {cell}" for name, cell in row)) for row in named]
        return rows

    def __str__(self) -> str:
        return f"{NOT_PRIVATE}\n{as_text(self.lines())}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return as_html(self.lines(), banner=NOT_PRIVATE)

    def __reduce__(self) -> NoReturn:
        message = "an owner's report is never serialised"
        raise TypeError(message)


@dataclass(frozen=True, kw_only=True)
class Release(InNotebooks):
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
    asked: Mapping[str, Any] | None = None
    """The question in full, as the ledger keeps it."""
    at: str | None = None
    """When it was charged, in UTC; never when it was answered."""
    declaration: Mapping[str, str] | None = None
    """The table's id and the fingerprint of what was declared about it."""
    notes: tuple[str, ...] = ()
    """What the price warned of, word for word."""
    told: Callable[[Mapping[str, Any]], str] | None = field(default=None, repr=False, compare=False)
    """How the question says its answer in words; None: by its fields."""
    promise: Mapping[str, Any] | None = None
    """The promise as it was worded when the answer was recorded; None: as it is worded now."""
    version: str = __version__
    """The version of Wallflower that answered."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(plain(list(self.notes))))
        for part in ("value", "mechanism", "ledger", "asked", "declaration", "promise"):
            given = getattr(self, part)
            optional = given is None and part not in {"mechanism", "ledger"}
            if not isinstance(given, Mapping) and not optional:
                message = f"the {part} of a release is a mapping, not a {type(given).__name__}"
                raise TypeError(message)
            object.__setattr__(self, part, plain(given))  # a copy: whoever keeps the original cannot change a release

    def __getitem__(self, name: str) -> Any:
        if self.value is None:
            message = "there is no answer to this question; the charge stands"
            raise LookupError(message)
        return self.value[name]

    def to_json(self) -> dict[str, Any]:
        known: dict[str, Any] = {"asked": self.asked, "at": self.at, "declaration": self.declaration}
        return {
            "ok": True,
            **{name: part for name, part in known.items() if part is not None},
            "notes": list(self.notes),
            "release": None if self.value is None else dict(self.value),
            "guarantee": self.guarantee.to_json() if self.promise is None else dict(self.promise),
            "mechanism": dict(self.mechanism),
            "ledger": dict(self.ledger),
            "private": self.private,
            "wallflower": self.version,
        }

    def lines(self) -> list[tuple[str, str]]:
        """Label and text, in reading order; what the terminal and the notebook show."""
        rows = [("answer", "no answer" if self.value is None else (self.told or listed)(self.value))]
        if not self.private:
            rows.append(("NOT PRIVATE", "drawn from a seed, for tests only: the promise below does not hold"))
        rows.append(("promise", self.guarantee.sentence))
        spent, left = self.ledger.get("spent", {}), self.ledger.get("left", {})
        so_far = ", ".join(f"{name} {amount} spent, {left.get(name, '?')} left" for name, amount in spent.items())
        rows.append(("ledger", f"entry {self.ledger.get('entry')} of '{self.ledger.get('account')}': {so_far}"))
        rows += [("also debited", _debit(debit)) for debit in self.ledger.get("debited", [])[1:] if debit["left"]]
        rows += [("note", note) for note in self.notes]
        return rows

    def to_frame(self, kind: Literal["pandas", "polars", "arrow"] = "pandas") -> Any:
        """The answer as a table: a row for each group, question, subspace or context, else one row.

        >>> from fractions import Fraction
        >>> from wallflower.privacy.guarantees import PureDP
        >>> promise = PureDP(epsilon=Fraction(1, 2), neighbours="add-remove")
        >>> answer = Release(value={"count": 7, "interval": [3, 11]}, guarantee=promise, mechanism={}, ledger={}, private=True)
        >>> answer.to_frame("arrow").to_pylist()
        [{'count': 7, 'interval_low': 3, 'interval_high': 11}]
        """
        return frame_of(self.value, kind)


def _debit(debit: Mapping[str, Any]) -> str:
    left = ", ".join(f"{name} {amount} left" for name, amount in debit["left"].items())
    return f"{debit['account']}: {left}"


def listed(value: Mapping[str, Any]) -> str:
    """An answer by its fields, for a question that has no words of its own."""
    return ", ".join(f"{name} {_in_words(item)}" for name, item in value.items() if item is not None)


def _in_words(item: object) -> str:
    if isinstance(item, Mapping):
        return ", ".join(f"{name} {_in_words(part)}" for name, part in item.items())
    if isinstance(item, list | tuple):
        return ", ".join(_in_words(part) for part in item)
    if isinstance(item, bool):
        return "yes" if item else "no"
    return str(item)

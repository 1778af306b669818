"""What a rehearsal shows: the true answer on stand-in rows, private answers beside it, and the same at other choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from wallflower.schema.display import percent

MARK = "REHEARSAL"
NOTHING = "Nothing was charged, and neither the table's rows nor its ledger was opened."
BARS = 12
WIDTH = 40


@dataclass(frozen=True, kw_only=True)
class Line:
    """The same question with one choice changed."""

    parameter: str
    value: str
    asked: bool
    """Whether this is the value that was asked with."""
    cost: str = ""
    truth: float | None = None
    low: float | None = None
    """Nine of ten answers are above this, half above `middle`, one of ten above `high`."""
    middle: float | None = None
    high: float | None = None
    useful: float | None = None
    """The share of useful answers."""
    refused: str = ""
    """Why it cannot be asked so."""

    def to_json(self) -> dict[str, Any]:
        named = ("parameter", "value", "asked", "cost", "truth", "low", "middle", "high", "useful")
        return {name: getattr(self, name) for name in named} | ({"refused": self.refused} if self.refused else {})

    def cells(self) -> tuple[str, ...]:
        if self.refused:
            return (self.parameter, self.value, "", "", f"refused: {self.refused}", "")
        spread = f"{shown(self.low)} to {shown(self.high)}, the middle one {shown(self.middle)}"
        mark = " (asked)" if self.asked else ""
        return (self.parameter, f"{self.value}{mark}", self.cost, shown(self.truth), spread, share(self.useful))


COLUMNS = ("choice", "value", "costs", "truth", "eight of ten private answers", "useful")


@dataclass(frozen=True, kw_only=True)
class Rehearsal:
    """A question tried on rows that stand in for the table's. It says nothing about the table.

    `str` and notebooks show it; `numbers` holds one number for each private answer, `sweep` a line for each other choice.
    """

    table: str
    asked: Mapping[str, Any]
    rows: str
    """Where the rows came from, in words."""
    size: int
    owner_only: bool
    """True on rows that nobody has declared public: what is seen here is the owner's look at them."""
    guarantee: Mapping[str, Any]
    measured: str
    """What the numbers are."""
    useful_means: str
    truth: Mapping[str, Any] | None
    truth_told: str
    number: float | None
    """The true answer as a number of the picture."""
    numbers: tuple[float, ...] = field(repr=False)
    examples: tuple[Mapping[str, Any] | None, ...] = field(repr=False)
    useful: float
    sweep: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What stands under `rehearsal`; there is never a `release` in it."""
        return {
            "marked": f"{MARK}. {NOTHING}",
            "table": self.table,
            "asked": dict(self.asked),
            "rows": self.rows,
            "size": self.size,
            "owner_only": self.owner_only,
            "guarantee": dict(self.guarantee),
            "measured": self.measured,
            "truth": self.truth,
            "true_number": self.number,
            "numbers": list(self.numbers),
            "examples": list(self.examples),
            "useful": self.useful,
            "useful_means": self.useful_means,
            "sweep": [line.to_json() for line in self.sweep],
            "notes": list(self.notes),
        }

    def lines(self) -> list[tuple[str, str]]:
        """Label and text, in reading order."""
        told = [(MARK, f"on {self.rows} ({self.size:,}), not on the table's. {NOTHING}")]
        if self.owner_only:
            told.append(("OWNER ONLY", "nobody has declared these rows public: keep this at your desk"))
        told.append(("truth there", self.truth_told))
        told += [("answers" if not at else "", text) for at, text in enumerate(self.picture())]
        told.append(("useful", f"{share(self.useful)} of {len(self.numbers)}: {self.useful_means}"))
        told += [("note", note) for note in self.notes]
        return told

    def picture(self) -> list[str]:
        """Private answers as bars, one line each; the line in which the truth lies is marked."""
        return [f"{self.measured}:", *bars(self.numbers, self.number)]

    def heights(self) -> list[tuple[str, int, bool]]:
        """The same for drawing: a label, how many answers, whether the truth lies there."""
        return binned(self.numbers, self.number)

    def table_lines(self) -> list[str]:
        return laid_out([COLUMNS, *(line.cells() for line in self.sweep)]) if self.sweep else []

    def __str__(self) -> str:
        rows = self.lines()
        width = max(len(label) for label, _ in rows)
        return "\n".join([*(f"{label:<{width}}  {text}" for label, text in rows), *self.table_lines()])

    def _repr_html_(self) -> str:
        told = "".join(
            f'<tr><th style="text-align:left">{escape(label)}</th><td style="text-align:left;white-space:pre">{escape(text)}</td></tr>'
            for label, text in self.lines()
        )
        return f"<table>{told}</table>{html_table(self.sweep)}"


@dataclass(frozen=True)
class Sweep(Sequence[Line]):
    """The lines of `session.sweep`, as a table in terminals and notebooks."""

    each: tuple[Line, ...]
    rows: str
    notes: tuple[str, ...] = ()

    def __getitem__(self, at: Any) -> Any:
        return self.each[at]

    def __len__(self) -> int:
        return len(self.each)

    def to_json(self) -> list[dict[str, Any]]:
        return [line.to_json() for line in self.each]

    def __str__(self) -> str:
        head = f"{MARK} on {self.rows}. {NOTHING}"
        return "\n".join([head, *laid_out([COLUMNS, *(line.cells() for line in self.each)])])

    def _repr_html_(self) -> str:
        return f"<p>{MARK} on {escape(self.rows)}. {NOTHING}</p>{html_table(self.each)}"


def html_table(lines: Sequence[Line]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in line.cells())}</tr>" for line in lines)
    return f"<table><tr>{head}</tr>{body}</table>" if lines else ""


def laid_out(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of texts in columns."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def bars(numbers: Sequence[float], truth: float | None) -> list[str]:
    """How often answers fell where, as lines of text.

    >>> print(*bars([1, 1, 1, 2], 2), sep="\\n")
    1  ████████████████████████████████████████ 3
    2  █████████████ 1  ← the truth
    """
    heights = binned(numbers, truth)
    widest = max((len(label) for label, _, _ in heights), default=0)
    most = max((height for _, height, _ in heights), default=0)
    return [
        f"{label:>{widest}}  {'█' * round(WIDTH * height / most)} {height}{'  ← the truth' if here else ''}"
        for label, height, here in heights
    ]


def binned(numbers: Sequence[float], truth: float | None) -> list[tuple[str, int, bool]]:
    """Where answers fell: a label, how many there were, and whether the truth lies there.

    >>> binned([1, 1, 1, 2], 2)
    [('1', 3, False), ('2', 1, True)]
    """
    if not numbers:
        return []
    # One bar in twenty at either end is left to the last bars: a single far answer would make all others one bar.
    ordered = sorted(numbers)
    cut = len(ordered) // 20
    first, last = ordered[cut], ordered[-1 - cut]
    distinct = sorted(set(numbers))
    if len(distinct) <= BARS:
        edges = distinct
    else:
        width = (last - first) / BARS or 1.0
        edges = [first + width * at for at in range(BARS)]
    heights = [0] * len(edges)
    for number in numbers:
        heights[_place(number, edges)] += 1
    exact = len(distinct) <= BARS
    here = None if truth is None or (exact and truth not in edges) else _place(truth, edges)
    labels = [shown(edge) if exact else f"from {shown(edge)}" for edge in edges]
    if not exact:
        labels[0] = f"below {shown(edges[1])}"
    return [(label, height, at == here) for at, (label, height) in enumerate(zip(labels, heights, strict=True))]


def _place(number: float, edges: Sequence[float]) -> int:
    return max((at for at, edge in enumerate(edges) if number >= edge), default=0)


def shown(number: float | None) -> str:
    if number is None:
        return "–"
    return f"{number:,.0f}" if abs(number) >= 100 or number == int(number) else f"{number:.3g}"


def share(part: float | None) -> str:
    """In words; a dash where there is none.

    >>> share(0.125), share(None)
    ('12 %', '–')
    """
    return "–" if part is None else percent(part)

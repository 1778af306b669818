"""Label and text, in reading order, as a terminal and a notebook show them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

Lines = Sequence[tuple[str, str]]

BANNER = "border:2px solid #b84f00;color:#b84f00;font-weight:700;padding:.4em .8em;border-radius:.3em;max-width:60em"


def percent(part: float, *, digits: int = 0) -> str:
    """A share from 0 to 1, rounded; but nearly all is never said to be all, and a few are never said to be none.

    >>> percent(0.125), percent(199 / 200), percent(1 / 300), percent(1), percent(0), percent(0.99996, digits=2)
    ('12 %', 'over 99 %', 'under 1 %', '100 %', '0 %', 'over 99.99 %')
    """
    rounded, least = f"{100 * part:.{digits}f}", 10.0**-digits
    if part < 1 and float(rounded) >= 100:
        return f"over {100 - least:.{digits}f} %"
    if part > 0 and float(rounded) == 0:
        return f"under {least:.{digits}f} %"
    return f"{rounded} %"


def as_text(lines: Lines) -> str:
    """
    >>> print(as_text([("answer", "count 7"), ("promise", "…")]))
    answer   count 7
    promise  …
    """
    width = max((len(label) for label, _ in lines), default=0)
    return "\n".join(f"{label:<{width}}  {text}" for label, text in lines)


def as_html(lines: Lines, *, title: str = "", banner: str = "") -> str:
    """A table that breaks no word; a banner above it where something must not be overlooked.

    >>> as_html([("a", "<b>")])
    '<table style="max-width:60em"><tr><th style="text-align:left;vertical-align:top;white-space:nowrap">a</th><td style="text-align:left">&lt;b&gt;</td></tr></table>'
    """
    head = 'style="text-align:left;vertical-align:top;white-space:nowrap"'
    cells = "".join(
        f'<tr><th {head}>{escape(label)}</th><td style="text-align:left">{escape(text)}</td></tr>'
        for label, text in lines
    )
    told = f'<p style="{BANNER}">{escape(banner)}</p>' if banner else ""
    above = f"<p><strong>{escape(title)}</strong></p>" if title else ""
    return f'{told}{above}<table style="max-width:60em">{cells}</table>'


class InNotebooks:
    """Whatever has `lines` of label and text: `print` and a notebook show them, and `repr` is the class's own."""

    def __init_subclass__(cls) -> None:
        cls._repr_pretty_ = InNotebooks._repr_pretty_  # type: ignore[method-assign]  # IPython prefers a class's own repr to a parent's method

    def lines(self) -> Lines:
        raise NotImplementedError

    def __str__(self) -> str:
        return as_text(self.lines())

    def _repr_html_(self) -> str:
        return as_html(self.lines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:  # noqa: FBT001 - IPython calls it so
        printer.text("…" if cycle else str(self))

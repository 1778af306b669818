"""Names and cells of a published file, as it is written and as it is read."""

from __future__ import annotations

FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")
"""A spreadsheet takes text that begins so for a formula (or, the last one, for a mark that it hides)."""


def ends(name: str) -> tuple[str, str]:
    """The two columns that a generalised number is written to with ranges = "columns"."""
    return f"low {name}", f"high {name}"


def quoted(text: str) -> str:
    """Text that no spreadsheet calculates.

    >>> quoted("=1+1"), quoted("Ottawa")
    ("'=1+1", 'Ottawa')
    """
    return f"'{text}" if text.startswith(FORMULA) else text


def unquoted(text: str) -> str:
    """What `quoted` was given.

    >>> unquoted(quoted("'s-Hertogenbosch"))
    "'s-Hertogenbosch"
    """
    return text.removeprefix("'")

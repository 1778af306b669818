"""Words for people: what a table holds, what was asked, what was answered. Made from public things and answers alone."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from wallflower.privacy.account import Account
from wallflower.privacy.accounts import KINDS
from wallflower.schema.declaration import Column, Declaration
from wallflower.schema.domains import Categories, Numbers
from wallflower.schema.exact import shown

FAMILIES = {code: kind.everyday_name for code, kind in KINDS.items()}
"""What people call an account; its code is what files and programs use."""


def account_words(code: str) -> str:
    """The name of an account of the ledger.

    >>> account_words("sensitive-privacy/default"), account_words("dp-others")
    ('sensitive privacy · default', 'differential privacy, all but the asked-for record')
    """
    account = Account.of(code)
    return FAMILIES.get(account.kind, account.kind) + (f" · {account.model}" if account.model else "")


def amount_words(name: str) -> str:
    return {"epsilon": "ε", "delta": "δ"}.get(name, name)


def holds(declaration: Declaration) -> str:
    """What a table holds, by its declaration."""
    named = [name for name, column in declaration.columns.items() if column.role != "identifier"]
    listed = ", ".join(named[:12]) + (f" and {len(named) - 12} more" if len(named) > 12 else "")
    return f"Columns: {listed}. A promise is about one {declaration.unit}."


def asked_words(command: str, fields: Mapping[str, Any]) -> str:
    """The question in one sentence.

    >>> asked_words("count", {"columns": ["age", "stay"], "neighbours": "3", "radius": "6", "epsilon": "0.1"})
    'How many rows have fewer than 3 others within 6, by age and stay?'
    """

    def text(name: str) -> str:
        value = fields.get(name, "")
        return _listed(value) if isinstance(value, list) else str(value)

    if command == "count":
        return (
            f"How many rows have fewer than {text('neighbours')} others within {text('radius')}, by {text('columns')}?"
        )
    if command == "subspaces":
        return (
            f"In which {'one' if text('size') == '1' else text('size')} of {text('columns')} do most rows have fewer than "
            f"{text('neighbours')} others within {text('radius')}?"
        )
    if command == "identify":
        lines = [line for line in text("values").splitlines() if line.strip()]
        more = f" and {len(lines) - 1} more" if len(lines) > 1 else ""
        verb, what = ("Are", "anomalies") if more else ("Is", "an anomaly")
        return f"{verb} {lines[0] if lines else 'it'}{more} {what} (model {text('model') or 'default'})?"
    if command == "explain":
        return f"In which context of {text('by')} does record {text('record')} stand out in {text('metric')}?"
    if command == "publish":
        return f"A table of {text('columns')} in which outliers blend in (k = {text('k')})"
    return command


def answer_lines(outcome: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What came of a request, label by label; the first line is the answer itself."""
    if "error" in outcome:
        return [("refused", str(outcome["error"]["message"]))]
    if "lost" in outcome:
        return [("no answer", str(outcome["lost"]))]
    value = outcome["release"]["release"]
    if value is None:
        return [("no answer", "There is no answer to this question. It has been charged.")]
    return _lines(value)


def _lines(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    if "file" in value and "rows" in value:
        found = [("published", f"{value['rows']} rows"), ("in", f"{value['groups']} groups")]
        return [*found, ("note", str(value["text"]))] if "text" in value else found
    if "text" in value:
        return [("answer", str(value["text"]))]
    if "answers" in value:
        return [(_pairs(one["asked"]), "an anomaly" if one["anomalous"] else "no anomaly") for one in value["answers"]]
    if "subspaces" in value:
        return [
            ("most outliers" if one["count"] is None else f"about {one['count']} outliers", _listed(one["columns"]))
            for one in value["subspaces"]
        ]
    found = [("count", str(value["count"]))] if "count" in value else []
    interval = value.get("interval")
    if interval:
        found.append(("interval", f"between {interval[0]} and {interval[1]}, 19 times out of 20"))
    return found or [(str(name), str(item)) for name, item in value.items()]


def is_list(outcome: Mapping[str, Any] | None) -> bool:
    """Whether an answer is one of several of the same kind, each with its own label."""
    value = ((outcome or {}).get("release") or {}).get("release") or {}
    return "answers" in value or "subspaces" in value


def options(command: str) -> list[str]:
    """A command line in pieces that are not torn: each option with its value.

    >>> options("wallflower count stays.toml --columns age,days --radius 6")
    ['wallflower', 'count', 'stays.toml', '--columns age,days', '--radius 6']
    """
    first, *rest = command.split(" --")
    return [*first.split(" "), *(f"--{each}" for each in rest)]


def answer_picture(outcome: Mapping[str, Any]) -> dict[str, Any] | None:
    """Where a count and its interval lie, as places on a line of 320; None for answers of another kind.

    >>> answer_picture({"release": {"release": {"count": 51, "interval": [0, 110]}}})["at"]
    149
    """
    value = (outcome.get("release") or {}).get("release")
    if not isinstance(value, Mapping) or not isinstance(value.get("count"), int):
        return None
    interval = value.get("interval")
    if not isinstance(interval, list):
        return None
    low, high, count = int(interval[0]), int(interval[1]), int(value["count"])
    first, last = min(low, count), max(high, count, min(low, count) + 1)

    def across(number: int) -> int:
        return 14 + round(Fraction(number - first, last - first) * 292) if last > first else 14

    words = f"The count {count} on a line; 19 times out of 20 the truth lies between {low} and {high}."
    return {"low": across(low), "high": across(high), "at": across(count), "ends": (first, last), "words": words}


def _pairs(asked: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in asked.items())


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def domain_words(column: Column) -> str:
    """What a promise rests on: the declared values or bounds of a column."""
    domain = column.domain
    if domain is None:
        return "never reaches a question"
    if isinstance(domain, Categories):
        some = ", ".join(domain.values[:8])
        return some + (f" and {len(domain.values) - 8} more" if len(domain.values) > 8 else "")
    if isinstance(domain, Numbers):
        return f"{shown(domain.lower)} to {shown(domain.upper)} in steps of {shown(domain.step)}"
    return f"{domain.lower} to {domain.upper}"

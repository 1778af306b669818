"""Every decision of a declaration as a field: what it is called, why it is asked, and how it is written in TOML.

A form is data here too: the page draws it, and `written` turns what was typed into the value of the file. Whether it makes
sense is said by the one reader of declarations, at the place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal
from urllib.parse import quote, unquote

from wallflower.privacy.guarantees import STREAMS
from wallflower.schema.budgets import FAMILIES as LIMITS
from wallflower.schema.columns import ROLES
from wallflower.schema.models import DISTANCES
from wallflower.schema.people import REDUCERS
from wallflower.schema.problems import Bare
from wallflower.schema.toml_text import quoted, quoted_list
from wallflower.service.words import FAMILIES

Kind = Literal["choice", "text", "whole", "number", "amount", "flag", "lines", "some", "numbers", "replacement"]
_WHOLE = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,2}(?:_[0-9]{3})+|[1-9][0-9]*)")
Place = tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One field."""

    key: str
    kind: Kind
    label: str
    reason: str = ""
    choices: tuple[str, ...] = ()
    rare: bool = False
    """Kept folded away."""
    fixed: bool = False
    """Shown, and changed by the operator alone."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A table of the file."""

    place: Place
    title: str
    words: str
    decisions: tuple[Decision, ...]
    removable: bool = False


TABLE = (
    Decision(key="unit", kind="choice", label="A promise is about one", choices=("row", "person"),
             reason="A person may have many rows; then their column must be named by the operator."),
    Decision(key="neighbours", kind="choice", label="Two tables are neighbours if they differ by",
             choices=("add-remove", "replace-one"), reason="add-remove hides whether somebody is in the table at all."),
    Decision(key="max_rows", kind="whole", label="At most so many rows", reason="A public bound. Never count the rows for it."),
    Decision(key="max_people", kind="whole", label="At most so many people", reason="In place of rows, where a promise is about a person."),
    Decision(key="time", kind="text", label="Column that orders a person’s rows", rare=True),
    Decision(key="rows_per_person", kind="whole", label="Rows of a person that count", rare=True,
             reason="Left empty, a person’s rows are joined into one."),
    Decision(key="grows", kind="flag", label="Rows are added and never changed", choices=("true", "false"), rare=True,
             reason="Then outliers can be counted day by day under one charge."),
    Decision(key="reviewed", kind="flag", label="Reviewed against public knowledge", choices=("true", "false"),
             reason="Nothing is answered before it says yes."),
)  # fmt: skip
EPSILON = Decision(key="epsilon", kind="amount", label="ε in all", reason="Above about 5 the promise says little.")
AMOUNTS = (
    EPSILON,
    Decision(key="delta", kind="amount", label="δ in all", rare=True, reason="The chance that the promise fails altogether."),
    Decision(key="accounting", kind="choice", label="How many answers add up", choices=("sum", "zcdp"), rare=True,
             reason="zcdp needs a δ, and lets many small answers cost less."),
    Decision(key="publications", kind="whole", label="Publications in all"),
)  # fmt: skip
COLUMN = (
    Decision(key="role", kind="choice", label="Role", choices=tuple(ROLES),
             reason="An identifier is never read; a quasi-identifier is what others may know."),
    Decision(key="values", kind="lines", label="Values", reason="One a line, all there can be. Or else bounds:"),
    Decision(key="lower", kind="number", label="Smallest", reason="From public knowledge, never from the rows."),
    Decision(key="upper", kind="number", label="Largest"),
    Decision(key="step", kind="number", label="In steps of", reason="Values are rounded to it."),
    Decision(key="outside", kind="replacement", label="A value outside becomes", reason="drop, clip (numbers), or a declared value."),
    Decision(key="missing", kind="replacement", label="An empty cell becomes", reason="drop, or a declared value."),
    Decision(key="bins", kind="numbers", label="Edges of bins", rare=True, reason="Comma between them; the first is the smallest value."),
    Decision(key="centre", kind="number", label="Centre for distances", rare=True),
    Decision(key="scale", kind="number", label="Unit of distances", rare=True, reason="A difference of this much counts as 1."),
    Decision(key="weight", kind="number", label="Weight in publications", rare=True),
    Decision(key="per_person", kind="choice", label="A person’s cells become", choices=tuple(REDUCERS), rare=True),
    Decision(key="hierarchy", kind="choice", label="Hierarchy", choices=("ordered",), rare=True, reason="Or a file of the operator’s."),
    Decision(key="thousands", kind="text", label="Mark between thousands", rare=True),
    Decision(key="date", kind="some", label="How dates are written", rare=True, reason="Such as %d.%m.%Y; one a line."),
    Decision(key="missing_codes", kind="lines", label="Codes that mean missing", rare=True, reason="One a line."),
)  # fmt: skip
MODEL = (
    Decision(key="columns", kind="lines", label="Columns", reason="One a line."),
    Decision(key="beta", kind="whole", label="Fewer than … others nearby", reason="A value with fewer is an anomaly."),
    Decision(key="radius", kind="number", label="Nearby means within"),
    Decision(key="k", kind="whole", label="Rows this near to normal are protected: k"),
    EPSILON,
    Decision(key="distance", kind="choice", label="Distance", choices=tuple(DISTANCES), rare=True),
    Decision(key="included", kind="flag", label="The asked value counts as present", choices=("true", "false"), rare=True),
)  # fmt: skip
BUDGETS = {
    family: tuple(decision for decision in AMOUNTS if decision.key in keys)
    for family, keys in LIMITS.items()
    if family not in STREAMS
}
"""What may be spent under each promise about tables."""
OWN = {"columns": COLUMN, "identify": MODEL}


def name_of(place: Place) -> str:
    """A field's name in the form.

    >>> name_of(("columns", "pay/year", "upper")), place_of("columns/pay%2Fyear/upper")
    ('columns/pay%2Fyear/upper', ('columns', 'pay/year', 'upper'))
    """
    return "/".join(quote(part, safe="") for part in place)


def place_of(name: str) -> Place:
    return tuple(unquote(part) for part in name.split("/"))


def parts(raw: Mapping[str, Any], more: tuple[Place, ...] = ()) -> Iterator[Part]:
    """The tables of a file in the order of a page; `more`: tables that were just begun."""
    yield Part(place=("table",), title="The table", words="What a promise is about.", decisions=TABLE)
    for family, decisions in BUDGETS.items():
        words = "Left empty, nothing is answered under this promise."
        yield Part(place=("budget", family), title=f"Budget: {FAMILIES[family]}", words=words, decisions=decisions)
    for kind, decisions in OWN.items():
        held = raw.get(kind)
        tables = {name: body for name, body in held.items() if isinstance(body, dict)} if isinstance(held, dict) else {}
        tables |= {place[1]: {} for place in more if place[0] == kind and place[1] not in tables}
        for name, body in tables.items():
            title = f"Column {name}" if kind == "columns" else f"Anomaly model {name}"
            own = tuple(_fixed(decision, body.get(decision.key)) for decision in decisions)
            yield Part(place=(kind, name), title=title, words="", decisions=own, removable=True)


def _fixed(decision: Decision, value: Any) -> Decision:
    """A file of values or a hierarchy is the operator's; a nested one is for the text."""
    files = decision.key in ("values", "hierarchy") and isinstance(value, str) and value not in decision.choices
    return replace(decision, fixed=True) if files or isinstance(value, dict) else decision


def shown(value: Any) -> str:
    """A value of the file as its field shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Bare):
        return value.text
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, dict):
        return "as written in the text"
    return "\n".join(map(shown, value)) if isinstance(value, list) else str(value)


def written(decision: Decision, typed: str, *, categorical: bool) -> str | None:
    """What was typed, as TOML; None where the field is empty.

    >>> written(COLUMN[3], " 400 ", categorical=False), written(COLUMN[3], "0.5", categorical=False), written(EPSILON, "2", categorical=False)
    ('400', '"0.5"', '"2"')
    """
    lines = [line.strip() for line in typed.replace("\r\n", "\n").split("\n") if line.strip()]
    if not lines:
        return None
    one = " ".join(lines)
    if decision.kind == "flag":
        return one if one in ("true", "false") else quoted(one)
    if decision.kind == "lines" or (decision.kind == "some" and len(lines) > 1):
        return quoted_list(lines)
    if decision.kind == "numbers":
        return f"[{', '.join(_number(part.strip()) for line in lines for part in line.split(',') if part.strip())}]"
    if decision.kind in ("whole", "number") or (
        decision.kind == "replacement" and not categorical and one not in ("drop", "clip")
    ):
        return _number(one)
    return quoted(one)


def _number(text: str) -> str:
    if len(text) <= 300 and _WHOLE.fullmatch(text):  # Python reads no number of thousands of digits
        return text
    try:
        return date.fromisoformat(text).isoformat() if len(text) == 10 else quoted(text)
    except ValueError:
        return quoted(text)

"""The questions an asker can put, as forms: which fields each has, and what to call them for people.

A form is data: the console draws it, the JSON interface checks against it, and `questions.py` makes the query of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from wallflower.errors import UsageError, nearest_name

Kind = Literal["columns", "column", "number", "amount", "text", "choice", "values", "model"]


@dataclass(frozen=True, kw_only=True)
class Field:
    """One thing an asker decides."""

    name: str
    kind: Kind
    label: str
    hint: str = ""
    needed: bool = True
    default: str = ""
    choices: tuple[str, ...] = ()
    among: Literal["numeric", "grouped", "published", "any"] = "any"
    """Which declared columns can be chosen."""
    several_rows: bool = False
    """Whether it is asked only where a person may count with several rows."""
    option: str = ""
    """How the command line spells it, where that is not --name."""


@dataclass(frozen=True, kw_only=True)
class Form:
    """One kind of question."""

    command: str
    wish: str
    """What somebody wants to say: the guide's first table."""
    title: str
    fields: tuple[Field, ...]
    budgets: tuple[str, ...] = ("dp",)
    """Families that can pay for it; one of them must be declared. A model of an anomaly has a budget of its own."""
    policies: bool = True
    """Whether a standing policy may approve it."""
    warning: str = ""


EPSILON = Field(
    name="epsilon",
    kind="amount",
    label="How much of the budget to spend: ε",
    hint="More gives a smaller error and uses the budget up sooner.",
    default="0.1",
)
COLUMNS = Field(
    name="columns",
    kind="columns",
    label="In which columns?",
    hint="The distance is the root of the mean square of the differences, each in its declared unit.",
    among="numeric",
)
FEWER = Field(name="neighbours", kind="number", label="Unusual means fewer than … others nearby", default="3")
RADIUS = Field(
    name="radius",
    kind="amount",
    label="Nearby means within …",
    hint="Two rows that differ by 6 in every chosen column are 6 apart.",
    default="6",
)

FORMS: Mapping[str, Form] = {
    form.command: form
    for form in (
        Form(
            command="count",
            wish="how many rows are unusual",
            title="How many are unusual?",
            fields=(
                COLUMNS,
                FEWER,
                RADIUS,
                EPSILON,
                Field(
                    name="interval_epsilon",
                    kind="amount",
                    label="Further ε for a narrower interval",
                    hint="Leave it empty for the interval of the worst table; auto takes two fifths of the ε above.",
                    needed=False,
                    option="--interval-epsilon",
                ),
            ),
        ),
        Form(
            command="subspaces",
            wish="in which columns the unusual rows are",
            title="In which columns are there many unusual rows?",
            fields=(
                COLUMNS,
                Field(name="size", kind="number", label="How many columns at a time?", default="1"),
                Field(name="top", kind="number", label="How many answers?", default="1"),
                FEWER,
                RADIUS,
                EPSILON,
                Field(
                    name="counts_epsilon",
                    kind="amount",
                    label="Further ε to count in each answer",
                    hint="Leave it empty to learn the columns alone.",
                    needed=False,
                    option="--counts-epsilon",
                ),
            ),
        ),
        Form(
            command="identify",
            wish="whether a value would be an anomaly",
            title="Is this value an anomaly?",
            fields=(
                Field(name="model", kind="model", label="By which declared model?", default="default"),
                Field(
                    name="values",
                    kind="values",
                    label="Which values?",
                    hint="One a line, each as column=value, column=value.",
                    option="--value",
                ),
                Field(
                    name="method",
                    kind="choice",
                    label="Whom should the answer protect?",
                    hint="sensitive: rows that are normal or nearly so. dp: every row. grid: every row too, all values from one "
                    "noisy grid, which is cheaper for many. cheapest-dp: the cheaper of the two.",
                    choices=("sensitive", "dp", "grid", "cheapest-dp"),
                    default="sensitive",
                ),
                EPSILON,
            ),
        ),
        Form(
            command="explain",
            wish="why one record stands out",
            title="Where does this record stand out?",
            fields=(
                Field(name="record", kind="text", label="Which record?", hint="Its key, as the owner writes it."),
                Field(
                    name="row",
                    kind="number",
                    label="Which of this person’s rows?",
                    hint="1 is the first that is kept; empty means 1. None of the person’s rows is protected.",
                    needed=False,
                    several_rows=True,
                ),
                Field(name="metric", kind="column", label="In which number does it stand out?", among="numeric"),
                Field(name="by", kind="columns", label="Which columns may describe the context?", among="grouped"),
                Field(
                    name="detector",
                    kind="text",
                    label="What is an outlier?",
                    hint="For example lof(neighbours=20, threshold=1.5) or grubbs(alpha=0.05).",
                    default="lof(neighbours=20)",
                ),
                Field(
                    name="guarantee",
                    kind="choice",
                    label="Which promise?",
                    hint="full: without conditions. output-constrained: always a valid context.",
                    choices=("output-constrained", "full"),
                    default="output-constrained",
                ),
                EPSILON,
            ),
            budgets=("output-constrained-dp", "dp"),
            policies=False,
            warning="The record asked about is not protected: the answer says that it stands out.",
        ),
        Form(
            command="publish",
            wish="a table in which outliers blend in",
            title="Publish a table",
            fields=(
                Field(
                    name="columns",
                    kind="columns",
                    label="Which columns?",
                    hint="Quasi-identifiers are generalised, sensitive values are kept.",
                    among="published",
                ),
                Field(name="k", kind="number", label="Different sensitive values in every group: k", default="5"),
                Field(name="p", kind="amount", label="An outlier has this share of all rows …", default="0.9"),
                Field(name="d", kind="amount", label="… farther away than this, in declared ranges", default="0.5"),
                Field(
                    name="level",
                    kind="choice",
                    label="What must a group withstand?",
                    hint="matching: everyone keeps several possible values.",
                    choices=("matching", "matching+candidate", "candidate", "strict", "attack"),
                    default="matching",
                ),
                Field(
                    name="format",
                    kind="choice",
                    label="As which file?",
                    choices=("csv", "parquet"),
                    default="csv",
                    option="--out",
                ),
            ),
            budgets=("plain-k-anonymity",),
            policies=False,
            warning="Whole rows leave, and for good: this promise is weaker than ε, and tables usually allow one publication.",
        ),
    )
}


def form_of(command: str) -> Form:
    """The form of a command, or an error that names the closest one.

    >>> form_of("count").title
    'How many are unusual?'
    """
    if command in FORMS:
        return FORMS[command]
    raise UsageError(f"there is no question '{command[:60]}'.", hint=nearest_name(command[:60], FORMS))

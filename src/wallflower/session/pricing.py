"""The price of a question on a declared table, whatever its unit; both doors ask here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from wallflower.errors import DeclarationError
from wallflower.privacy.guarantee import worded
from wallflower.privacy.price import Price
from wallflower.schema.declaration import Declaration
from wallflower.session.queries import Query

NAMES = frozenset(
    [
        "record",
        "metric",
        "by",
        "columns",
        "column",
        "scales",
        "languages",
        "detector",
        "model",
        "file",
        "weights",
        "quasi-identifiers",
        "sensitive",
    ]
)
"""Settings that are names and values as they are declared or asked: a column called "row" is no person."""
REDUCE = "Leave rows_per_person out and write per_person for every column: then a person is one row."


def price_of(query: Query, declaration: Declaration) -> Price:
    """Refuses a question that has no price where a person may have several rows: its promise would be about a row."""
    price = query.price(declaration)
    if declaration.unit == "row":
        return price
    rows = declaration.rows_per_person
    if rows is not None:
        return _of_several_rows(query, price, rows)
    # Every person is one row, so whatever is said of a row is said of a person.
    return replace(
        price,
        guarantee=price.guarantee.about(declaration.unit),
        settings={name: text if name in NAMES else _said(text) for name, text in price.settings.items()},
        expected=_said(price.expected),
        notes=tuple(worded(note, "person") for note in price.notes),
    )


def _of_several_rows(query: Query, price: Price, rows: int) -> Price:
    """A question that knows its price for a person has said so; else group privacy: a person moves at most `rows` rows, one
    after the other, and each step costs the price of one."""
    promise = price.guarantee
    if promise.unit == "person":
        return price
    together = promise.of_group(rows)
    if together is None:
        raise DeclarationError(
            f"'{query.name}' cannot be asked where up to {rows} rows of a person count: {promise.not_of_several_rows}.",
            hint=REDUCE,
        )
    note = f"A person is up to {rows} rows here: the price is {rows} times that of one row, for all of them together."
    return replace(price, guarantee=together.about("person"), notes=(*price.notes, note))


def _said(value: Any) -> Any:
    if isinstance(value, str):
        return worded(value, "person")
    if isinstance(value, Mapping):
        return {key: _said(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_said(item) for item in value]
    return value

"""The form for a question: the price while one types, the error curve, and the submission."""

from __future__ import annotations

import dataclasses
from typing import Any

from wallflower.errors import WallflowerError
from wallflower.schema.exact import shown
from wallflower.service.curves import error_curve
from wallflower.service.fields import Form, form_of
from wallflower.service.grants import shares
from wallflower.service.questions import Given, choices, fields_of
from wallflower.service.redaction import told, without_places
from wallflower.service.requests import binding, charged_epsilon, submit
from wallflower.service.web.desk import Desk, Quote
from wallflower.service.web.visit import Answer, Visit, as_json, elsewhere, handles
from wallflower.service.words import FAMILIES, account_words, amount_words


@handles("GET", "/tables/{table}/ask/{command}")
def form(desk: Desk, visit: Visit) -> Answer:
    wanted = form_of(visit.path["command"])
    given: dict[str, str | list[str]] = {field.name: field.default for field in wanted.fields}
    return _page(desk, visit, wanted, given, quote=None, trouble=None)


@handles("POST", "/tables/{table}/ask/{command}")
def ask(desk: Desk, visit: Visit) -> Answer:
    """The price, as a page or as an object; and with `submit` pressed the request itself."""
    table, wanted = visit.path["table"], form_of(visit.path["command"])
    given = _given(wanted, visit)
    try:
        quote = desk.priced(table, wanted.command, given)
        if visit.one("submit"):
            return elsewhere(f"/requests/{_submit(desk, visit, wanted, given, quote)}")
    except WallflowerError as error:
        if visit.wants_json:
            return as_json({"ok": False, "error": told(error)})
        return _page(desk, visit, wanted, given, quote=None, trouble=error)
    if visit.wants_json:
        return as_json({"ok": True, "price": price_words(desk, visit, quote)})
    return _page(desk, visit, wanted, given, quote=quote, trouble=None)


def _given(wanted: Form, visit: Visit) -> dict[str, str | list[str]]:
    found: dict[str, str | list[str]] = {}
    for field in wanted.fields:
        texts = visit.form.get(field.name, [])
        found[field.name] = texts if field.kind == "columns" else visit.one(field.name)
    return found


def _submit(desk: Desk, visit: Visit, wanted: Form, given: Given, quote: Quote) -> str:
    with desk.database.write() as changes:
        return submit(
            changes,
            desk.service,
            table=visit.path["table"],
            asker=visit.name,
            command=wanted.command,
            fields=fields_of(wanted, given),
            purpose=visit.one("purpose"),
            price=quote.to_json(),
            bound=binding(quote.declaration, quote.price),
            epsilon=charged_epsilon(quote.price),
            source=visit.source,
        )


def price_words(desk: Desk, visit: Visit, quote: Quote) -> dict[str, Any]:
    """The price in words, and what it would leave in every account."""
    guarantee = quote.price.guarantee
    curve = error_curve(quote.query, quote.declaration)
    return {
        "costs": ", ".join(f"{amount_words(name)} {amount}" for name, amount in guarantee.parameters.items()),
        "expected": [[name.replace("_", " "), _text(item)] for name, item in quote.price.expected.items()],
        "leaves": _leaves(desk, visit, quote),
        "promise": guarantee.sentence,
        "notes": list(quote.price.notes),
        "curve": None if curve is None else dataclasses.asdict(curve),
        "settings": [[name.replace("_", " "), value] for name, value in quote.price.settings.items()],
    }


def _leaves(desk: Desk, visit: Visit, quote: Quote) -> list[list[str]]:
    table = visit.path["table"]
    told = desk.left(table, visit.name, quote)
    found = [["would be refused" if not told.debited else "note", without_places(note)] for note in told.notes]
    for place, debit in enumerate(told.to_json()):
        left = ", ".join(f"{amount_words(name)} {amount}" for name, amount in (debit["left"] or {}).items())
        label = "leaves" if place == 0 else "also counts in"
        found.append([label, f"{account_words(debit['account'])}: {left or 'no limit'}"])
    with desk.database.read() as seen:
        for share, most in shares(seen, desk.service, table, visit.name).items():
            found.append(["your share", f"ε {shown(most)} of {FAMILIES.get(share, share)} in all"])
    return found


def _text(item: object) -> str:
    return ", ".join(f"{name} {value}" for name, value in item.items()) if isinstance(item, dict) else str(item)


def _page(
    desk: Desk, visit: Visit, wanted: Form, given: Given, *, quote: Quote | None, trouble: WallflowerError | None
) -> Answer:
    table = visit.path["table"]
    declaration = desk.declared(table).declaration
    return desk.page(
        "ask.html",
        visit,
        status=422 if trouble else 200,
        title=wanted.title,
        table=table,
        form=wanted,
        given=given,
        choices={field.name: choices(field, declaration) for field in wanted.fields},
        price=None if quote is None else price_words(desk, visit, quote),
        trouble=None if trouble is None else told(trouble),
        purpose=visit.one("purpose"),
    )

"""The owner's declaration by fields: from a form to the text of the file, and from its mistakes to their fields."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wallflower.errors import DeclarationError, UsageError
from wallflower.schema.parser import values as values_of
from wallflower.schema.toml_edit import Place, changed
from wallflower.service.decisions import OWN, Part, name_of, parts, place_of, shown, written
from wallflower.service.redaction import without_places

_NEEDS = re.compile(r"needs '(\w+)'")
MOST_PARTS = 400
FIRST_WORDS = {("columns", "role"): "sensitive", ("identify", "distance"): "euclidean"}
"""What a part that was just begun says first; the reader then says what else it needs, at its fields."""


@dataclass(frozen=True, kw_only=True)
class FieldTexts:
    """What stands in the fields of a page."""

    parts: tuple[Part, ...]
    values: Mapping[str, str]
    """A field's name → its text."""


def as_written(text: str) -> FieldTexts:
    """The fields of a text as it stands."""
    raw = values_of(text)
    every = tuple(parts(raw))
    return FieldTexts(parts=every, values=_values(raw, every))


def _values(raw: Mapping[str, Any], every: Sequence[Part]) -> dict[str, str]:
    return {
        name_of((*part.place, decision.key)): shown(_at(raw, (*part.place, decision.key)))
        for part in every
        for decision in part.decisions
    }


def as_typed(text: str, form: Mapping[str, list[str]]) -> tuple[FieldTexts, str]:
    """The fields as somebody filled them in, and the text that they make of `text`."""
    raw = values_of(text)
    begun = _begun(form)
    every = tuple(parts(raw, begun))
    if len(every) > MOST_PARTS:
        raise UsageError(f"a declaration of more than {MOST_PARTS} parts is changed as text.")
    removed = tuple(place_of(name) for name in form.get("remove", []))
    removable = {part.place for part in every if part.removable}
    removed = tuple(place for place in removed if place in removable)
    before, values, edits = _values(raw, every), {}, {}
    for part in every:
        begun_now = part.removable and _at(raw, part.place) is None
        categorical = bool(_typed(form, (*part.place, "values"), before))
        for decision in part.decisions:
            place = (*part.place, decision.key)
            name = name_of(place)
            values[name] = before[name] if decision.fixed else _typed(form, place, before)
            if begun_now and not values[name]:
                values[name] = FIRST_WORDS.get((part.place[0], decision.key), "")
            if values[name].replace("\r\n", "\n").strip() != before[name].strip():
                edits[place] = written(decision, values[name], categorical=categorical)
    cut = tuple(place for place in removed if _at(raw, place) is not None)
    left = tuple(part for part in every if part.place not in removed)
    edits = {place: value for place, value in edits.items() if place[:-1] not in removed}
    return FieldTexts(parts=left, values=values), changed(text, edits, without=cut)


def _typed(form: Mapping[str, list[str]], place: Place, before: Mapping[str, str]) -> str:
    found = form.get(name_of(place))
    return before.get(name_of(place), "") if found is None else found[0]


def _begun(form: Mapping[str, list[str]]) -> tuple[Place, ...]:
    """Columns and models that are not in the file yet: named in the form now, or a moment ago."""
    found: dict[Place, None] = {}
    for name in form:
        place = place_of(name)
        if len(place) == 3 and place[0] in OWN:
            found.setdefault(place[:2])
    for kind in OWN:
        for name in form.get(f"new-{kind}", []):
            if name.strip():
                found.setdefault((kind, name.strip()[:100]))
    return tuple(found)


def mistakes(error: DeclarationError, typed: FieldTexts) -> tuple[dict[str, str], list[str]]:
    """What is wrong at each field, and what is wrong at none of them."""
    at_fields: dict[str, str] = {}
    other: list[str] = []
    for place, message in error.places:
        name = _field(place, message, typed)
        words = without_places(message)
        if name is None:
            other.append(words)
        else:
            at_fields[name] = f"{at_fields[name]} {words}" if name in at_fields else words
    return at_fields, other if error.places else without_places(str(error)).splitlines()


def _field(place: Sequence[str | int], message: str, typed: FieldTexts) -> str | None:
    names = tuple(str(part) for part in place)
    missing = _NEEDS.search(message)
    tried = [names[:length] for length in range(len(names), 0, -1)]
    if missing:
        tried.insert(0, (*names, missing[1]))
    return next((name_of(one) for one in tried if name_of(one) in typed.values), None)


def _at(raw: Any, place: Place) -> Any:
    for name in place:
        raw = raw.get(name) if isinstance(raw, dict) else None
    return raw

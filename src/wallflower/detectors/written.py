"""Detectors as the command line writes them: `lof(neighbours=20, threshold=1.5)`."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from wallflower.detectors.distance import Distance
from wallflower.detectors.grubbs import Grubbs
from wallflower.detectors.histogram import Histogram
from wallflower.detectors.lof import LOF
from wallflower.errors import UsageError, nearest_name

BUILT_IN: dict[str, type[Grubbs | LOF | Histogram | Distance]] = {
    "grubbs": Grubbs,
    "lof": LOF,
    "histogram": Histogram,
    "distance": Distance,
}


def detector(text: str) -> Grubbs | LOF | Histogram | Distance:
    """The detector that `text` spells; numbers are exact.

    >>> detector("lof(neighbours=5, threshold=1.25)")
    LOF(neighbours=5, threshold=Fraction(5, 4))
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", text, flags=re.DOTALL)
    if match is None:
        raise UsageError(
            f"a detector is written name(setting=value, ...), got '{text}'.", hint='For example "grubbs(alpha=0.05)".'
        )
    name, inside = match[1].lower(), match[2] or ""
    if name not in BUILT_IN:
        raise UsageError(f"no detector is called '{name}'.", hint=nearest_name(name, BUILT_IN))
    kind = BUILT_IN[name]
    known = [field.name for field in fields(kind)]
    given: dict[str, Any] = {}
    for part in filter(None, (piece.strip() for piece in inside.split(","))):
        setting, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise UsageError(
                f"a setting of {name} is written setting=value, got '{part}'.", hint=f"Settings: {', '.join(known)}."
            )
        if setting not in known:
            raise UsageError(f"{name} has no setting '{setting}'.", hint=nearest_name(setting, known))
        if setting in given:
            raise UsageError(f"'{setting}' of {name} is given twice.")
        given[setting] = _value(name, setting, value)
    missing = [field.name for field in fields(kind) if field.name in ("p", "radius") and field.name not in given]
    if missing:
        raise UsageError(f"{name} needs {' and '.join(missing)}.", hint='For example "distance(p=0.01, radius=5000)".')
    return kind(**given)


def _value(name: str, setting: str, text: str) -> object:
    if setting == "argmax":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"'argmax' of {name} is true or false, got '{text}'.")
        return text.lower() == "true"
    if setting == "neighbours":
        if not text.isdecimal():
            raise UsageError(f"'neighbours' of {name} is a whole number, got '{text}'.")
        return int(text)
    return text

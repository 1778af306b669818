"""Detectors by name: `lof(neighbours=20, threshold=1.5)` becomes a detector, whoever wrote it.

A detector of this package registers itself in its own file, which is all that finds it. One from elsewhere joins through the
entry-point group `wallflower.detectors`: the entry's name is the detector's, its object the class.
"""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from fractions import Fraction
from functools import cache
from importlib import import_module, metadata
from typing import Any, TypeVar

from wallflower.errors import UsageError, nearest_name
from wallflower.schema.exact import exact

GROUP = "wallflower.detectors"
_CALL = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", flags=re.DOTALL)
MOST_DOUBLE = 10**300
_registered: dict[str, type] = {}

Kind = TypeVar("Kind", bound=type)


def register(name: str) -> Callable[[Kind], Kind]:
    """Class decorator: the detector is written `name(...)` from now on."""

    def remember(kind: Kind) -> Kind:
        kind.name = name  # type: ignore[attr-defined]
        _registered[name] = kind
        return kind

    return remember


@cache
def every_kind() -> Mapping[str, type]:
    """All detectors by name: those of this package first, which no other can replace."""
    package = import_module("wallflower.detectors")
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if not module.name.endswith("kernels"):
            import_module(module.name)
    found = dict(_registered)
    for entry in metadata.entry_points(group=GROUP):
        if entry.name not in found:
            found[entry.name] = entry.load()
    return found


def kinds(verb: str) -> Mapping[str, type]:
    """The detectors that have this method: `stands_out`, `score` or `robustness`."""
    return {name: kind for name, kind in every_kind().items() if hasattr(kind, verb)}


def detector(text: str, *, verb: str = "stands_out", defaults: Mapping[str, Mapping[str, Any]] | None = None) -> Any:
    """The detector that `text` spells; numbers are exact. `defaults` fill settings it leaves out, by the detector's name.

    >>> detector("lof(neighbours=5, threshold=1.25)")
    LOF(neighbours=5, threshold=Fraction(5, 4))
    """
    call = call_in_text(text)
    if call is None:
        raise UsageError(
            f"a detector is written name(setting=value, ...), got '{text}'.", hint='For example "grubbs(alpha=0.05)".'
        )
    name, pieces = call[0].lower(), call[1]
    known = kinds(verb)
    if name not in known:
        raise UsageError(f"no detector is called '{name}'.", hint=nearest_name(name, known))
    kind = known[name]
    given = _settings(kind, name, pieces)
    settings = {field.name: field for field in fields(kind)}
    for setting, value in (defaults or {}).get(name, {}).items():
        given.setdefault(setting, value)
    missing = [name for name, field in settings.items() if field.default is MISSING and name not in given]
    if missing:
        raise UsageError(f"{name} needs {' and '.join(missing)}.", hint=f"Settings of {name}: {', '.join(settings)}.")
    return kind(**given)


def call_in_text(text: str) -> tuple[str, list[str]] | None:
    """The name and the pieces of `name(setting=value, ...)`; None for anything else.

    >>> call_in_text("iqr(factor = 3)"), call_in_text("iqr"), call_in_text("3)")
    (('iqr', ['factor = 3']), ('iqr', []), None)
    """
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    return match[1], [piece.strip() for piece in (match[2] or "").split(",") if piece.strip()]


def setting_in_text(piece: str) -> tuple[str, str]:
    """A setting and its value; an empty one where the piece is no `setting=value`."""
    setting, _, value = piece.partition("=")
    return setting.strip(), value.strip()


def _settings(kind: type, name: str, pieces: list[str]) -> dict[str, Any]:
    types = {field.name: str(field.type) for field in fields(kind)}
    given: dict[str, Any] = {}
    for part in pieces:
        setting, value = setting_in_text(part)
        if not value:
            raise UsageError(
                f"a setting of {name} is written setting=value, got '{part}'.", hint=f"Settings: {', '.join(types)}."
            )
        if setting not in types:
            raise UsageError(f"{name} has no setting '{setting}'.", hint=nearest_name(setting, types))
        if setting in given:
            raise UsageError(f"'{setting}' of {name} is given twice.")
        given[setting] = _value(name, setting, value, types[setting])
    return given


def _value(name: str, setting: str, text: str, kind: str) -> object:
    if kind == "bool":
        if text.lower() not in ("true", "false"):
            raise UsageError(f"'{setting}' of {name} is true or false, got '{text}'.")
        return text.lower() == "true"
    if kind == "int":
        if not (text.isdecimal() and text.isascii() and len(text) < 20):
            raise UsageError(f"'{setting}' of {name} is a whole number, got '{text}'.")
        return int(text)
    if kind == "float":
        return _double(exact(text, name=f"{setting} of {name}"), setting)
    return text


def _double(number: Fraction, setting: str) -> float:
    if abs(number) > MOST_DOUBLE:
        raise UsageError(f"'{setting}' must be at most 1e300.")
    return float(number)

"""Whether a JSON value has the shape that a JSON Schema asks for: the few words of that language that our own schemas use.

The schema ships with the package for everyone's validators; this reads the same file, so that there is no second description
of a release. A word it does not know is an error of ours, never a pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

SILENT = frozenset({"$schema", "$id", "title", "description", "$defs"})
"""Words that ask for nothing."""

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "null": (type(None),),
}


@cache
def schema(name: str) -> dict[str, Any]:
    """A schema of the package, `release` or `declaration`."""
    loaded: dict[str, Any] = json.loads(files("wallflower.schema").joinpath(f"{name}.schema.json").read_text("utf-8"))
    return loaded


def misfit(value: object, rule: Mapping[str, Any], whole: Mapping[str, Any], *, at: str = "") -> str | None:
    """Where `value` first differs from `rule`, in words that quote nothing of it; None where it fits.

    >>> released = schema("release")
    >>> misfit({"ok": True}, released["$defs"]["released"], released)
    "it has no 'notes'"
    >>> misfit({"spent": 4}, {"type": "object", "properties": {"spent": {"type": "string"}}}, released)
    "'spent' is not of type string"
    >>> misfit(True, {"type": "integer"}, released)
    'it is not of type integer'
    """
    for word, wanted in rule.items():
        if word in SILENT:
            continue
        found = _WORDS[word](value, wanted, whole, rule, at)
        if found is not None:
            return found
    return None


def _named(at: str) -> str:
    return f"'{at}'" if at else "it"


def _type(value: object, wanted: Any, _whole: Any, _rule: Any, at: str) -> str | None:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    fits = "boolean" in names if isinstance(value, bool) else any(isinstance(value, TYPES[name]) for name in names)
    return None if fits else f"{_named(at)} is not of type {' or '.join(names)}"


def _required(value: object, wanted: Any, _whole: Any, _rule: Any, at: str) -> str | None:
    missing = [name for name in wanted if isinstance(value, dict) and name not in value]
    return f"{_named(at)} has no '{missing[0]}'" if missing else None


def _properties(value: object, wanted: Any, whole: Any, _rule: Any, at: str) -> str | None:
    if not isinstance(value, dict):
        return None
    for name, rule in wanted.items():
        if name in value:
            found = misfit(value[name], rule, whole, at=f"{at}.{name}".lstrip("."))
            if found is not None:
                return found
    return None


def _additional(value: object, wanted: Any, whole: Any, rule: Any, at: str) -> str | None:
    if not isinstance(value, dict):
        return None
    others = [name for name in value if name not in rule.get("properties", {})]
    if wanted is False:
        return f"{_named(at)} has a field that no release has" if others else None
    found = (misfit(value[name], wanted, whole, at=f"{at}.…".lstrip(".")) for name in others)
    return next((each for each in found if each is not None), None)


def _items(value: object, wanted: Any, whole: Any, _rule: Any, at: str) -> str | None:
    if not isinstance(value, list):
        return None
    found = (misfit(each, wanted, whole, at=f"{at}[{place}]") for place, each in enumerate(value))
    return next((each for each in found if each is not None), None)


def _length(value: object, _wanted: Any, _whole: Any, rule: Any, at: str) -> str | None:
    if not isinstance(value, list):
        return None
    fits = rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value))
    return None if fits else f"{_named(at)} has the wrong length"


def _one_of(value: object, wanted: Any, whole: Any, _rule: Any, at: str) -> str | None:
    fitting = sum(misfit(value, rule, whole, at=at) is None for rule in wanted)
    return None if fitting == 1 else f"{_named(at)} has none of the shapes that it may have"


def _all_of(value: object, wanted: Any, whole: Any, _rule: Any, at: str) -> str | None:
    found = (misfit(value, rule, whole, at=at) for rule in wanted)
    return next((each for each in found if each is not None), None)


def _ref(value: object, wanted: Any, whole: Any, _rule: Any, at: str) -> str | None:
    return misfit(value, whole["$defs"][wanted.removeprefix("#/$defs/")], whole, at=at)


def _const(value: object, wanted: Any, _whole: Any, _rule: Any, at: str) -> str | None:
    return None if type(value) is type(wanted) and value == wanted else f"{_named(at)} is not {json.dumps(wanted)}"


def _enum(value: object, wanted: Any, _whole: Any, _rule: Any, at: str) -> str | None:
    return None if isinstance(value, str) and value in wanted else f"{_named(at)} is not a name that is known"


def _pattern(value: object, wanted: Any, _whole: Any, _rule: Any, at: str) -> str | None:
    fits = not isinstance(value, str) or re.fullmatch(wanted.removeprefix("^").removesuffix("$"), value)
    return None if fits else f"{_named(at)} is not written as it should be"


def _minimum(value: object, wanted: Any, _whole: Any, _rule: Any, at: str) -> str | None:
    return f"{_named(at)} is below {wanted}" if isinstance(value, int) and value < wanted else None


_WORDS = {
    "type": _type,
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "minItems": _length,
    "maxItems": _length,
    "oneOf": _one_of,
    "allOf": _all_of,
    "$ref": _ref,
    "const": _const,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _minimum,
}

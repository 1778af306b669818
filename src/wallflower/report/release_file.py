"""A release read back from a file: whole and of the right shape, or refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from wallflower.errors import UsageError
from wallflower.privacy.guarantees import STREAMS
from wallflower.schema.shape import misfit, schema

SAVE = (
    "Save a release with --json > release.json, or write one again: wallflower releases DECL --entry N -o release.json."
)
MOST_BYTES = 256 * 2**20


def read_release(path: Path) -> dict[str, Any]:
    """The JSON of a release. An error, a price, a rehearsal or half a file is refused."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"'{path}' is larger than any release.", hint=SAVE)
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"'{path}' cannot be read: {error.strerror}.", hint=SAVE) from None
    except UnicodeDecodeError:
        raise UsageError(f"'{path}' is not JSON in UTF-8.", hint=SAVE) from None
    return as_release(_parsed(text, str(path)), named=f"'{path}'")


def as_release(loaded: object, *, named: str = "this") -> dict[str, Any]:
    """`loaded` itself, once it has the shape of a release."""
    if isinstance(loaded, dict) and "release" not in loaded:
        for kind, what in (("error", "an error"), ("price", "a dry run"), ("rehearsal", "a rehearsal")):
            if kind in loaded:
                raise UsageError(f"{named} is {what}, which has no certificate.", hint=SAVE)
    whole = schema("release")
    rule = whole["$defs"]["released"]
    if _of_a_stream(loaded):
        parts = {**rule["properties"], "release": {"type": ["object", "null"]}}
        rule = {**rule, "properties": parts, "additionalProperties": {}}  # a party's own facts stand beside its release
    wrong = misfit(loaded, rule, whole) if isinstance(loaded, dict) else "it is not one JSON object"
    if wrong is not None:
        raise UsageError(f"{named} is not the JSON of a release: {wrong}.", hint=SAVE)
    return dict(loaded)  # type: ignore[call-overload, no-any-return]


def _of_a_stream(loaded: object) -> bool:
    guarantee = loaded.get("guarantee") if isinstance(loaded, dict) else None
    return isinstance(guarantee, dict) and guarantee.get("family") in STREAMS


def _parsed(text: str, named: str) -> object:
    """What the text says. Two fields of one name, and numbers that JSON does not have, are refused: readers differ about them."""
    try:
        loaded = json.loads(text, object_pairs_hook=_each_once, parse_constant=_refused)
        json.dumps(loaded, ensure_ascii=False).encode("utf-8")  # half a surrogate pair is no text
    except (ValueError, RecursionError):  # UnicodeEncodeError is a ValueError
        raise UsageError(f"'{named}' is not JSON that can be relied on.", hint=SAVE) from None
    return loaded


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found


def _refused(_name: str) -> object:
    raise ValueError

"""Files that are not quite the JSON of a release: every one must be certified or refused in words, never end as a bug."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

STRANGE: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"a": None})
"""What a field may hold in place of what it should."""


def malformed(release: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """A name and the bytes of each; `release` is a good one."""
    whole = json.dumps(release)
    yield from _not_json(whole)
    for name in release:
        yield f"without {name}", json.dumps({key: part for key, part in release.items() if key != name}).encode()
        for place, strange in enumerate(STRANGE):
            yield f"{name} is {place}", json.dumps({**release, name: strange}).encode()
    for outer in ("guarantee", "ledger", "release", "mechanism", "asked", "declaration"):
        for inner in release[outer]:
            changed = deepcopy(release)
            del changed[outer][inner]
            yield f"without {outer}.{inner}", json.dumps(changed).encode()
            for place, strange in enumerate(STRANGE[:4] + STRANGE[7:9]):
                changed = deepcopy(release)
                changed[outer][inner] = strange
                yield f"{outer}.{inner} is {place}", json.dumps(changed).encode()
    changed = deepcopy(release)
    changed["ledger"]["debited"] = [{"account": "dp"}]
    yield "half a debit", json.dumps(changed).encode()
    changed["ledger"]["debited"] = [{"account": "gold", "spent": {}, "left": None}]
    yield "an unknown account", json.dumps(changed).encode()
    yield "a markup note", json.dumps({**release, "notes": ["<script>alert(1)</script>"]}).encode()
    yield "a long number", whole.replace('"entry": 2', f'"entry": {"9" * 4000}').encode()


def _not_json(whole: str) -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "a space", b" "
    yield "not JSON", b"count 20, interval 0 to 79"
    yield "half a file", whole[: len(whole) // 2].encode()
    yield "two objects", (whole + whole).encode()
    yield "a list", f"[{whole}]".encode()
    yield "a text", json.dumps(whole).encode()
    yield "a number", b"7"
    yield "null", b"null"
    yield "nested too deep", b"[" * 100_000
    yield "a name twice", whole.replace('{"ok": true', '{"ok": true, "ok": true', 1).encode()
    yield "no number", whole.replace('"entry": 2', '"entry": NaN').encode()
    yield "an endless number", whole.replace('"entry": 2', '"entry": Infinity').encode()
    yield "too long a number", whole.replace('"entry": 2', f'"entry": {"9" * 5000}').encode()
    yield "half a character", whole.replace('"family": "dp"', '"family": "dp\\ud800"').encode()
    yield "half a character in a note", whole.replace('"notes": [', '"notes": ["\\ud800"').encode()
    yield "UTF-16", whole.encode("utf-16")
    yield "Latin-1", whole.replace("every row", "jédér").encode("latin-1")
    yield "a mark at its start", whole.encode("utf-8-sig")
    yield "an error", json.dumps({"ok": False, "error": {"kind": "usage", "message": "", "hint": ""}}).encode()
    yield "a dry run", json.dumps({"ok": True, "price": {}}).encode()
    yield "a rehearsal", json.dumps({"ok": True, "rehearsal": {}}).encode()

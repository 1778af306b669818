"""Bodies made from the service's own OpenAPI description: what it says is right, and the same with something wrong in it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from wallflower.service.web.openapi import document

SCHEMAS = document()["components"]["schemas"]
ANSWERABLE = (
    {"command": "count", "fields": {"columns": ["age", "days"], "neighbours": 3, "radius": "6", "epsilon": "0.001"}},
    {"command": "explain", "fields": {
        "record": "e1", "metric": "salary", "by": ["job"], "detector": "grubbs(alpha=0.05)", "guarantee": "full", "epsilon": "0.001",
    }},
)  # fmt: skip
WORDS = ("age", "days", "cost", "job", "hospital", "salary", "default", "e1", "0.01", "6", "1/3", "age=1,days=2", "")
TOO_MUCH: tuple[Callable[[random.Random], bytes], ...] = (
    lambda chance: b"[" * (deep := chance.randrange(1, 30_000)) + b"]" * deep,
    lambda chance: b'{"command":"count","fields":' + b"[" * (deep := chance.randrange(1, 1_200)) + b"]" * deep + b"}",
    lambda chance: b'{"fields":' * (deep := chance.randrange(1, 5_000)) + b"1" + b"}" * deep,
    lambda chance: b'{"command":"count","fields":{"neighbours":' + b"9" * chance.randrange(1, 60_000) + b"}}",
    lambda chance: b'{"command":"count","fields":{"epsilon":"' + b"1/" * chance.randrange(1, 30_000) + b'"}}',
    lambda _chance: b'{"command":"count","fields":{"epsilon":1e999999}}',
    lambda _chance: b'{"command":"count","fields":{"epsilon":NaN}}',
    lambda _chance: b'{"command":"count","command":"publish","fields":{}}',
    lambda _chance: b'{"command":"count","fields":{"columns":["\\ud800"]}}',
    lambda _chance: b"\xff\xfe{\x00}\x00",
    lambda _chance: b"",
)
"""Deep nests, numbers without end, texts that are none."""


def fitting(chance: random.Random, schema: dict[str, Any]) -> Any:
    """A value that the schema allows."""
    if "oneOf" in schema:
        return fitting(chance, chance.choice(schema["oneOf"]))
    if "const" in schema or "enum" in schema:
        return schema["const"] if "const" in schema else chance.choice(schema["enum"])
    kind = schema["type"] if isinstance(schema["type"], str) else chance.choice(schema["type"])
    if kind == "object":
        needed = set(schema.get("required", ()))
        return {
            name: fitting(chance, inner)
            for name, inner in schema["properties"].items()
            if name in needed or chance.random() < 0.5
        }
    if kind == "array":
        return [fitting(chance, schema["items"]) for _ in range(chance.randrange(1, 4))]
    if "pattern" in schema or kind == "integer":
        number = chance.choice([0, 1, 3, 20, 999_999_999])
        return number if kind == "integer" else str(number)
    return chance.choice(WORDS)


def spoilt(chance: random.Random, value: Any, nasty: Callable[[random.Random], Any]) -> Any:
    """The same with one part left out, doubled, of another type or of another content."""
    made = copy.deepcopy(value)
    places = list(_places(made))
    holder, key = chance.choice(places)
    how = chance.randrange(4)
    if how == 0 and isinstance(holder, dict):
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[str(nasty(chance))] = holder[key]
    elif how == 2:
        holder[key] = [holder[key], holder[key]]
    else:
        holder[key] = nasty(chance)
    return made


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(inside):
        yield value, key
        yield from _places(inner)


def body(chance: random.Random, schema: str, nasty: Callable[[random.Random], Any]) -> bytes:
    """As described, or spoilt a little, or more than anybody should send."""
    if chance.random() < 0.05:
        return chance.choice(TOO_MUCH)(chance)
    value = fitting(chance, SCHEMAS[schema]) if chance.random() < 0.5 else {**chance.choice(ANSWERABLE), "purpose": "p"}
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        if not isinstance(value, dict) or not value:
            break
        value = spoilt(chance, value, nasty)
    raw = json.dumps(value).encode()
    return raw if chance.random() < 0.97 else raw[: chance.randrange(len(raw))]

"""The JSON Schemas that ship with the package."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal


def json_schema(of: Literal["declaration", "release"]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a declaration as parsed from TOML, or of what a releasing command prints.

    >>> json_schema("release")["$id"]
    'urn:wallflower:release:2'
    """
    text = files("wallflower.schema").joinpath(f"{of}.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema

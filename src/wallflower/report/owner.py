"""The owner's report: what is really in the rows beside what was asked. It stays at the desk.

A query's `inspect` gives `{"facts": {label: value}, "tables": [{"title", "columns", "rows"}], "figures": {...arrays...}}`;
the pictures of an area are drawn from its `figures` by `wallflower.report.<area>.pictures`.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from wallflower.atomic_file import write_whole
from wallflower.privacy.guarantee import worded
from wallflower.privacy.price import Price
from wallflower.privacy.release import OwnerOnly, Release
from wallflower.report.figures import Picture
from wallflower.report.pages import render
from wallflower.schema.declaration import Declaration

DRAWN = ("explain", "identify", "count", "publish")
"""Areas that have pictures, as `report/<area>.py`."""


def write_owner_report(
    path: Path, *, query: str, declaration: Declaration, report: OwnerOnly, release: Release | None = None
) -> None:
    """HTML or JSON by the name of the file; both say NOT PRIVATE first. With `release` the page shows what left as well."""
    price: Price = report.value["price"]
    seen: dict[str, Any] = report.value["seen"]
    if path.suffix == ".json":
        plain = {
            "NOT PRIVATE": True,
            "table": declaration.id,
            "command": query,
            "settings": dict(price.settings),
            "seen": _as_json(seen),
        }
        if release is not None:
            plain["released"] = release.value
        write_whole(path, json.dumps(plain, ensure_ascii=False, indent=1) + "\n")
        return
    write_whole(path, owner_page(query=query, declaration=declaration, report=report, release=release))


def owner_page(*, query: str, declaration: Declaration, report: OwnerOnly, release: Release | None = None) -> str:
    """The report as one self-contained page."""
    unit = "person" if declaration.reduced else "row"
    seen: dict[str, Any] = {**report.value["seen"], "unit": unit}
    return render(
        "owner.html",
        table=declaration.id,
        query=query,
        price=report.value["price"],
        # Where every person is one row, what is said of rows is said of people.
        facts={worded(label, unit): value for label, value in seen.get("facts", {}).items()},
        tables=seen.get("tables", []),
        left=[] if release is None else release.lines()[:1],
        pictures=owner_pictures(query, seen, release),
    )


def owner_pictures(query: str, seen: dict[str, Any], release: Release | None = None) -> list[Picture]:
    """The pictures of an area; they find what was released under `released`."""
    if query not in DRAWN:
        return []
    shown = seen if release is None else {**seen, "released": release.value}
    drawn: list[Picture] = import_module(f"wallflower.report.{query}").pictures(shown)
    return drawn


def _as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _as_json(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)

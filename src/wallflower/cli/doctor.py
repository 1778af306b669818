"""`wallflower doctor`: what is installed, what is missing for which extra, and where one may write."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer

from wallflower.cli.terminal import out, show_lines
from wallflower.version import __version__

PROGRAMS = {"postgres": "ledgers and rows in PostgreSQL", "mosquitto": "streams over MQTT", "java": "rows on Spark"}
"""Programs that somebody else starts, and what for; none is needed for tables in files."""


def register(app: typer.Typer) -> None:
    app.command()(doctor)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Say what is installed here, which extras are whole, which servers are found and where files may be written.

    Reads no declaration, no row and no ledger, and asks nobody over the network.

    \b
    Example:
        wallflower doctor
    """
    found = examined()
    if as_json:
        typer.echo(json.dumps({"ok": True, "doctor": found}, ensure_ascii=False))
        return
    lines = [("wallflower", f"{__version__}, Python {found['python']} on {found['system']}")]
    lines += [("needs", f"{name} {version or 'MISSING'}") for name, version in found["needs"].items()]
    for extra, parts in found["extras"].items():
        missing = [name for name, version in parts.items() if version is None]
        said = f"missing {', '.join(missing)}: pip install 'wallflower[{extra}]'" if missing else "whole"
        lines.append((f"extra {extra}", said))
    lines += [
        (name, f"{'found' if place else 'not found'} ({PROGRAMS[name]})") for name, place in found["programs"].items()
    ]
    lines += [(f"writing {name}", "yes" if may else "NO") for name, may in found["writing"].items()]
    show_lines(lines)
    if any(version is None for version in found["needs"].values()):
        out.print("Something that is always needed is missing: pip install wallflower", style="bold")
        raise typer.Exit(2)


def examined() -> dict[str, Any]:
    """Everything that is shown, by name."""
    needs: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    for text in metadata.requires("wallflower") or ():
        name = re.match(r"[\w.-]+", text)
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", text)
        if name is None or name[0] == "wallflower" or (extra is not None and extra[1] == "all"):
            continue
        group = needs if extra is None else extras.setdefault(extra[1], {})
        group[name[0]] = _version(name[0])
    return {
        "wallflower": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "needs": needs,
        "extras": extras,
        "programs": {name: shutil.which(name) is not None for name in PROGRAMS},
        "writing": {
            "here": os.access(Path.cwd(), os.W_OK),
            "temporary files": _temporary_files(),
        },
    }


def _temporary_files() -> bool:
    try:
        return os.access(tempfile.gettempdir(), os.W_OK)
    except OSError:  # no folder of those that Python tries can be written
        return False


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None

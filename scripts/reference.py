"""Write docs/reference/cli.md from the commands' own help, so that the page cannot say anything else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "cli.md"
WIDTH = 110


def every_command(command: Any, path: str) -> list[tuple[str, Any]]:
    found = [(path, command)]
    if hasattr(command, "commands"):
        for name, inner in command.commands.items():
            found += every_command(inner, f"{path} {name}")
    return found


def page() -> str:
    from wallflower.cli.app import build

    parts = ["# Command line\n\nThis page is what `--help` prints; `make reference` writes it.\n"]
    root = typer.main.get_command(build())
    asks = root.context_settings["help_option_names"]  # every command has these from the first
    for path, command in every_command(root, "wallflower"):
        context = command.context_class(
            command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=asks
        )
        parts.append(f"## {path}\n\n```text\n{command.get_help(context).rstrip()}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")

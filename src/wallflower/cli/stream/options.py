"""Options that several commands of `wallflower stream` take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

StreamFile = Annotated[Path, typer.Argument(metavar="FILE", help="The stream declaration.", show_default=False)]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Name at the broker.", show_default=False)]
PasswordFile = Annotated[
    Path | None,
    typer.Option("--password-file", metavar="FILE", help="File with the password; else WALLFLOWER_MQTT_PASSWORD."),
]
Idle = Annotated[
    float | None, typer.Option("--idle", metavar="S", help="Stop after this many quiet seconds; else on SIGTERM.")
]
Metrics = Annotated[
    Path | None,
    typer.Option("--metrics", metavar="FILE.prom", help="Keep counts for Prometheus' text file collector here."),
]
Seed = Annotated[
    int | None, typer.Option("--seed", metavar="N", help="Predictable noise, only with test = true. NOT PRIVATE.")
]

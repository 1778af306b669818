"""`wallflower serve`: the HTTP service and its console."""

from __future__ import annotations

import contextlib
import getpass
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wallflower.cli.terminal import err, out
from wallflower.errors import UsageError

if TYPE_CHECKING:
    from wallflower.service.configuration import Service
    from wallflower.service.people import People

File = Annotated[Path, typer.Argument(metavar="SERVICE.toml", help="The service's file.", show_default=False)]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The user's name.", show_default=False)]


class _FileOrUser(typer.core.TyperGroup):
    """`serve FILE`, `serve --demo` and `serve user ...`: what is not `user` belongs to the command that runs a service."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        helped = bool(args) and args[0] in ("-h", "--help")
        return super().parse_args(ctx, args if helped or args[:1] == ["user"] else ["run", *args])


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=_FileOrUser, help="The HTTP service and its console: run one, or look after its users.")
    group.command("run")(run)
    users = typer.Typer(no_args_is_help=True, help="Accounts of a service: add, password, disable, enable, bind.")
    for command in (add, password, disable, enable, bind):
        users.command()(command)
    group.add_typer(users, name="user")
    app.add_typer(group, name="serve")


def run(
    service: Annotated[
        Path | None, typer.Argument(metavar="[SERVICE.toml]", help="The service's file.", show_default=False)
    ] = None,
    demo: Annotated[
        bool, typer.Option("--demo", help="Made-up tables, three logins, this machine only; nothing is kept.")
    ] = False,
    port: Annotated[int, typer.Option("--port", metavar="N", help="With --demo: the port, 0 for any free one.")] = 0,
) -> None:
    """Serve tables to many askers: a console for people, JSON for programs. `run` itself may be left out.

    \b
    Example:
        wallflower serve run --demo
    """
    if demo == (service is not None):
        raise UsageError(
            "name a service's file, or use --demo.", hint="`wallflower serve --demo` needs nothing and shows it all."
        )
    from wallflower.service.extras import check_installed

    check_installed()
    if service is not None:
        from wallflower.service.parser import load

        _serve(load(service), [], read_again=lambda: load(service))
        return
    with tempfile.TemporaryDirectory(prefix="wallflower-demo-") as folder:
        from wallflower.service.demo import lay_out

        # Enough for a first answer that says something: about sixty stays are unusual, and ε 1 counts them to within a dozen.
        made, logins = lay_out(Path(folder), port=port or _free_port(), share=Fraction(3), approved=Fraction(1))
        _serve(made, logins)


def _serve(
    service: Service, logins: list[tuple[str, str, str]], read_again: Callable[[], Service] | None = None
) -> None:
    from wallflower.service.supervisor import Supervisor

    running = Supervisor(service, read_again)
    signal.signal(signal.SIGTERM, lambda *_: running.ask_to_stop())
    signal.signal(signal.SIGHUP, lambda *_: running.ask_to_renew())
    try:
        running.start()
        _greet(service, logins)
        with contextlib.suppress(KeyboardInterrupt):
            running.wait(lambda words: err.print(words, highlight=False))
        err.print("Stopping: what is under way is finished first.", highlight=False)
    finally:  # children that nobody stops keep this process, and each other, up for ever
        running.stop()


def _greet(service: Service, logins: list[tuple[str, str, str]]) -> None:
    scheme = "http" if service.certificate is None else "https"
    out.print(f"Wallflower serves {scheme}://{service.host}:{service.port}/", highlight=False)
    for name, secret, does in logins:
        out.print(f"  {name:<6} {secret}   {does}", highlight=False)
    if logins:
        out.print(
            "These passwords are shown once. Every row was made up. Ctrl-C stops it; nothing is kept.", style="dim"
        )
    sys.stdout.flush()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def add(
    service: File,
    name: Name,
    operator: Annotated[bool, typer.Option("--operator", help="May read /metrics.")] = False,
    no_password: Annotated[bool, typer.Option("--no-password", help="Only OpenID Connect lets this user in.")] = False,
) -> None:
    """Make an account; the password is asked for, or read from WALLFLOWER_PASSWORD.

    \b
    Example:
        wallflower serve user add SERVICE.toml lab-1
    """
    _people(service).add(name, None if no_password else _new_password(), operator=operator)
    out.print(f"Added '{name}'.", highlight=False)


def password(service: File, name: Name) -> None:
    """Set a new password; every session of the user ends.

    \b
    Example:
        wallflower serve user password SERVICE.toml lab-1
    """
    _people(service).set_password(name, _new_password(), by="operator", source="desk")
    out.print(f"Changed the password of '{name}'.", highlight=False)


def disable(service: File, name: Name) -> None:
    """Shut a user out at once: sessions end, tokens stop.

    \b
    Example:
        wallflower serve user disable SERVICE.toml lab-1
    """
    _people(service).disable(name, disabled=True)
    out.print(f"'{name}' is out.", highlight=False)


def enable(service: File, name: Name) -> None:
    """Let a disabled user in again.

    \b
    Example:
        wallflower serve user enable SERVICE.toml lab-1
    """
    _people(service).disable(name, disabled=False)
    out.print(f"'{name}' may log in again.", highlight=False)


def bind(
    service: File,
    name: Name,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="The provider's `sub` of this user.")],
) -> None:
    """Say which subject of the OpenID provider a user is.

    \b
    Example:
        wallflower serve user bind SERVICE.toml lab-1 248289761001
    """
    from wallflower.service.parser import load

    declared = load(service)
    if declared.openid is None:
        raise UsageError("the service's file declares no [openid] provider.")
    _people(service).bind_subject(name, f"{declared.openid.issuer} {subject}")
    out.print(f"'{name}' is bound.", highlight=False)


def _people(path: Path) -> People:
    from wallflower.service.migrations import migrate
    from wallflower.service.parser import load
    from wallflower.service.people import People
    from wallflower.stores.database import Database

    database = Database(load(path).database)
    migrate(database)
    return People(database, time.time)


def _new_password() -> str:
    given = os.environ.get("WALLFLOWER_PASSWORD")
    if given is not None:
        return given
    first, second = getpass.getpass("New password: "), getpass.getpass("Again: ")
    if first != second:
        raise UsageError("the two passwords differ.")
    return first

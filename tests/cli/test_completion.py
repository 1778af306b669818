"""Completion: a shell learns commands, options and choices, and loads no more of the package than the line names."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from wallflower.cli.app import COMMANDS

PYTHON = """
import sys
from wallflower.cli.app import run
code = run(sys.argv[1:])
print("LOADED", *sorted(name for name in sys.modules if name.startswith("wallflower.cli.")))
sys.exit(code)
"""
BY_NAME = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
"""The shell is then an argument: which one runs the tests must not matter."""


def ran(*arguments, **settings):
    kept = {name: value for name, value in os.environ.items() if "COMPLETE" not in name and "COLOR" not in name}
    return subprocess.run(
        [sys.executable, "-c", PYTHON, *arguments], capture_output=True, text=True, check=False, env=kept | settings
    )


def completed(line):
    """What bash is told could stand where `line` ends, and the commands that were loaded to say so."""
    words = line.split(" ")
    done = ran(_WALLFLOWER_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert done.returncode == 0, done.stderr
    offered, _, loaded = done.stdout.partition("LOADED")
    return offered.split(), {name.rpartition(".")[2] for name in loaded.split()} & COMMANDS.keys()


def test_commands_are_offered_without_loading_any():
    assert completed("wallflower s") == (["subspaces", "stream", "serve"], set())
    assert set(completed("wallflower ")[0]) == set(COMMANDS)


def test_options_are_offered_by_the_one_command_that_has_them():
    offered, loaded = completed("wallflower count --rad")
    assert offered == ["--radius"]
    assert loaded == {"count"}


def test_choices_and_commands_of_a_group_are_offered():
    assert set(completed("wallflower count table.toml --noise la")[0]) == {"laplace"}
    assert {"init", "show", "verify"} <= set(completed("wallflower ledger ")[0])


def test_other_shells_hand_the_line_over_in_their_own_way():
    done = ran(
        _WALLFLOWER_COMPLETE="complete_fish",
        _TYPER_COMPLETE_ARGS="wallflower count --rad",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
    )
    assert done.returncode == 0
    assert done.stdout.startswith("--radius")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_shown_and_installed_for_a_shell(tmp_path, shell):
    shown = ran("--show-completion", shell, HOME=str(tmp_path), **BY_NAME)
    assert shown.returncode == 0
    assert "_WALLFLOWER_COMPLETE" in shown.stdout
    assert not list(tmp_path.iterdir())
    done = ran("--install-completion", shell, HOME=str(tmp_path), **BY_NAME)
    assert done.returncode == 0
    assert f"{shell} completion installed in {tmp_path}" in done.stdout
    kept = [file.read_text(encoding="utf-8") for file in tmp_path.rglob("*") if file.is_file()]
    assert any("_WALLFLOWER_COMPLETE" in text for text in kept)


def test_a_shell_that_is_not_known_is_refused_in_words(monkeypatch, capsys):
    import shellingham

    from wallflower.cli.app import run

    def nowhere():
        raise shellingham.ShellDetectionFailure

    monkeypatch.delenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", raising=False)
    monkeypatch.setattr(shellingham, "detect_shell", nowhere)
    assert run(["--install-completion"]) == 2
    assert "Run it in bash, zsh, fish or PowerShell" in capsys.readouterr().err


@pytest.mark.parametrize("settings", [{}, {"NO_COLOR": "1"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}])
def test_help_in_a_pipe_is_plain_text(settings):
    done = ran("count", "-h", **settings)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "-h, --help" in done.stdout


def test_a_refusal_without_colour_is_plain_text():
    done = ran("count", NO_COLOR="1")
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
    assert "\x1b" not in done.stderr

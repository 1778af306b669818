"""The two commands of the README's first screen are those of the Makefile and of the script that checks every change."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCREEN = 40


def test_the_first_screen_of_the_readme_shows_both():
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:SCREEN])
    shown = re.findall(r"^(make \w+) ", first, flags=re.MULTILINE)
    assert shown == ["make demo", "make test"]


def test_make_knows_both_and_runs_what_they_say():
    for command, runs in (("demo", "wallflower demo"), ("test", "pytest")):
        planned = subprocess.run(["make", "-n", command], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert runs in planned


def test_the_script_that_checks_a_change_runs_the_same_tests():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[-1] == "exec make test"


def test_campaigns_are_left_out_of_the_tests():
    def planned(target):
        return subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout

    runs = [line for line in planned("test").splitlines() if "pytest" in line]
    assert runs
    assert all("not campaign" in line for line in runs)
    assert "-m campaign" in planned("campaign")

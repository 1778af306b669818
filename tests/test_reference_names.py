"""Every Python name that a page shows can be used as the first thing in a fresh interpreter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
NAME = re.compile(r"\bwf(?:\.[A-Za-z_]\w*)+")

EACH_IN_A_CHILD = """
import os, sys
import duckdb, ibis, numba, numpy, pyarrow, scipy.stats  # other people's: a child need not load them again
import wallflower as wf

shown = set(sys.stdin.read().split())

def look(thing, name):  # in the process that came here by the steps of this name and by no others
    nexts = {each[len(name) + 1 :].split(".")[0] for each in shown if each.startswith(name + ".")}
    for step in sorted(nexts):
        child = os.fork()
        if child == 0:
            at = f"{name}.{step}"
            try:
                found = getattr(thing, step)
            except AttributeError as error:
                for each in sorted(shown):
                    if f"{each}.".startswith(f"{at}."):
                        print(each, error, flush=True)
            else:
                look(found, at)
                if at in shown:
                    print(at, "is there", flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, f"{name}.{step}"

look(wf, "wf")
"""


def names() -> set[str]:
    return {name for page in PAGES for name in NAME.findall(page.read_text(encoding="utf-8"))}


PLANTED = {"wf.audit.nothing", "wf.nobody.at.all"}


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What became of every name: looked up in a process that did nothing before but import the package and take the name's own steps.

    Those processes are forked, a step from the one before it, from a parent that has imported the package, the libraries it uses
    and nothing more of it. So what two names share is done once, and neither sees what only the other loads.
    """
    done = subprocess.run(
        [sys.executable, "-c", EACH_IN_A_CHILD],
        input="\n".join(names() | PLANTED),
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


def test_every_name_of_every_page_is_there_at_once(said):
    shown = names()
    assert {"wf.open", "wf.count.Outliers", "wf.audit.blackbox.LowerBound"} <= shown
    assert {name: said.get(name) for name in shown} == dict.fromkeys(shown, "is there")


@pytest.mark.parametrize("name", sorted(PLANTED))
def test_a_name_that_is_not_there_would_be_noticed(said, name):
    assert "has no attribute" in said[name]

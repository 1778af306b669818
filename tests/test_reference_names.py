"""Every Python name that a page shows can be used as the first thing in a fresh interpreter."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
NAME = re.compile(r"\bwf(?:\.[A-Za-z_]\w*)+")

EACH_IN_A_CHILD = """
import os, sys
import duckdb, ibis, numba, numpy, pyarrow, scipy.stats  # other people's: a child need not load them again
import wallflower as wf
for name in sys.stdin.read().split():
    child = os.fork()
    if child == 0:
        try:
            eval(name, {"wf": wf})
        except AttributeError as error:
            print(name, error, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
"""


def names() -> set[str]:
    return {name for page in PAGES for name in NAME.findall(page.read_text(encoding="utf-8"))}


def missing(shown: set[str]) -> str:
    """A child is forked for each name from a parent that has imported the package, the libraries it uses and nothing more of it."""
    done = subprocess.run(
        [sys.executable, "-c", EACH_IN_A_CHILD],
        input="\n".join(sorted(shown)),
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_every_name_of_every_page_is_there_at_once():
    shown = names()
    assert {"wf.open", "wf.count.Outliers", "wf.audit.blackbox.LowerBound"} <= shown
    assert missing(shown) == ""


def test_a_name_that_is_not_there_would_be_noticed():
    assert missing({"wf.open", "wf.audit.nothing"}).startswith("wf.audit.nothing ")

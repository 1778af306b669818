"""An outside opinion: pycanon computes k-anonymity and l-diversity of what was published.

pycanon wants other versions of pandas than we test with, so it lives in an environment of its own, made once and kept in the
temporary folder. WALLFLOWER_PYCANON names an interpreter that has it already. Without either the test is skipped; with CI=true it
fails instead.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import pytest
from tests.publish.test_publishing import TABLE, people

import wallflower as wf
from wallflower.engines import open_source
from wallflower.ledger import Ledger
from wallflower.publish import PlainTable
from wallflower.publish.attacks import attack
from wallflower.publish.publication import checker_of
from wallflower.publish.published_file import published_groups
from wallflower.schema import load

VERSION = "1.0.1.post2"
ASK = """
import json, sys
import pandas as pd
from pycanon import anonymity
table = pd.read_csv(sys.argv[1], dtype=str)
quasi, sensitive = ["age", "country"], ["income"]
print(json.dumps([int(anonymity.k_anonymity(table, quasi)), int(anonymity.l_diversity(table, quasi, sensitive))]))
"""


@pytest.fixture(scope="session")
def pycanon():
    if "WALLFLOWER_PYCANON" in os.environ:
        return os.environ["WALLFLOWER_PYCANON"]
    folder = Path(tempfile.gettempdir()) / f"wallflower-pycanon-{VERSION}-{os.getuid()}"
    python = folder / "bin" / "python"
    done = folder / "installed"
    if not done.exists():
        venv.create(folder, with_pip=False, clear=True)
        # Our own pip, and no bytecode of what is never imported.
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        command = [*pip, "install", "--quiet", "--no-compile", f"pycanon=={VERSION}"]
        installed = subprocess.run(command, capture_output=True, check=False, timeout=600)
        if installed.returncode:
            say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
            say(f"pycanon {VERSION} could not be installed")
        done.touch()
    return str(python)


@pytest.mark.slow
def test_pycanon_agrees_on_k_anonymity_and_l_diversity(tmp_path, pycanon):
    (tmp_path / "people.toml").write_text(TABLE.replace("publications = 1", "publications = 2"))
    lines = ["name,age,country,income,shoe", *(",".join(map(str, row)) for row in people())]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    declaration = load(tmp_path / "people.toml")
    Ledger.init(declaration)
    for level in ("candidate", "strict"):
        out = tmp_path / f"{level}.csv"
        query = PlainTable.of(declaration, out=str(out), k=5, p="0.9", d="0.5", level=level)
        wf.open(tmp_path / "people.toml").release(query)
        asked = subprocess.run([pycanon, "-c", ASK, str(out)], capture_output=True, check=True, timeout=300)
        with open_source(declaration).rows(query.columns) as rows:
            found = attack(checker_of(rows, query.space(declaration)), published_groups(out, query.space(declaration)))
        assert json.loads(asked.stdout.splitlines()[-1]) == [found.smallest, found.least_distinct]
        assert found.least_distinct >= 5

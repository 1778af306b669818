"""A release from a file in a real Jupyter kernel, where DuckDB refuses settings that need a package we do not."""

from __future__ import annotations

import json
import textwrap

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbclient is in the test group")

DECLARED = """
[table]
id = "visits"
source = "visits.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
test = true
ledger = "visits.ledger"
[budget.dp]
epsilon = "2"
[columns.age]
role = "sensitive"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
"""
CELL = """
import json, sys
import wallflower as wf
from wallflower.count import Outliers
from wallflower.ledger import Ledger
from wallflower.schema import load

Ledger.init(load("visits.toml"))
sys.modules["ipywidgets"] = None  # as where nobody installed it
release = wf.open("visits.toml", seed=1).release(Outliers(columns=("age",), neighbours=2, radius=5, epsilon="0.5"))
print(json.dumps(release.value))
"""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_release_from_a_file_works_in_a_notebook_without_widgets(tmp_path):
    from nbclient import NotebookClient

    (tmp_path / "visits.toml").write_text(DECLARED)
    (tmp_path / "visits.csv").write_text("age\n" + "".join(f"{age}\n" for age in (34, 36, 35, 88)))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(textwrap.dedent(CELL))])
    client = NotebookClient(
        book, timeout=600, startup_timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    done = client.execute()
    told = "".join(output.get("text", "") for output in done.cells[0].outputs if output.get("name") == "stdout")
    assert isinstance(json.loads(told)["count"], int)

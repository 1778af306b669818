"""How long a command takes to start, in CPU seconds of its whole process. `python -m benchmarks.start [--quick]`"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.harness import Table

DECLARATION = """
[table]
id = "visits"
source = "visits.csv"
unit = "row"
neighbours = "add-remove"
max_rows = 1000
reviewed = true
ledger = "visits.ledger"
[budget.dp]
epsilon = "1000"
[columns.age]
role = "sensitive"
lower = 0
upper = 120
step = 1
outside = "clip"
missing = "drop"
"""
ROWS = "age\n34\n36\n88\n35\n36\n"
COUNT = ("count", "visits.toml", "--columns", "age", "--neighbours", "2", "--radius", "5", "--epsilon", "1/2")


def cpu_seconds(folder: Path, code: list[str]) -> float:
    """User and system time of one Python process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    keeping = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *code], cwd=folder, check=True, stdout=subprocess.DEVNULL, env=keeping)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    repeats = 2 if "--quick" in sys.argv else 5
    table = Table("Start-up, CPU seconds, the best of several")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "visits.toml").write_text(DECLARATION, encoding="utf-8")
        (folder / "visits.csv").write_text(ROWS, encoding="utf-8")
        cpu_seconds(folder, ["-m", "wallflower", "ledger", "init", "visits.toml"])
        cpu_seconds(folder, ["-m", "wallflower", *COUNT])  # compiles what is not compiled yet
        bare = min(cpu_seconds(folder, ["-c", "import numba, ibis, sqlalchemy, duckdb"]) for _ in range(repeats))
        for goal, arguments, target in (
            ("wallflower --help", ["--help"], "0.25"),
            ("wallflower count --help", ["count", "--help"], "–"),
            ("count --dry-run", [*COUNT, "--dry-run"], "–"),
            ("a release from five rows", [*COUNT], "1.0"),
        ):
            best = min(cpu_seconds(folder, ["-m", "wallflower", *arguments]) for _ in range(repeats))
            table.add(goal, f"{bare:.2f} to import numba, ibis, sqlalchemy and duckdb", f"{best:.2f}", target)


if __name__ == "__main__":
    main()

"""Other anonymisers, in an environment of their own: their pins conflict with ours.

Made once under the temporary folder, or named by WALLFLOWER_PEERS (an interpreter that has anonypy and anjana).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

import numpy as np

NAMES = ("anonypy==0.2.1", "anjana==1.2.3", "pyarrow")

ANONYPY = """
import json, sys, time
import anonypy, pandas as pd
table = pd.read_csv(sys.argv[1])
quasi = [c for c in table.columns if c != "salary"]
for name in quasi[1:]:
    table[name] = table[name].astype("category")
start, cpu = time.perf_counter(), time.process_time()
rows = anonypy.Preserver(table, quasi, "salary").anonymize_l_diversity(k=15, l=15)
print(json.dumps({"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "groups": len(rows)}))
"""

ANONYPY_GROUPS = """
import json, sys, time
import anonypy, pandas as pd
from anonypy import mondrian
table = pd.read_csv(sys.argv[1])
quasi = [c for c in table.columns if c != "salary"]
for name in quasi[2:]:
    table[name] = table[name].astype("category")
cpu = time.process_time()
parts = mondrian.Mondrian(table, quasi, "salary").partition(10, 10)
spent = time.process_time() - cpu
groups = [
    {"sets": [sorted(int(v) for v in table[c].iloc[part].unique()) for c in quasi],
     "ends": [[int(table[c].iloc[part].astype(int).min()), int(table[c].iloc[part].astype(int).max())] for c in quasi],
     "rows": [int(row) for row in part]}
    for part in (list(part) for part in parts)
]
print(json.dumps({"cpu": spent, "groups": groups}))
"""
"""Mondrian with 10 distinct salaries a group; numbers are published as ranges, categories as lists."""

ANJANA = """
import json, sys, time
import numpy as np, pandas as pd
from anjana.anonymity import l_diversity
table = pd.read_csv(sys.argv[1], dtype=str)
quasi = [c for c in table.columns if c != "salary"]
levels = {}
for name in quasi:
    values = sorted(table[name].unique(), key=int)
    tens = [str(int(v) // 5 * 5) + "+" for v in values]
    levels[name] = {0: np.array(values), 1: np.array(tens), 2: np.array(["*"] * len(values))}
start, cpu = time.perf_counter(), time.process_time()
result = l_diversity(table, [], quasi, "salary", 15, 15, 50, levels)
print(json.dumps({"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "rows": len(result)}))
"""


def interpreter() -> str:
    if "WALLFLOWER_PEERS" in os.environ:
        return os.environ["WALLFLOWER_PEERS"]
    folder = Path(tempfile.gettempdir()) / f"wallflower-peers-{os.getuid()}"
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        print("making an environment for anonypy and anjana", file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *NAMES], check=True)
        done.touch()
    return str(python)


def measured(program: str, places: np.ndarray, names: list[str], *, timeout: int = 900) -> dict[str, Any] | None:
    """What the program prints about itself on this table; None when it does not end or fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        np.savetxt(path, places, fmt="%d", delimiter=",", header=",".join(names), comments="")
        try:
            asked = subprocess.run(
                [interpreter(), "-W", "ignore", "-c", program, str(path)],
                capture_output=True,
                check=True,
                timeout=timeout,
            )
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            return None
    return dict(json.loads(asked.stdout.splitlines()[-1]))

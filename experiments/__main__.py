"""`make reproduce`: run every paper's experiments, one process each (`--quick` or `--full`), and sum them up."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).parent
    papers = sorted(path.parent.name for path in here.glob("*/__main__.py"))
    for paper in papers:
        subprocess.run([sys.executable, "-m", f"experiments.{paper}", *sys.argv[1:]], check=True, cwd=here.parent)
    subprocess.run([sys.executable, "-m", "experiments.summary"], check=True, cwd=here.parent)


if __name__ == "__main__":
    main()

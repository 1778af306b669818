"""`make bench`: run every folder of benchmarks, one process each, so that peak memory is each one's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).parent
    areas = sorted(path.parent.name for path in here.glob("*/__main__.py"))
    for area in areas:
        subprocess.run([sys.executable, "-m", f"benchmarks.{area}", *sys.argv[1:]], check=True, cwd=here.parent)


if __name__ == "__main__":
    main()

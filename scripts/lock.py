"""Write locks/: the versions that `make` installs, with the digest of every file and no address of where they come from."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "locks"
LOCKS = {"test": ("--extra", "all", "--group", "test", "--group", "docs"), "run": ("--extra", "all")}
"""What is locked; `run` takes the versions of `test`, which is written first."""
LINE = re.compile(r"^(?:[A-Za-z0-9._-]+(?:\[[\w,-]+\])?==\S+.*\\?|    --hash=sha256:[0-9a-f]{64}(?: \\)?|#.*|)$")


def foreign(text: str) -> list[str]:
    """Lines that are neither a name with its version nor a digest: an address, an option, a path."""
    return [line for line in text.splitlines() if not LINE.fullmatch(line) or "://" in line]


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    wrong: list[str] = []
    for name, parts in LOCKS.items():
        place = FOLDER / f"{name}.txt"
        same = () if name == "test" else ("--constraints", str(FOLDER / "test.txt"))
        command = [
            sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11",
            "--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header",
            *parts, *same, "--output-file", str(place), "pyproject.toml",
        ]  # fmt: skip
        subprocess.run([*command, *sys.argv[1:]], cwd=ROOT, check=True)
        wrong += foreign(place.read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(wrong) or "locks hold names, versions and digests alone\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

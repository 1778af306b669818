"""Write locks/: the versions that `make` installs, with the digest of every file and no address of where they come from."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "locks" / "requirements.txt"
LINE = re.compile(r"^(?:[A-Za-z0-9._-]+(?:\[[\w,-]+\])?==\S+.*\\?|    --hash=sha256:[0-9a-f]{64}(?: \\)?|#.*|)$")


def foreign(text: str) -> list[str]:
    """Lines that are neither a name with its version nor a digest: an address, an option, a path."""
    return [line for line in text.splitlines() if not LINE.fullmatch(line) or "://" in line]


def main() -> int:
    LOCK.parent.mkdir(exist_ok=True)
    command = [
        sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11",
        "--generate-hashes", "--no-emit-index-url", "--no-emit-find-links", "--no-annotate", "--no-header",
        "--extra", "all", "--group", "test", "--group", "docs", "--output-file", str(LOCK), "pyproject.toml",
    ]  # fmt: skip
    subprocess.run([*command, *sys.argv[1:]], cwd=ROOT, check=True)
    wrong = foreign(LOCK.read_text(encoding="utf-8"))
    sys.stdout.write("\n".join(wrong) or f"{LOCK.relative_to(ROOT)} holds names, versions and digests alone\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

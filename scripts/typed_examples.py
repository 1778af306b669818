"""Check the types of what the pages show: every Python block and notebook, as a user's own checker would, by mypy and by pyright.

Lines with a mistake are planted beside them, and both must find each: an interface without types would let them pass.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLANTED = """\
from fractions import Fraction
import wallflower as wf

visits = wf.open("visits.toml")
good = wf.count.Outliers(columns=["age"], neighbours=2, radius=Fraction(5), epsilon="1/2", noise="lomax")
visits.release(good).to_frame()
visits.price(good).guarantee.parameters["epsilon"].lower()
visits.sweep(good, epsilon=["0.1", 1, Fraction(1, 2)])
wf.count.Outliers(columns=("age",), neighbours="two", radius=5, epsilon="1/2")  # WRONG
wf.count.Outliers(columns=("age",), neighbours=2, radius=5, epsilon=b"1/2")  # WRONG
wf.count.Outliers(columns=("age",), neighbours=2, radius=5, epsilon=1, noise="gauss")  # WRONG
wf.identify.Anomalies(values=({"age": 3},), epsilon={})  # WRONG
visits.release("how many?")  # WRONG
visits.price(good).cost  # WRONG
wf.open(5)  # WRONG
good.radius.lower()  # WRONG
"""


def examples(folder: Path) -> None:
    """One file a page: its blocks share their names, as a reader's session would."""
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/tutorials/*.md"))]:
        blocks = [block for block in BLOCK.findall(page.read_text(encoding="utf-8")) if ">>>" not in block]
        if blocks:
            name = "_".join(page.relative_to(ROOT).with_suffix("").parts)
            (folder / f"{name}.py").write_text("\n".join(blocks), encoding="utf-8")
    for page in sorted(ROOT.glob("docs/notebooks/*.ipynb")):
        cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        (folder / f"notebook_{page.stem}.py").write_text("\n\n".join(code), encoding="utf-8")
    (folder / "planted.py").write_text(PLANTED, encoding="utf-8")


def mypy(folder: Path) -> set[tuple[str, int]]:
    options = ["--check-untyped-defs", "--ignore-missing-imports", "--follow-imports=silent", "--no-error-summary"]
    place = ["--cache-dir", str(ROOT / ".mypy_cache" / "examples"), "--python-executable", sys.executable]
    found = _told([sys.executable, "-m", "mypy", *options, *place, "."], folder)
    return {
        (match[1], int(match[2])) for match in re.finditer(r"^(\w+\.py):(\d+):(?:\d+:)? error", found, re.MULTILINE)
    }


def pyright(folder: Path) -> set[tuple[str, int]]:
    settings = {"extraPaths": [str(ROOT / "src")], "typeCheckingMode": "standard", "reportMissingModuleSource": False}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    options = ["--outputjson", "--level", "error", "--pythonpath", sys.executable, "."]
    found = json.loads(_told([sys.executable, "-m", "basedpyright", *options], folder))
    return {(Path(each["file"]).name, each["range"]["start"]["line"] + 1) for each in found["generalDiagnostics"]}


def _told(command: list[str], folder: Path) -> str:
    around = {**os.environ, "MYPYPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=around)
    if done.returncode > 1 or not done.stdout.strip():  # 1 says that there are findings
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def main() -> int:
    wanted = {("planted.py", at) for at, line in enumerate(PLANTED.splitlines(), start=1) if "# WRONG" in line}
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        examples(folder)
        for checker in (mypy, pyright):
            found = checker(folder)
            for file, line in sorted(found ^ wanted):
                text = (folder / file).read_text(encoding="utf-8").splitlines()[line - 1]
                print(
                    f"{checker.__name__}: {'found' if (file, line) in found else 'did not find'} {file}:{line}: {text}"
                )
            wrong += len(found ^ wanted)
    print(f"{len(wanted)} planted mistakes, {wrong} surprises in the examples")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())

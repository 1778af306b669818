"""Change one small thing of `src` at a time and see whether a test notices: `python -m scripts.mutations --many 200`.

First the tests of every changed package run once, unchanged, to see which test reaches which line and how long it takes; `--map`
keeps that for the next run. Then a process collects those tests once and is forked for each mutant (`scripts/mutants.py`): the
child takes over the changed function and runs the file's examples and the tests that reach the line, the shortest first, up to the
first failure, to a test that burns five times its usual time, or to `--limit` seconds. What runs on import is judged by a process
that has imported nothing of ours. At the end every test that killed a mutant runs once more on the honest code. A mutant that no
test notices is printed with its line; `--again` judges those of an earlier `--out` anew, with `--wide` by every test of their
package that is no campaign. It is not part of `make test`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from scripts.mutant_reach import Reach
from scripts.mutant_runs import Judged, Runs
from scripts.mutants import ROOT, SRC, Mutant, chosen, mutant, places

TESTS: dict[str, tuple[str, ...]] = {
    "atomic_file": ("tests/test_atomic_file.py", "tests/ledger", "tests/stream/test_book.py", "tests/publish"),
    "audit": ("tests/audit",),
    "cli": (
        "tests/cli",
        "tests/report",
        "tests/count/test_commands.py",
        "tests/explain/test_command.py",
        "tests/publish/test_owner_preview.py",
        "tests/publish/test_publishing.py",
        "tests/stream/test_commands.py",
        "tests/stream/test_operations.py",
        "tests/test_docs.py",
    ),
    "compiling": ("tests/test_compiling.py",),
    "count": ("tests/count", "tests/contracts/test_queries.py"),
    "demo": ("tests/test_demo_visits.py", "tests/test_display.py", "tests/test_series.py"),
    "detectors": ("tests/detectors", "tests/contracts/test_detectors.py"),
    "engines": (
        "tests/engines",
        "tests/contracts/test_duckdb_views.py",
        "tests/contracts/test_engine_views.py",
        "tests/contracts/test_engines.py",
        "tests/contracts/test_formats.py",
        "tests/contracts/test_hostile_files.py",
        "tests/contracts/test_people.py",
        "tests/contracts/test_row_order.py",
    ),
    "errors": ("tests/cli", "tests/service/test_requests.py"),
    "explain": ("tests/explain",),
    "geometry": ("tests/geometry",),
    "identify": ("tests/identify",),
    "ledger": ("tests/ledger", "tests/privacy", "tests/test_session.py"),
    "mechanisms": (
        "tests/mechanisms",
        "tests/statistics",
        "tests/count/test_fences.py",
    ),
    "noise": ("tests/noise", "tests/statistics"),
    "privacy": (
        "tests/privacy",
        "tests/mechanisms/test_guarantees.py",
        "tests/ledger/test_ledger.py",
        "tests/test_session.py",
    ),
    "progress": ("tests/explain", "tests/cli"),
    "publish": ("tests/publish", "tests/papers/test_plain_k_anonymity_figures.py"),
    "remote": ("tests/service/test_running.py", "tests/service/test_requests.py"),
    "report": ("tests/report", "tests/test_pages.py", "tests/stream/test_commands.py"),
    "schema": ("tests/schema",),
    "service": ("tests/service",),
    "session": (
        "tests/test_session.py",
        "tests/test_series.py",
        "tests/test_display.py",
        "tests/count/test_queries.py",
        "tests/count/test_commands.py",
        "tests/contracts/test_queries.py",
        "tests/contracts/test_before_the_charge.py",
        "tests/contracts/test_rehearsals.py",
    ),
    "stores": ("tests/ledger", "tests/stores", "tests/stream/test_results.py"),
    "stream": ("tests/stream",),
}
"""Which tests look at which package."""

DEAR = (
    "contracts/test_before", "contracts/test_people_", "contracts/test_queries", "contracts/test_same", "in_a_browser",
    "engines/test_postgresql", "engines/test_spark", "ledger/test_many", "ledger/test_ledger_errors", "cli/test_app",
    "cli/test_people", "publish/test_guide", "publish/test_owner", "publish/test_pycanon", "publish/test_ten",
    "stream/test_faults", "stream/test_mqtt", "stream/test_partitions", "stream/test_examples", "explain/test_languages",
    "explain/test_gpu", "service/test_running", "service/test_faults", "service/test_barrage", "service/test_postgresql",
)  # fmt: skip
"""Tests that take long: only `--wide` and `--tests` ask them."""

HEAVY = ("numpy", "scipy.special", "numba", "pyarrow", "pandas", "pytest", "sqlalchemy", "ibis", "duckdb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--many", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=60, help="processor seconds a mutant may burn")
    parser.add_argument(
        "--only", default="", help="how paths inside the package begin, with commas: only these are changed"
    )
    parser.add_argument("--since", default="", help="a revision: only lines that it does not have are changed")
    parser.add_argument("--tests", default="", help="the tests to ask in place of the package's own, with commas")
    parser.add_argument("--wide", action="store_true", help="ask every test, the slow and the statistical too")
    parser.add_argument("--map", type=Path, help="a folder that keeps which test reaches which line")
    parser.add_argument("--out", type=Path, help="a file for one line of JSON per mutant")
    parser.add_argument("--again", type=Path, help="an earlier --out: judge those that were not killed")
    asked = parser.parse_args()
    for heavy in HEAVY:
        __import__(heavy)
    drawn = (asked.many, asked.seed, asked.only, asked.since)
    mutants = list(_earlier(asked.again, asked.only)) if asked.again else chosen(*drawn)
    counts = dict.fromkeys(("killed", "survived", "slow", "unjudged"), 0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(ROOT / "src", folder / "src")  # with its times: compiled kernels are found again
        os.environ |= {"PYTHONPATH": str(folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        sys.dont_write_bytecode = True
        sys.path.insert(0, str(folder / "src"))
        for area, group in groupby(sorted(mutants, key=lambda one: one.where), key=lambda one: one.area):
            tests = _tests(area, asked.tests, () if asked.wide else DEAR)
            runs = Runs(folder, tests, asked.limit, wide=asked.wide)
            reach = Reach.none() if asked.wide else _reach(runs, area, asked.map if not asked.tests else None)
            for judged in runs.judged(list(group), reach):
                counts[judged.verdict] += 1
                _tell(judged, asked.out)
    print(", ".join(f"{number} {word}" for word, number in counts.items()))


def _earlier(file: Path, only: str) -> Iterable[Mutant]:
    for line in file.read_text(encoding="utf-8").splitlines():
        told = json.loads(line)
        if told["verdict"] != "killed" and any(told["file"].startswith(start) for start in only.split(",")):
            path, place = SRC / told["file"], (told["place"], told["kind"])
            found = mutant(path, *place) if path.exists() and place in places(path) else None
            if found is None or found.what != told["what"]:
                print(f"{told['where']} has changed since: not judged", flush=True)
            else:
                yield found


def _tests(area: str, asked: str, without: tuple[str, ...]) -> list[str]:
    if asked:
        return asked.split(",")
    places = [ROOT / name for name in TESTS[area]]
    files = [file for place in places for file in ([place] if place.suffix else sorted(place.rglob("test_*.py")))]
    names = [str(file.relative_to(ROOT)) for file in files if file.exists()]
    return [name for name in names if not any(part in name for part in without)]


def _reach(runs: Runs, area: str, kept: Path | None) -> Reach:
    file = kept / f"{area}.json" if kept is not None else None
    if file is not None and file.exists():
        return Reach.read(file)
    found = runs.reach()
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        found.write(file)
    for test in found.failing:
        print(f"{area}: not asked, for it fails without any change: {test}", flush=True)
    return found


def _tell(judged: Judged, out: Path | None) -> None:
    changed = judged.mutant
    told = {
        "verdict": judged.verdict, "by": judged.by, "where": changed.where, "what": changed.what,
        "file": changed.inside, "place": changed.place, "kind": changed.kind, "asked": judged.asked,
    }  # fmt: skip
    if out is not None:
        with out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
    if judged.verdict != "killed":
        print(f"{judged.verdict:<9} {changed.where}  {changed.what}  ({judged.asked} tests) {judged.by}", flush=True)


if __name__ == "__main__":
    main()

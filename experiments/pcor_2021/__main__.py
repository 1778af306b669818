"""Repeat the paper's Tables 2 to 13 and Figures 1 to 5, with its numbers beside ours: writes RESULTS.md.

`--quick` asks about few outliers and prints only; `--full` is the paper's size (under an hour of one core). What is done is kept in
`--keep FILE` as lines of JSON, so that a run can be broken off and continued. `--renew` writes anew those rows of Tables 12 and 13, and the
section on permute-and-flip and languages, that were kept; every other line of the page stays as the run that measured it left it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numba

from experiments.pcor_2021 import data as tables
from experiments.pcor_2021.beside import beside
from experiments.pcor_2021.closing import of_languages, of_matches
from experiments.pcor_2021.match import CHANGES, compared
from experiments.pcor_2021.page import loss_rows, match_rows, page
from experiments.pcor_2021.pictures import illustrated
from experiments.pcor_2021.sections import with_rows, with_section, with_statements
from experiments.pcor_2021.study import Setting, outliers, study, timed
from experiments.pcor_2021.written import LANGUAGES, most_contexts, written
from wallflower.detectors import LOF, Grubbs, Histogram

HERE = Path(__file__).parent
LEAST = 10
DETECTORS = (Grubbs(), LOF(), Histogram())
EPSILONS = ("0.05", "0.1", "0.2", "0.4")
SALARY = (
    *(Setting("exact", epsilon) for epsilon in ("0.01", *EPSILONS)),
    *(Setting(search, "0.2", paper=True) for search in ("uniform", "walk", "dfs")),
    *(Setting("bfs", epsilon, paper=True) for epsilon in EPSILONS),
    *(Setting("bfs", "0.2", samples=samples, paper=True) for samples in (25, 100, 200)),
    *(Setting(search, "0.2") for search in ("uniform", "walk", "dfs", "bfs")),
    *(Setting(search, "0.2", paper=True, utility="overlap") for search in ("dfs", "bfs")),
    Setting("exact", "0.2", utility="overlap"),
    *(Setting("exact", epsilon, flip=True) for epsilon in ("0.01", *EPSILONS)),
    *(Setting(search, "0.2", flip=True) for search in ("uniform", "walk")),
)
FEWER = (Setting("exact", "0.05"), Setting("exact", "0.2"), Setting("bfs", "0.2", paper=True), Setting("bfs", "0.2"))
SIZES = {"quick": (6, 4, 3, 3), "usual": (200, 60, 15, 12), "full": (200, 200, 100, 50)}
"""Outliers on the salary table, on the others, for the match; neighbours for the match."""


class Kept:
    """Finished pieces by name, on disk as they come."""

    def __init__(self, path: Path | None, *, complete: bool = False) -> None:
        self.path, self.complete = path, complete
        self.found = {}
        if path is not None and path.exists():
            self.found = dict(map(json.loads, path.read_text().splitlines()))

    def get(self, name, make):
        if name not in self.found:
            if self.complete:
                return None
            self.found[name] = make()
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([name, self.found[name]]) + "\n")
            print(name, flush=True)
        return self.found[name]


def utilities(kept, data, detector, settings, count):
    places, looked = kept.get(
        f"outliers {data.name} {detector.text} {count}", lambda: outliers(data, detector, LEAST, count, 0)
    )
    results = []
    for place in places:
        name = f"study {data.name} {detector.text} {place} {len(settings)}"
        results.append(kept.get(name, lambda place=place: study(data, place, detector, LEAST, settings)))
    return {"rows": len(data.codes), "shape": data.shape, "looked": looked, "results": [r for r in results if r]}


def languages(kept, data, detector, count):
    places, _ = kept.get(
        f"outliers {data.name} {detector.text} {count}", lambda: outliers(data, detector, LEAST, count, 0)
    )
    results = [
        kept.get(f"written {data.name} {detector.text} {place}", lambda p=place: written(data, p, detector, LEAST))
        for place in places
    ]
    most = {language: most_contexts(data, language) for language in LANGUAGES}
    return {"most": most, "results": [result for result in results if result]}


def times(kept, data, detector, settings, count):
    places, _ = kept.get(
        f"outliers {data.name} {detector.text} {count}", lambda: outliers(data, detector, LEAST, count, 0)
    )
    timed(data, places[0], detector, LEAST, settings[0])
    found = {}
    for setting in settings:
        name = f"time {data.name} {detector.text} {setting.name} {len(places[:10])}"
        found[setting.name] = kept.get(
            name, lambda s=setting: [timed(data, place, detector, LEAST, s) for place in places[:10]]
        )
    return found


def matches(kept, data, detector, count, neighbours):
    places, _ = kept.get(
        f"outliers {data.name} {detector.text} {count}", lambda: outliers(data, detector, LEAST, count, 0)
    )
    found, losses, done = {change: [] for change in CHANGES}, [], 0
    for place in places:
        name = f"match {data.name} {detector.text} {place} {neighbours}"
        piece = kept.get(name, lambda p=place: compared(data, p, detector, LEAST, neighbours))
        if piece is None:
            continue
        shares, lost = piece
        done += 1
        for change in CHANGES:
            found[change] += shares.get(change) or shares[str(change)]
        losses += lost
    return {"shares": found, "losses": losses, "outliers": done, "neighbours": neighbours}


def renewed(text, kept, salary, reduced, *, few, neighbours):
    """The page with what was kept, each part with its own sizes."""
    found = {}
    for data in reduced:
        for detector in DETECTORS:
            if f"outliers {data.name} {detector.text} {few}" in kept.found:
                found[f"{data.name} {detector.text}"] = matches(kept, data, detector, few, neighbours)
    text = with_rows(text, "Tables 12 and 13", match_rows(found))
    text = with_rows(text, "What the promise leaves open", loss_rows(found))
    if len(found) == len(reduced) * len(DETECTORS):
        text = with_statements(text, of_matches(found))
    results, spoken = [], []
    for name, piece in kept.found.items():
        word, place = f"written {salary.name} {LOF().text} ", name.split()[-1]
        studied = f"study {salary.name} {LOF().text} {place} {len(SALARY)}"
        if name.startswith(word) and kept.found.get(studied):
            results.append(kept.found[studied])
            spoken.append(piece)
    if results:
        section = beside(results, spoken, {language: most_contexts(salary, language) for language in LANGUAGES})
        text = with_section(text, section, before="Tables 12 and 13")
        text = with_statements(text, of_languages(spoken))
    return illustrated(text)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.pcor_2021")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--only-page", action="store_true", help="write the page from what was kept, as far as it goes")
    parser.add_argument("--renew", action="store_true", help="renew the parts of RESULTS.md that were kept")
    given = parser.parse_args()
    # Tens of thousands of searches through 512 to 2,048 contexts: a second thread would spend more time waking up and waiting than working.
    numba.set_num_threads(1)
    size = "quick" if given.quick else "full" if given.full else "usual"
    many, some, few, neighbours = SIZES[size]
    kept = Kept(given.keep, complete=given.only_page or given.renew)
    salary, small = tables.salary(), tables.salary(reduced=True)
    murders, fewer_murders = tables.homicide(), tables.homicide(reduced=True)
    if given.renew:
        page_file = HERE / "RESULTS.md"
        text = page_file.read_text(encoding="utf-8")
        text = renewed(text, kept, salary, (small, fewer_murders), few=few, neighbours=neighbours)
        page_file.write_text(text, encoding="utf-8")
        return
    found = {"small": {}, "match": {}}
    for detector in (Grubbs(), Histogram()):
        found["small"][detector.text] = utilities(kept, small, detector, FEWER, some)
    found["homicide"] = utilities(kept, murders, LOF(), FEWER, some)
    for data in (small, fewer_murders):
        for detector in DETECTORS:
            found["match"][f"{data.name} {detector.text}"] = matches(kept, data, detector, few, neighbours)
    found["times"] = times(
        kept, salary, LOF(), [Setting(s, "0.2", paper=True) for s in ("bfs", "exact", "walk", "dfs", "uniform")], many
    )
    found["salary"] = utilities(kept, salary, LOF(), SALARY, many)
    found["languages"] = languages(kept, salary, LOF(), many)
    text = page(found, size)
    print(text)
    if size != "quick":
        (HERE / "RESULTS.md").write_text(illustrated(text), encoding="utf-8")


if __name__ == "__main__":
    main()

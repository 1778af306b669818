"""How fast a GPU decides every context, and whether it decides as the processor does.

`python -m benchmarks.explain.gpu_tables FOLDER` writes tables and the processor's answers. `python benchmarks/explain/gpu.py FOLDER` is for a machine with a GPU, on
which numpy and CuPy are enough: it compares flags and prints a line for each table.
"""

# ruff: noqa: PLC0415, S301 - the package is imported bare, where its dependencies are missing; the files are our own

from __future__ import annotations

import argparse
import pickle
import statistics
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np

SHAPES = {"2^22": (9, 8, 8), "2^30": (12, 11, 10), "2^33": (13, 12, 11), "2^36": (14, 13, 12)}
GOALS = {"2^22": 0.007, "2^30": 1.7, "2^33": 14, "2^36": 115}
"""Seconds of the first pass with LOF, start-up left out."""
SAMPLED, STRETCH = 24, 1024
"""Stretches of so many neighbouring contexts that are compared where there are too many for the processor."""


def bare():
    """Let the modules for a device be imported where the package's own dependencies are missing."""
    source = Path(__file__).resolve().parents[2] / "src" / "wallflower"
    for name in ("wallflower", "wallflower.detectors", "wallflower.explain"):
        module = ModuleType(name)
        module.__path__ = [str(source.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = module


def problem_of(held):
    from wallflower.detectors.contexts import Side
    from wallflower.explain.gpu.problems import Problem

    return Problem(**{**held, "below": Side(*held["below"]), "above": Side(*held["above"])})


def run(folder, names, options, repeats):
    bare()
    import cupy

    from wallflower.explain.gpu.cuda import CudaRunner, find

    runner = CudaRunner(cupy, cupy.cuda.Device().attributes, options) if options else find()
    print(cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(), "CuPy", cupy.__version__, *options, flush=True)
    for name in names:
        if name.startswith("tied"):
            tied(folder, runner, int(name.partition(":")[2] or 10**9))
        else:
            for path in sorted(folder.glob(f"{name}.pickle")):
                one(path, runner, repeats)


def one(path, runner, repeats):
    """Compare, then time."""
    from wallflower.explain.gpu.engine import Engine

    held = pickle.loads(path.read_bytes())
    expected = np.unpackbits(held["flags"], count=held["count"]).astype(np.bool_)
    engine = Engine(problem_of(held["problem"]), runner)
    began = time.perf_counter()
    engine.flags_of(0, 1)
    start_up = time.perf_counter() - began
    slices = engine.slices
    if len(held["starts"]):
        together = STRETCH // slices.run
        found = np.concatenate([engine.flags_of(int(start) // slices.run, together) for start in held["starts"]])
    else:
        found = engine.flags()
    contexts = slices.run * slices.count
    first, counts = [], np.zeros(0)
    for _ in range(1 if contexts > 2**31 else repeats):
        began = time.perf_counter()
        counts = engine.histogram()
        first.append(time.perf_counter() - began)
    began = time.perf_counter()
    if counts.any():
        drawn = int(np.flatnonzero(counts)[-1])
        engine.found({drawn: [int(counts[drawn]) - 1]})
    second, took = time.perf_counter() - began, statistics.median(first)
    size, _, detector = path.name.removesuffix(".pickle").split("-")
    goal = f" (goal {GOALS[size]} s)" if detector == "lof" else ""
    print(
        f"{path.name.removesuffix('.pickle'):18} {int((found != expected).sum())} of {len(expected):,} flags differ, "
        f"{int(expected.sum()):,} of them valid; slices of {slices.run}, {len(slices.kinds)} kinds; first pass {took:.5f} s{goal}, "
        f"{contexts / took / 1e9:.2f}e9/s, of {min(first):.5f} to {max(first):.5f}; second {second:.5f} s; {int(counts.sum()):,} valid; start-up {start_up:.1f} s",
        flush=True,
    )


def tied(folder, runner, most):
    from wallflower.explain.gpu.engine import Engine

    wrong = contexts = tables = 0
    for held, expected in pickle.loads((folder / "tied.pickle").read_bytes())[:most]:
        wrong += int((Engine(problem_of(held), runner).flags() != expected).sum())
        contexts, tables = contexts + len(expected), tables + 1
    print(f"{tables:,} tied problems, {contexts:,} contexts: {wrong} flags differ", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python benchmarks/explain/gpu.py")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", help="files without ending, * allowed, or tied, or tied:N for the first N")
    parser.add_argument("--option", action="append", default=[], help="of the device's compiler")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    run(given.folder, given.names or ["tied", "2^*"], tuple(given.option), given.repeats)


if __name__ == "__main__":
    main()

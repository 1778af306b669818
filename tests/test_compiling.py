"""Compiled loops: kept where they can be, compiled in memory where not, never stale, alive after a fork."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.searched import searched
from wallflower import compiling
from wallflower.detectors import lof, lof_lanes_kernels

PACKAGE = Path(compiling.__file__).parent

LOOP = """
import numba
import numpy as np
from wallflower import compiling

@compiling.kernel
def added(a, b):
    return a + b

@compiling.kernel(parallel=True)
def doubled(values):
    out = np.zeros(len(values), dtype=np.int64)
    for place in numba.prange(len(values)):
        out[place] = 2 * values[place]
    return out

print("added", added(1, 2), *added.stats.cache_hits.values(), "|", *added.stats.cache_misses.values())
"""


def ran(folder: Path, *, extra: str = "", after: str = "", home: str | None = None) -> str:
    if not (folder / "loops.py").exists():  # the file itself never changes: numba's stamp, which may be its time, stays
        (folder / "loops.py").write_text(LOOP)
    code = f"{extra}\nimport loops\n{after}"
    environment = {**os.environ, "PYTHONPATH": searched(folder)}
    environment |= {} if home is None else {"HOME": home, "XDG_CACHE_HOME": home}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The loops' file with code that was compiled before, for tests that begin with a copy: its time, by which numba knows it, goes along."""
    folder = tmp_path_factory.mktemp("kept")
    assert ran(folder) == "added 3 | 1\n"
    return folder


def test_code_is_kept_and_a_changed_kernel_file_is_noticed(kept, tmp_path):
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    assert ran(tmp_path) == "added 3 1 |\n"
    changed = "from wallflower import compiling\ncompiling.digest = lambda file: 'as if a helper had changed'"
    assert ran(tmp_path, extra=changed) == "added 3 | 1\n"


def test_the_digest_sees_every_file_a_kernel_uses_and_nothing_else(tmp_path):
    package = tmp_path / "wallflower"
    (package / "count").mkdir(parents=True)
    texts = {
        "kernels.py": "from wallflower.count.face_kernels import a\nfrom wallflower.compiling import kernel\n",
        "compiling.py": "",
        "count/face_kernels.py": "import wallflower.constants\nfrom numpy import array\n",
        "constants.py": "a = 1\n",
        "count/other_kernels.py": "a = 1\n",
    }
    for name, text in texts.items():
        (package / name).write_text(text + "b = 1\n")
    whole = compiling.digest(package / "kernels.py", package)
    for name, text in texts.items():
        (package / name).write_text(text + "b = 2\n")  # as long as before
        seen = compiling.digest(package / "kernels.py", package) != whole
        assert seen == (name != "count/other_kernels.py")
        (package / name).write_text(text + "b = 1\n")


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*kernels*.py")), ids=lambda file: file.stem)
def test_every_function_that_a_kernel_file_holds_is_of_a_file_in_its_digest(file):
    module = importlib.import_module(".".join(("wallflower", *file.relative_to(PACKAGE).with_suffix("").parts)))
    files = compiling.files_of(file)
    held = [getattr(thing, "py_func", getattr(thing, "__wrapped__", thing)) for thing in vars(module).values()]
    ours = {Path(thing.__code__.co_filename) for thing in held if hasattr(thing, "__code__")}
    assert {path for path in ours if path.is_relative_to(PACKAGE)} <= files
    assert file in files
    assert PACKAGE / "compiling.py" in files


def test_without_a_folder_to_write_to_code_is_compiled_in_memory(tmp_path):
    (tmp_path / "__pycache__").write_text("a file where a folder should be stops even a superuser")
    assert ran(tmp_path, home="/dev/null") == "added 3 | 1\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["__pycache__", "loops.py"]


def test_damaged_files_are_as_good_as_none(kept, tmp_path):
    shutil.copytree(kept, tmp_path, dirs_exist_ok=True)
    files = [*tmp_path.rglob("*.nbc"), *tmp_path.rglob("*.nbi")]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:40])
    assert ran(tmp_path) == "added 3 | 1\n"


FORKED = """
import os, sys
import numpy as np
assert list(loops.{name}(np.arange(3))) == [0, 2, 4]
child = os.fork()
if child == 0:
    ok = list(loops.{name}(np.arange(5))) == [0, 2, 4, 6, 8]
    os._exit(0 if ok else 9)
print("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_child_runs_the_same_loop_alone(tmp_path):
    assert ran(tmp_path, after=FORKED.format(name="doubled")).endswith("child 0\n")


def test_and_without_the_twin_it_would_die(tmp_path):
    plain = "import numba\nloops.plain = numba.njit(parallel=True)(loops.doubled.__wrapped__)\n"
    shown = ran(tmp_path, after=plain + FORKED.format(name="plain") + "print(numba.threading_layer())")
    if "omp" not in shown:
        pytest.skip("only GNU's OpenMP ends a forked child")
    assert "child 0\n" not in shown


AT_ONCE = """
import threading
import numba
import numpy as np
assert list(loops.doubled(np.arange(3))) == [0, 2, 4]
assert numba.threading_layer() == "workqueue"
gate = threading.Barrier(4)
def call():
    gate.wait()
    for _ in range(50):
        loops.doubled(np.arange(100_000))
callers = [threading.Thread(target=call) for _ in range(4)]
for caller in callers:
    caller.start()
for caller in callers:
    caller.join()
print("all came back")
"""


def test_threads_that_numba_shares_badly_are_called_one_at_a_time(tmp_path):
    alone = "import os\nos.environ['NUMBA_THREADING_LAYER'] = 'workqueue'\n"
    assert ran(tmp_path, extra=alone, after=AT_ONCE).endswith("all came back\n")


def test_both_twins_of_a_parallel_kernel_agree():
    rows = np.random.default_rng(5).integers(0, 40, (300, 2))
    from wallflower.identify.kernels import look_at_every_row

    given = (rows, rows[:7], (np.array([1, 2]), np.array([41, 41]), 50), 20, 4)
    assert np.array_equal(look_at_every_row._threads(*given), look_at_every_row._alone()(*given))


def test_constants_that_kernels_repeat_are_the_detectors_own():
    assert lof_lanes_kernels.FLOOR == lof.FLOOR

"""Where contexts are decided: the same answer everywhere, no part of the question, and a sentence before the charge where there is no GPU."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from tests.contracts.examples_explain import ROWS, TABLE
from tests.explain.host_runner import HostRunner, compiled, compiler
from tests.explain.tables import PlainRows, declaration
from tests.explain.test_context import BY, table
from wallflower.cli.app import run
from wallflower.detectors import LOF, Distance, Grubbs, Histogram
from wallflower.errors import UsageError
from wallflower.explain import Context
from wallflower.explain.gpu import cuda, device_choice
from wallflower.explain.gpu.engine import Engine
from wallflower.explain.gpu.trial import differs
from wallflower.ledger import Ledger
from wallflower.noise.entropy import SeededEntropy
from wallflower.progress import warned
from wallflower.schema import load
from wallflower.session import description

needs_compiler = pytest.mark.skipif(compiler() is None, reason="no C++ compiler (g++) is installed")


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    return HostRunner(compiled(tmp_path_factory.mktemp("kernels")))


@pytest.fixture(autouse=True)
def forgotten():
    """What was found out about a device in another test."""
    device_choice._checked.cache_clear()
    yield
    device_choice._checked.cache_clear()


@pytest.fixture
def with_gpu(monkeypatch, runner):
    monkeypatch.setattr(cuda, "find", lambda: runner)


def rows():
    return PlainRows(declaration((3, 2)), tuple(table()), 0)


def question(**settings):
    given = {"record": "asked", "metric": "y", "by": BY, "detector": Grubbs(), "epsilon": 1, "min_population": 2}
    return Context(**{**given, **settings})


@needs_compiler
@pytest.mark.usefixtures("with_gpu")
@pytest.mark.parametrize("settings", [
    {},
    {"top": 3},
    {"detector": LOF(neighbours=3)},
    {"detector": Histogram(rare="0.2"), "utility": "overlap", "start": "c0=v0|v1;c1=v0"},
    {"detector": LOF(neighbours=3), "utility": "overlap", "start": "c0=v0|v1;c1=v0", "top": 2},
])  # fmt: skip
def test_the_answer_is_the_processors(settings, monkeypatch):
    used = []
    monkeypatch.setattr(device_choice, "Engine", lambda *given: used.append(1) or Engine(*given))
    answers = {
        device: [question(**settings, device=device).run(rows(), SeededEntropy(seed)) for seed in range(6)]
        for device in ("cpu", "gpu")
    }
    assert answers["cpu"] == answers["gpu"]
    assert len(used) == 6
    assert any(answers["cpu"])


def test_the_device_is_no_part_of_the_question():
    asked = [question(device=device) for device in ("auto", "cpu", "gpu")]
    assert asked[0] == asked[1] == asked[2]
    assert [description(one) for one in asked] == [description(asked[0])] * 3
    assert "device" not in description(asked[0])
    with pytest.raises(UsageError, match="'device' must be one of auto, cpu, gpu"):
        question(device="tpu")


@dataclass(frozen=True)
class Namesake:
    """A detector of one's own that goes by a published name and decides otherwise."""

    name = "lof"
    neighbours = 3
    limit = 1.5

    def stands_out(self, values, value, /, *, step):
        return bool(value == values[0])


@pytest.mark.parametrize(("settings", "reason"), [
    ({"detector": Namesake()}, "not Namesake()"),
    ({"detector": Distance(p="0.2", radius=3)}, "it decides lof, grubbs and histogram without public bins, not distance"),
    ({"detector": Histogram(width=10)}, "without public bins"),
    ({"search": "bfs"}, "looks at few contexts"),
    ({"guarantee": "full"}, "scores contexts"),
])  # fmt: skip
@pytest.mark.usefixtures("with_gpu")
@needs_compiler
def test_a_question_that_no_gpu_decides_is_refused_before_the_charge(settings, reason):
    with pytest.raises(UsageError, match=reason):
        question(**settings, device="gpu").prepare(rows(), SeededEntropy(1))
    question(**settings, device="auto").prepare(rows(), SeededEntropy(1))


def test_a_domain_that_is_searched_is_not_decided_on_a_gpu():
    large = PlainRows(declaration((20, 20)), (), 0)
    with pytest.raises(UsageError, match="search 'bfs' looks at few contexts"):
        question(contexts="c0=sets,c1=sets", device="gpu").prepare(large, SeededEntropy(1))


class NoDevice:
    """A CuPy whose driver is missing."""

    cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=lambda: (_ for _ in ()).throw(RuntimeError("driver")))
    )


def cupy_with(devices, capability="90"):
    attributes = {"MultiProcessorCount": 132, "MaxSharedMemoryPerBlockOptin": 232448}
    device = SimpleNamespace(compute_capability=capability, attributes=attributes)
    return SimpleNamespace(
        cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=lambda: devices), Device=lambda: device)
    )


def events(path):
    with closing(sqlite3.connect(path.with_name("rows.ledger"))) as ledger:
        return ledger.execute("SELECT count(*) FROM events").fetchone()[0]


@pytest.mark.parametrize(("module", "sentence"), [
    (None, "device 'gpu' needs CuPy, which is not installed. Run pip install 'wallflower[gpu]'."),
    (NoDevice(), "CuPy is installed and finds no GPU that it can use (RuntimeError)."),
    (cupy_with(0), "there is no GPU here that CuPy can use."),
    (cupy_with(1, "61"), "this GPU has compute capability 6.1, and 7.0 is the oldest that works."),
])  # fmt: skip
def test_no_gpu_is_a_sentence_and_costs_nothing(module, sentence, monkeypatch, tmp_path, capfd):
    monkeypatch.setattr(cuda, "find_spec", lambda _name: module)
    monkeypatch.setitem(sys.modules, "cupy", module)
    (tmp_path / "rows.csv").write_text(ROWS)
    path = tmp_path / "rows.toml"
    path.write_text(TABLE)
    Ledger.init(load(path))
    asked = [
        "explain", str(path), "--record", "odd", "--metric", "salary", "--by", "job,age", "--detector", "lof(neighbours=5)",
        "--epsilon", "0.1",
    ]  # fmt: skip
    charged_nothing = events(path)
    assert run([*asked, "--device", "gpu"]) == 2
    err = capfd.readouterr().err
    assert sentence in " ".join(err.split())
    assert "the answer is the same" in " ".join(err.split())
    before = events(path)
    assert run([*asked, "--device", "auto"]) == 0
    assert before < events(path)
    assert before == charged_nothing


def test_the_newest_cards_are_taken():
    assert cuda._runner(cupy_with(1, "90")).shared_bytes > 0
    assert cuda._runner(cupy_with(1, "120")).shared_bytes > 0


class Launches:
    """A CuPy that notes what it would have run."""

    def __init__(self):
        self.rooms, self.given = [], []

    def empty(self, size, dtype):
        self.rooms.append(size)

    def RawModule(self, **_options):  # noqa: N802 - CuPy's name
        return SimpleNamespace(get_function=lambda _name: lambda *given, **_shared: self.given.append(given))


def test_every_block_has_a_whole_number_of_sixteen_bytes_to_itself():
    cupy = Launches()
    runner = cuda.CudaRunner(cupy, {"MultiProcessorCount": 1, "MaxSharedMemoryPerBlockOptin": 64})
    for room in (16, 17):
        runner.run("lof_flags", 3, 33, room, [])
    assert [given[2][1] for given in cupy.given] == [16, 32]
    assert cupy.rooms == [3 * 16, 3 * 32]


class Broken(HostRunner):
    """A device that stops in the middle."""

    def __init__(self):
        self.shared_bytes = 2**17

    def run(self, *_given):
        raise MemoryError


def test_a_gpu_that_stops_leaves_the_answer_to_the_processor(monkeypatch):
    monkeypatch.setattr(device_choice, "_checked", lambda _name: Broken())
    said = []
    with warned(said.append):
        for settings in ({}, {"top": 2}):
            expected = question(**settings, device="cpu").run(rows(), SeededEntropy(3))
            assert question(**settings, device="gpu").run(rows(), SeededEntropy(3)) == expected
    assert said == ["The GPU stopped (MemoryError); the processor goes on, to the same answer."] * 2


class Wrong(HostRunner):
    """A device that turns one flag over."""

    def get(self, array):
        changed = np.array(array)
        changed[-1] ^= 1
        return changed


@needs_compiler
def test_a_gpu_is_tried_before_it_is_used(monkeypatch, runner):
    assert [differs(runner, name) for name in ("lof", "grubbs", "histogram")] == [0, 0, 0]
    liar = Wrong.__new__(Wrong)
    liar.__dict__ = dict(runner.__dict__)
    monkeypatch.setattr(cuda, "find", lambda: liar)
    with pytest.raises(UsageError, match="decided 2 contexts of a made-up table otherwise than the processor"):
        question(device="gpu").prepare(rows(), SeededEntropy(1))
    monkeypatch.setattr(cuda, "find", Broken)
    with pytest.raises(UsageError, match=r"could not decide a made-up table \(MemoryError\)"):
        question(device="gpu").prepare(rows(), SeededEntropy(1))

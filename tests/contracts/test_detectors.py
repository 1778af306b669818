"""What every registered detector must keep to. `pytest tests/contracts -k NAME` runs it for one of them."""

from __future__ import annotations

import dataclasses
import random
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import wallflower.detectors
from tests.contracts.detectors import WRITTEN
from tests.explain.tables import PlainRows, declaration, every_valid, random_table, slow_validity, some_valid, view
from wallflower.detectors import Detector, detector
from wallflower.detectors.contexts import Fast, Robust
from wallflower.detectors.registry import kinds
from wallflower.errors import DeclarationError, UsageError
from wallflower.explain import Context
from wallflower.noise.entropy import SeededEntropy

ONE = Fraction(1)
ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(kinds("stands_out"))
EXTREME = [
    "0",
    "-1",
    "1",
    "2",
    "1/3",
    "1e-12",
    "1e-13",
    "1e-400",
    "1e12",
    "1e308",
    "1e400",
    "1" * 60,
    f"1/{10**40 + 1}",
]
SHAPE = (3, 2, 2)


@pytest.fixture(params=WRITTEN)
def one(request):
    return detector(request.param)


def tables(seed, *, count, spread=6):
    dice = random.Random(seed)
    for turn in range(count):
        table = random_table(dice, SHAPE, dice.choice([1, 2, 7, 30]), spread=spread)
        if turn % 2:
            table[0] = (*table[0][:-1], dice.choice([-1, 1]) * dice.randrange(spread, 4 * spread))
        yield table


@pytest.mark.parametrize("name", NAMES)
def test_it_is_listed_documented_and_named(name):
    assert any(text.startswith(f"{name}(") for text in WRITTEN), f"add {name}(...) to tests/contracts/detectors.py"
    for page in ("docs/explain.md", "CHANGELOG.md"):
        assert re.search(rf"`{name}[`(]", (ROOT / page).read_text(encoding="utf-8")), f"say `{name}(...)` in {page}"
    kind = kinds("stands_out")[name]
    full = re.search(
        r"^\*\*full\.\*\*.*?\n\n",
        (ROOT / "docs" / "explain.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE | re.DOTALL,
    )
    needs = full[0].partition("It needs ")[2].partition(". ")[0]
    assert (f"`{name}`" in needs) == hasattr(kind, "robustness"), "say in docs/explain.md which detectors `full` takes"
    assert kind.__name__ in wallflower.detectors.__all__, f"export {kind.__name__} from detectors/__init__.py"
    reference = (ROOT / "docs" / "reference" / "python.md").read_text(encoding="utf-8")
    assert f"### wf.detectors.{kind.__name__}\n" in reference, "make reference"
    tested = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "tests" / "detectors").glob("test_*.py"))
    assert re.search(rf"\b{kind.__name__}\(", tested), (
        f"hold {kind.__name__} to an oracle in tests/detectors/test_{name}.py"
    )
    assert dataclasses.is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    assert all(word in (kind.__doc__ or "") for word in (">>>", "stands out"))


def test_it_is_read_as_it_is_written(one):
    assert isinstance(one, Detector)
    assert detector(one.text) == one
    assert one.text in WRITTEN


@pytest.mark.parametrize("name", NAMES)
def test_any_setting_is_taken_or_refused_in_words(name):
    """Whatever number is written: a detector that answers, or exit 2. Nothing breaks later."""
    base = detector(next(text for text in WRITTEN if text.startswith(f"{name}(")))
    values = np.array([-4, 0, 1, 1, 2, 3, 40])
    for field in dataclasses.fields(base):
        for text in EXTREME:
            value = int(text) if field.type == "int" and text.lstrip("-").isdecimal() else text
            if field.type in ("bool", "int") and isinstance(value, str):
                continue
            try:
                made = dataclasses.replace(base, **{field.name: value})
                Context(record="asked", metric="y", by=("c0",), detector=made, epsilon=1).price(declaration((2,)))
            except (UsageError, DeclarationError):
                continue
            assert made.stands_out(values, 40, step=ONE) in (True, False)


def test_its_fast_path_is_its_definition_in_every_context(one):
    for table in tables(one.text, count=10):
        sight = view(table, SHAPE, least=random.Random(len(table)).choice([1, 4]))
        expected = slow_validity(sight, one)
        assert (every_valid(sight, one) == expected).all()
        assert (every_valid(sight, one, most=3) == expected).all()
        few = np.arange(sight.space.count)[::3]
        assert (some_valid(sight, one, few) == expected[few]).all()


def test_it_sees_values_and_not_their_order_or_place_in_a_table(one):
    dice = random.Random(3)
    for table in tables(one.text, count=4, spread=20):
        first = every_valid(view(table, SHAPE), one)
        mixed = [table[0], *dice.sample(table[1:], len(table) - 1)]
        assert (every_valid(view(mixed, SHAPE), one) == first).all()


def test_few_or_equal_values_have_an_answer(one):
    for values in ([5], [5, 5], [5] * 40, [4, 5], [-(2**52), 2**52]):
        held = np.array(values, dtype=np.int64)
        assert one.stands_out(held, int(held[-1]), step=ONE) in (True, False)
        if len(values) > 1 and len(set(values)) == 1:
            assert not one.stands_out(held, 5, step=ONE)  # nothing stands out among its equals


def test_a_question_is_priced_and_answered(one):
    table = [(1, 0, 0, 400), *random_table(random.Random(1), SHAPE, 200, spread=20)]
    rows = PlainRows(declaration(SHAPE), tuple(table), 0)
    question = Context(record="asked", metric="y", by=("c0", "c1", "c2"), detector=one, epsilon=1)
    assert one.text in question.price(rows.declaration).guarantee.holds_when
    assert question.run(rows, SeededEntropy(1)) is not None


def test_its_distance_to_flipping_moves_as_little_as_it_says_or_there_is_none(one):
    """Under full differential privacy: the score of every context, with any one row more."""
    if not isinstance(one, Robust):
        with pytest.raises(UsageError, match="guarantee 'full' cannot use"):
            Context(record="asked", metric="y", by=("c0",), detector=one, epsilon=1, guarantee="full")
        return
    try:
        said = one.robustness(3)
    except UsageError:
        return
    for table in tables(one.text, count=4):
        before = full_scores(one, table)
        assert ((before > 0) <= every_valid(view(table, SHAPE, least=3), one)).all()
        for row in random_table(random.Random(5), SHAPE, 12, spread=30):
            moved = full_scores(one, [*table, row]) - before
            assert np.abs(moved).max() <= said.unit
            assert not said.monotone or (moved >= 0).all() or (moved <= 0).all()


def full_scores(one, table):
    sight = view(table, SHAPE, least=3, lower=-60, upper=60)
    scorer = one.scorer(sight, 50)
    return np.concatenate([scorer.scores(block) for block in sight.blocks()])


def test_every_fast_path_loads_its_kernels_when_asked_and_not_before():
    code = "import sys, wallflower.detectors as d; d.detector('lof()'); print('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
    assert all(issubclass(kinds("stands_out")[name], Fast) for name in NAMES)

"""Publications made in regions: the same wherever regions are grouped, and no wrong flag passes the judge who looks at the whole table."""

import pickle
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from tests.publish.spaces import category, number, space
from tests.publish.test_whole_publications import LETTERS, NAMES, caught

from wallflower.publish.anonymise import anonymise
from wallflower.publish.checker import Checker
from wallflower.publish.diversity import Demands
from wallflower.publish.matching_groups import MatchingGrouper
from wallflower.publish.regions import RegionWork, in_turn, parted, run_over
from wallflower.publish.worlds import Worlds

LEVELS = {"matching": "shed", "matching+candidate": "shed", "candidate": "hybrid", "strict": "expc", "attack": "hybrid"}


@pytest.fixture(scope="module")
def checker():
    rng = np.random.default_rng(3)
    where = space(
        [category("letter", LETTERS, NAMES), number("age", 30)], [number("pay", 20, role="sensitive")], p="4/5", d="2/5"
    )
    places = np.column_stack([rng.choice(6, 300), rng.binomial(30, 0.3, 300), rng.binomial(20, 0.4, 300)])
    return Checker(where, np.ascontiguousarray(places[np.lexsort(places.T[::-1])]).astype(np.int64))


def carried(thing):
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - bytes that were made here


def elsewhere(work, regions):
    """Other machines, in another order: each gets bytes, makes everything else anew, and sends bytes back."""
    assert len(pickle.dumps(work)) < 2 * work.places.nbytes + 20_000  # rows and question, no index
    found = {n: carried(carried(work)(carried(regions[n]))) for n in reversed(range(len(regions)))}
    return [found[n] for n in range(len(regions))]


def written(grouping):
    groups = [(g.rows.tolist(), g.low.tolist(), g.high.tolist()) for g in grouping.groups]
    return groups, grouping.suppressed.tolist(), grouping.sensitive_outliers


@pytest.mark.parametrize(("level", "method"), LEVELS.items())
def test_it_does_not_matter_where_regions_are_grouped(checker, level, method):
    asked = {"level": level, "k": 4, "method": method, "regions": 3}
    here = anonymise(checker, **asked, run=in_turn)
    assert here.published > 100
    assert written(anonymise(Checker(checker.space, checker.places), **asked, run=elsewhere)) == written(here)


@pytest.mark.parametrize(
    "ends", [(0, 0), (0, 255), (0, 256), (0, 2**16), (0, 2**32), (0, 2**62), (-1, 2**62), (-200, 7)]
)
def test_rows_travel_in_few_bytes_and_arrive_as_they_were(checker, ends):
    places = np.ascontiguousarray(np.tile(checker.places, (50, 1)))
    places[:2, 2] = ends
    asked = {"level": "matching", "k": 4, "method": "shed", "least": 4, "demands": Demands()}
    work = RegionWork(space=checker.space, places=places, **asked)
    there = carried(work).places
    assert there.dtype == np.int64
    assert there.flags.c_contiguous
    assert np.array_equal(there, places)
    wide = 1 if ends in ((0, 0), (0, 255)) else 2 if ends == (0, 256) else 4 if ends == (0, 2**16) else 8
    assert len(pickle.dumps(work)) < len(places) * (2 + wide) + 20_000


def test_regions_go_to_the_executors_of_the_rows_and_nowhere_else():
    sent = SimpleNamespace(run=lambda task, payloads: [("sent", task, each) for each in payloads])
    assert run_over(SimpleNamespace()) is in_turn
    assert run_over(SimpleNamespace(executors=sent))("work", [1, 2]) == [("sent", "work", 1), ("sent", "work", 2)]


def test_one_region_is_the_whole_table_and_sent_nowhere(checker):
    def nowhere(*_):
        raise AssertionError

    asked = {"level": "matching", "k": 4, "method": "shed"}
    assert written(anonymise(checker, **asked, regions=1, run=nowhere)) == written(anonymise(checker, **asked))


@pytest.mark.parametrize("level", ["matching", "candidate"])
def test_regions_part_the_rows_and_never_are_more_than_asked_for(checker, level):
    asked = {"level": level, "k": 4, "method": LEVELS[level], "least": 4, "demands": Demands()}
    grouper = RegionWork.on(checker, **asked).grouper
    counts = []
    for many in (1, 2, 3, 4, 5, 6, 7, 9, 40, 500):
        parts = parted(np.arange(len(checker.places)), many, grouper.pieces)
        assert sorted(np.concatenate(parts).tolist()) == list(range(len(checker.places)))
        assert all((np.diff(part) > 0).all() for part in parts)
        assert len(parts) <= many
        counts.append(len(parts))
    assert counts == sorted(counts)
    assert counts[1:4] == [2, 3, 4]


def test_what_was_laid_out_is_used_again_only_for_the_very_same_question(checker):
    asked = {"level": "matching", "k": 4, "method": "shed", "least": 4, "demands": Demands()}
    work = RegionWork.on(checker, **asked)
    assert work.shop is work.known
    other = replace(checker.space, p=checker.space.p / 2)
    for changes in (
        {"space": other},
        {"places": checker.places.copy()},
        {"k": 5},
        {"demands": Demands(entropy=Fraction(2))},
    ):
        changed = replace(work, **changes)
        assert changed.shop is not work.known
        made = {**vars(changed.shop), **vars(changed.shop.checker)}
        assert all(made[name] is value or made[name] == value for name, value in changes.items())


# --- planted bugs: the judge, who knows the whole table, notices each ---


def flags_of_the_region(work, regions):
    """Who is an outlier is asked of the region's own rows."""
    found = []
    for region in regions:
        alone = replace(work, places=np.ascontiguousarray(work.places[region]), flags=None)
        groups, left = alone(np.arange(len(region)))
        found.append(([replace(group, rows=region[group.rows]) for group in groups], region[left]))
    return found


def left_over_rows_are_lost(work, regions):
    return [(groups, left[:0]) for groups, left in in_turn(work, regions)]


def a_row_is_published_twice(work, regions):
    return [(groups, np.arange(len(work.places))) for groups, _ in in_turn(work, regions)]


@pytest.mark.parametrize("level", ["matching", "candidate"])
def test_the_judge_notices_in_regions(level):
    assert not caught(level, regions=2)
    for bug in (flags_of_the_region, left_over_rows_are_lost, a_row_is_published_twice):
        assert caught(level, regions=2, run=bug), bug.__name__


def test_the_judge_notices_rows_that_join_a_group_of_another_region_untested(monkeypatch):
    def joined(self, members, row, *, least, known=None):
        return self.members(np.sort(np.append(members.rows, row)))

    monkeypatch.setattr(MatchingGrouper, "_still", lambda *_: True)
    again = MatchingGrouper.again

    def careless(self, groups, left):
        with monkeypatch.context() as patched:
            patched.setattr(Worlds, "joined", joined)
            return again(self, groups, left)

    monkeypatch.setattr(MatchingGrouper, "again", careless)
    assert caught("matching", regions=3)

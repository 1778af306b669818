"""The paper's Theorems 4.1, 5.1 and 6.2 are false: the smallest known instances, kept as regressions."""

from itertools import combinations, permutations

import numpy as np
import pytest
from tests.publish import brute
from tests.publish.brute_worlds import Group
from tests.publish.spaces import number, space

from wallflower.privacy.guarantees import PlainKAnonymity
from wallflower.publish.anonymise import anonymise
from wallflower.publish.attacks import attack
from wallflower.publish.checker import Checker
from wallflower.publish.levels import NOT_PROMISED, meaning
from wallflower.publish.published_file import PublishedGroup


def test_theorem_4_1_is_false_a_distance_constrained_tuple_between_bad_corners_need_not_be_an_outlier():
    where = space([number("q", 10)], [number("s", 1, role="sensitive")], p="0.45", d="0.55")
    places = np.array([[v, 0] for v in [0] * 5 + [2, 8] + [10] * 5])
    low, high, o = np.array([2]), np.array([8]), [5, 0]
    assert brute.distance_constrained(places, [0], o, low, high)
    checker = Checker(where, places)
    assert not checker.normal(np.array([[2, 0], [8, 0]])).any()  # both corners are outliers
    assert checker.normal(np.array([o])).all()  # and o, which the theorem says must then exist as one, is not
    assert brute.near(where, places, o) == 12


GENUINE = np.array([[20, 0], [12, 15], [12, 10], [4, 20], [4, 10], [0, 10], [0, 20], [0, 15]])
ALL_OUT = np.array([[0, 0]] * 4 + [[2, 0]] * 3 + [[2, 1]])


@pytest.mark.parametrize(
    ("places", "lasts", "p", "d", "k", "rows"),
    [(GENUINE, (20, 20), "0.75", "0.505", 2, [0]), (ALL_OUT, (2, 2), "0.5", "0.95", 2, range(8))],
    ids=["a genuine multi-attribute outlier", "all rows are multi-attribute outliers"],
)
def test_theorem_6_2_is_false_some_multi_attribute_outliers_are_in_no_plain_group(places, lasts, p, d, k, rows):
    where = space([number("q", lasts[0])], [number("s", lasts[1], role="sensitive")], p=p, d=d)
    checker = Checker(where, places)
    assert checker.outlying[list(rows)].all()
    assert not checker.outlying_by_value[list(rows)].any()
    for row in rows:
        others = [i for i in range(len(places)) if i != row]
        for size in range(len(places)):
            for rest in combinations(others, size):
                group = places[[row, *rest]]
                if len(np.unique(group[:, 1])) < k:
                    continue
                low, high = group[:, :1].min(axis=0), group[:, :1].max(axis=0)
                assert not checker.plain("strict", low, high, group[:, 1:])


def test_theorem_5_1_is_not_sound_a_strictly_plain_group_in_which_everybody_is_an_outlier():
    """Corners are normal, real people are not: that the group holds outliers, and who, is certain."""
    axes = [number("x", 200), number("y", 200)]
    where = space(axes, [number("s", 100, role="sensitive")], p="0.8", d="0.2")
    crowd = [[x, y, 50] for x in (10, 190) for y in (10, 190)] * 10
    people = [[100, 20, 50], [100, 180, 51], [20, 100, 52], [180, 100, 53]]
    places = np.array(crowd + people)
    checker = Checker(where, places)
    members = places[40:]
    low, high, values = members[:, :2].min(axis=0), members[:, :2].max(axis=0), members[:, 2:]
    assert checker.plain("strict", low, high, values)
    assert len(checker.inside(low, high)) == 4
    assert checker.outlying[40:].all()
    assert not checker.plain("candidate", low, high, values)
    found = attack(checker, [PublishedGroup(low, high, values)])
    assert (found.abnormal_people, found.abnormal_values) == (4, 4)
    assert not found.leaks  # the paper's own attacks do not see it
    assert found.succeeded


def test_possible_values_are_by_the_table_as_it_is_and_flags_worked_out_anew_can_exclude_some():
    """What level `matching` does not promise: handing the lines out otherwise makes another table, and flags of that one may differ."""
    where = space([number("q", 2)], [number("s", 2, role="sensitive")], p="2/3", d="1")
    places = np.array([[0, 0], [1, 0], [1, 2], [2, 0]])
    grouping = anonymise(Checker(where, places), level="matching", k=2, method="shed", least=2)
    (group,) = grouping.groups
    assert group.rows.tolist() == [0, 1, 2, 3]
    assert [values for (values,) in _distinct(Group(where, places, range(4)).possible())] == [{0, 2}] * 4
    flags = [brute.outlier(where, places, row) for row in places.tolist()]
    anew = [set() for _ in places]
    for handed in set(permutations(places[:, 1].tolist())):
        table = np.column_stack([places[:, 0], handed])
        if [brute.outlier(where, table, row) for row in table.tolist()] == flags:
            for values, value in zip(anew, handed, strict=True):
                values.add(value)
    assert anew == [{0}, {0, 2}, {0, 2}, {0}]
    promised = PlainKAnonymity(k=2, p=where.p, d=where.d, level="matching", possible_values=2).sentence
    for said in (meaning("matching", least=2), promised):
        assert "by the table as it is" in said
    assert "works out anew" in NOT_PROMISED
    assert "works out anew" in promised
    found = attack(Checker(where, places), [PublishedGroup(group.low, group.high, places[:, 1:])])
    assert not found.succeeded  # the attack does not work flags out anew, and says that it does not
    said = dict(found.lines())
    told = "at least 2 each, by the table as it is; likeliest value at most 0.75; no outlier is published"
    assert said["possible values"] == told
    assert "flags worked out anew" in said["verdict"]


def _distinct(possible):
    """The values of each column, for each member."""
    return [[{value[a] for value in values} for a in range(1)] for values in possible]

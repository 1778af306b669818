"""The packing numbers: the two kissing configurations that touch are excluded by exact arithmetic, and the table is what it says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from wallflower.count.sensitivity import packing

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
ROOTS = {
    8: (-1, -HALF, -HALF, 0, 0, HALF),
    24: (-1, -HALF, -HALF, -QUARTER, -QUARTER, 0, 0, QUARTER, QUARTER, HALF),
}


def gegenbauer(dimension, degree):
    """P_0 … P_degree of the sphere in this many dimensions, each with P(1) = 1, as coefficients from the constant up."""
    found = [[Fraction(1)], [Fraction(0), Fraction(1)]]
    for k in range(2, degree + 1):
        shifted = [Fraction(0), *found[k - 1]]
        before = found[k - 2] + [Fraction(0)] * (len(shifted) - len(found[k - 2]))
        found.append(
            [
                ((2 * k + dimension - 4) * a - (k - 1) * b) / (k + dimension - 3)
                for a, b in zip(shifted, before, strict=True)
            ]
        )
    return found


def product(roots):
    found = [Fraction(1)]
    for root in roots:
        found = [a - root * b for a, b in zip([0, *found], [*found, 0], strict=True)]
    return found


def at(polynomial, t):
    return sum(coefficient * t**power for power, coefficient in enumerate(polynomial))


def expansion(dimension, polynomial):
    basis, left, found = gegenbauer(dimension, len(polynomial) - 1), list(polynomial), [Fraction(0)] * len(polynomial)
    for k in range(len(polynomial) - 1, -1, -1):
        found[k] = left[k] / basis[k][k]
        left = [a - found[k] * b for a, b in zip(left, basis[k] + [0] * (len(left) - len(basis[k])), strict=True)]
    return found


def solutions(rows):
    """Gauss on an augmented matrix: None where there is no solution, else the only one."""
    rows, place = [list(row) for row in rows], 0
    width = len(rows[0]) - 1
    for column in range(width):
        pivot = next(i for i in range(place, len(rows)) if rows[i][column])
        rows[place], rows[pivot] = rows[pivot], rows[place]
        rows[place] = [value / rows[place][column] for value in rows[place]]
        for i, row in enumerate(rows):
            if i != place:
                rows[i] = [value - row[column] * pivoted for value, pivoted in zip(row, rows[place], strict=True)]
        place += 1
    if any(row[width] for row in rows[place:]):
        return None
    return [row[width] for row in rows[:place]]


@pytest.mark.parametrize(("dimension", "kissing"), [(8, 240), (24, 196_560)])
def test_points_further_apart_than_the_radius_are_fewer_than_touching_ones(dimension, kissing):
    polynomial = product(ROOTS[dimension])
    coefficients = expansion(dimension, polynomial)
    assert min(coefficients) >= 0
    assert coefficients[0] > 0
    assert at(polynomial, 1) / coefficients[0] == kissing
    # With that many points every product is a root, and ½ is not among them; the numbers of points at each product of one of
    # them with the others would then solve these equations.
    products = sorted({Fraction(root) for root in ROOTS[dimension]} - {HALF})
    basis = gegenbauer(dimension, len(polynomial) - 1)
    equations = [[Fraction(1)] * len(products) + [Fraction(kissing - 1)]]
    equations += [
        [at(basis[i], t) for t in products] + [Fraction(-1)] for i in range(1, len(polynomial)) if coefficients[i] > 0
    ]
    found = solutions(equations)
    assert found is None or any(number < 0 or number.denominator > 1 for number in found)
    assert packing(dimension) == kissing - 1


@pytest.mark.parametrize(("dimension", "kissing"), [(8, 240), (24, 196_560)])
def test_where_touching_is_allowed_the_equations_have_the_known_solution(dimension, kissing):
    """The same arithmetic finds the lattices: 56, 126, 56, 1 neighbours of a root of E8."""
    polynomial, products = product(ROOTS[dimension]), sorted({Fraction(root) for root in ROOTS[dimension]})
    basis = gegenbauer(dimension, len(polynomial) - 1)
    equations = [[Fraction(1)] * len(products) + [Fraction(kissing - 1)]]
    equations += [[at(basis[i], t) for t in products] + [Fraction(-1)] for i in range(1, len(polynomial))]
    found = solutions(equations)
    assert found is not None
    assert all(number >= 0 and number.denominator == 1 for number in found)
    if dimension == 8:
        assert found == [1, 56, 126, 56]


def test_the_table_grows_and_meets_the_bound_by_caps():
    table = [packing(dimension) for dimension in range(1, 31)]
    assert table == sorted(table)
    assert table[23] < table[24]
    assert (packing(14), packing(20)) == (3183, 36_764)

"""Small spaces for tests, without a declaration file."""

from fractions import Fraction

from wallflower.publish.space import Axis, Space
from wallflower.schema.declaration import Column
from wallflower.schema.domains import Categories, Numbers
from wallflower.schema.hierarchy import nested


def number(name, last, *, weight=1, role="quasi-identifier"):
    domain = Numbers(lower=Fraction(0), upper=Fraction(last), step=Fraction(1))
    return Axis(column=Column(name=name, role=role, domain=domain), domain=domain, tree=None, weight=Fraction(weight))


def category(name, hierarchy, values, *, weight=1, role="quasi-identifier"):
    domain = Categories(tuple(values))
    tree = None if hierarchy == "ordered" else nested(hierarchy, values, column=name)
    return Axis(column=Column(name=name, role=role, domain=domain), domain=domain, tree=tree, weight=Fraction(weight))


def space(quasi, sensitive, *, p, d):
    return Space(quasi=tuple(quasi), sensitive=tuple(sensitive), p=Fraction(p), d=Fraction(d))

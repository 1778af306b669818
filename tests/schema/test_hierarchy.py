"""Taxonomies: coverage and nesting are checked, every node is an interval that holds its leaves."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wallflower.errors import DeclarationError
from wallflower.schema.hierarchy import arx, difference, nested, taxonomy

COUNTRIES = ["USA", "Canada", "Brazil", "Japan", "China"]
ARX = [
    ["USA", "North America", "America", "*"],
    ["Canada", "North America", "America", "*"],
    ["Japan", "Asia", "Asia", "*"],
    ["Brazil", "South America", "America", "*"],
    ["China", "Asia", "Asia", "*"],
]


def test_an_arx_file_is_read_unchanged(tmp_path):
    (tmp_path / "country.csv").write_text("\n".join(";".join(line) for line in ARX) + "\n")
    tree = taxonomy("country.csv", COUNTRIES, column="country", folder=tmp_path)
    assert tree.leaves == ("USA", "Canada", "Brazil", "Japan", "China")
    assert tree.text(0, 1) == "North America"
    assert tree.text(0, 2) == "America"
    assert tree.text(3, 4) == "Asia"
    assert tree.text(1, 3) == "*"
    assert tree.text(2, 2) == "Brazil"


def test_nested_toml_says_the_same():
    tree = nested(
        {"America": {"North America": ["USA", "Canada"], "South America": ["Brazil"]}, "Asia": ["Japan", "China"]},
        COUNTRIES,
        column="country",
    )
    assert tree == arx(ARX, COUNTRIES, column="country")


def test_without_a_hierarchy_everything_is_under_one_root():
    tree = taxonomy(None, ["F", "M"], column="sex", folder=None)
    assert (tree.text(0, 0), tree.text(0, 1)) == ("F", "*")


def test_one_value_is_its_own_tree():
    tree = taxonomy(None, ["only"], column="c", folder=None)
    assert (tree.size, tree.text(0, 0)) == (1, "only")


def test_ordered_has_no_tree():
    assert taxonomy("ordered", ["a", "b"], column="c", folder=None) is None


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ([["a", "X", "*"], ["b", "X", "+"]], "not nested"),
        ([["a", "X"], ["b"]], "levels"),
        ([["a", "X"], ["a", "X"], ["b", "X"]], "twice"),
        ([["a", "X"]], "does not cover"),
        ([["a", "X"], ["b", "X"], ["c", "X"]], "not a declared value"),
        ([["a", "b", "*"], ["b", "c", "*"]], "uses|nested|two"),
        ([], "empty"),
    ],
)
def test_a_wrong_hierarchy_is_refused_by_name(lines, words):
    if words == "uses|nested|two":
        # 'b' is a leaf and, one level up, the name of {a}: with one child the inner node is the leaf, so this is fine
        assert arx(lines, ["a", "b"], column="letters").leaves == ("a", "b")
        return
    with pytest.raises(DeclarationError, match=words):
        arx(lines, ["a", "b"], column="letters")


def test_one_label_for_two_sets_is_refused():
    with pytest.raises(DeclarationError, match="two different sets"):
        nested({"X": ["a", "b"], "Y": {"X": ["c", "d"], "Z": ["e", "f"]}}, list("abcdef"), column="c")


@pytest.mark.parametrize("wrong", [{}, [], "a.toml.missing", {"X": []}, {"X": [1, 2]}, 7])
def test_what_is_no_tree_is_refused(wrong, tmp_path):
    with pytest.raises(DeclarationError, match="hierarchy of column"):
        taxonomy(wrong, ["a"], column="c", folder=tmp_path)


trees = st.recursive(st.none(), lambda inner: st.lists(inner, min_size=1, max_size=4), max_leaves=12)


@given(trees.filter(bool))
def test_every_node_covers_its_leaves_and_siblings_are_disjoint(shape):
    names = iter(range(1000))

    def toml(node):
        if all(child is None for child in node):
            return [f"leaf{next(names)}" for _ in node]
        return {f"node{next(names)}": toml(child if child is not None else [None]) for child in node}

    def leaves(node):
        return node if isinstance(node, list) else [leaf for child in node.values() for leaf in leaves(child)]

    hierarchy = toml(shape)
    values = sorted(leaves(hierarchy))
    tree = nested(hierarchy, values, column="c")
    assert sorted(tree.leaves) == values
    for low in range(tree.size):
        for high in range(low, tree.size):
            node = tree.cover(low, high)
            assert tree.low[node] <= low <= high <= tree.high[node]
            for other in range(len(tree.labels)):
                if tree.low[other] <= low and high <= tree.high[other]:
                    assert tree.high[node] - tree.low[node] <= tree.high[other] - tree.low[other]
    for a in range(len(tree.labels)):
        for b in range(len(tree.labels)):
            overlap = tree.low[a] <= tree.high[b] and tree.low[b] <= tree.high[a]
            inside = (tree.low[a] <= tree.low[b] and tree.high[b] <= tree.high[a]) or (
                tree.low[b] <= tree.low[a] and tree.high[a] <= tree.high[b]
            )
            assert inside or not overlap


@pytest.mark.parametrize("written", [{"A": ["x", "y"], "B": ["w"]}, "tree.csv"])
def test_what_differs_from_the_declared_values_is_named_on_its_side(tmp_path, written):
    (tmp_path / "tree.csv").write_text("x;A\ny;A\nw;B\n")
    found = difference(written, ["x", "y", "z"], column="c", folder=tmp_path)
    assert (found.uncovered, found.undeclared) == (("z",), ("w",))
    alike = difference(written, ["x", "y", "w"], column="c", folder=tmp_path)
    assert (alike.uncovered, alike.undeclared) == ((), ())

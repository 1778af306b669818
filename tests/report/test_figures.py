"""Names of columns and values are drawn as they are."""

from __future__ import annotations

import pytest

from wallflower.report.figures import draw

NAMES = (r"$\input{x}$", "$x$", "$", r"\frac", "a_b^c", "<b>&", "%", "{", "\x07", "é ∑")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_labels_any_part_of_a_picture(name):
    def paint(axes):
        axes.plot([0, 1], [1, 2], label=name)
        axes.set_xticks([0, 1], [name, "one"])
        axes.text(0.5, 1.5, name)
        axes.set_title(name)
        axes.legend(title=name)

    picture = draw(paint, x=name, y=f"{name} (rows)", caption=name, alt=name)
    assert picture.svg.startswith("<svg")


def test_a_dollar_stays_a_dollar():
    assert "price ($)" in draw(lambda axes: axes.plot([1], [1]), x="price ($)", y="$x$", caption="", alt="").svg


def test_no_name_reaches_tex_whatever_the_users_own_style_says():
    mpl = pytest.importorskip("matplotlib")
    with mpl.rc_context({"text.usetex": True}):
        for name in NAMES:
            test_any_name_labels_any_part_of_a_picture(name)

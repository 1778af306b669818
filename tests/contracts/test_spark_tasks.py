"""Tasks on Spark's executors: in order, refused where other code is installed, and silent about what they were given."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import factorial
from operator import add

import pytest

from tests.servers import spark
from wallflower.engines import same_code
from wallflower.engines.same_code import Installed, compare, installed
from wallflower.engines.spark import tasks
from wallflower.errors import DeclarationError, ReleaseFailed

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::FutureWarning:pyspark")]


def test_answers_come_in_the_order_of_the_payloads():
    session = spark.session()
    tasks.check(session)
    assert tasks.run(session, factorial, list(range(9, 0, -1))) == [factorial(n) for n in range(9, 0, -1)]
    assert tasks.run(session, partial(add, "all share this, "), ["each", "its own"]) == [
        "all share this, each",
        "all share this, its own",
    ]
    assert tasks.run(session, factorial, []) == []


def test_what_a_task_fails_on_is_not_told(capfd):
    with pytest.raises(ReleaseFailed) as caught:
        tasks.run(spark.session(), factorial, [3, "canary-6120"])
    assert "canary-6120" not in str(caught.value) + repr(caught.value)
    assert caught.value.__context__ is None
    with pytest.raises(TypeError, match="str"):
        factorial("canary-6120")
    captured = capfd.readouterr()
    assert "canary-6120" not in captured.out + captured.err


def test_other_code_on_an_executor_is_refused_before_the_charge(monkeypatch):
    session, here = spark.session(), installed()
    compare([here, here])
    with pytest.raises(DeclarationError, match=r"an executor has Wallflower 0\.0\.1, and this process"):
        compare([here, Installed("0.0.1", here.digest)])
    monkeypatch.setattr(same_code, "installed", lambda: replace(here, digest="other"))
    with pytest.raises(DeclarationError, match="an executor has other files of Wallflower"):
        tasks.check(session)


def test_every_task_looks_at_the_code_again(monkeypatch):
    monkeypatch.setattr(tasks, "installed", lambda: replace(installed(), digest="other"))
    with pytest.raises(ReleaseFailed):
        tasks.run(spark.session(), factorial, [1])


def test_executors_without_the_package_are_refused_before_the_charge(monkeypatch):
    def gone(*_):
        raise ModuleNotFoundError("No module named 'wallflower'")

    monkeypatch.setattr(tasks, "_run", gone)
    with pytest.raises(DeclarationError, match="the executors cannot run Wallflower"):
        tasks.check(spark.session())

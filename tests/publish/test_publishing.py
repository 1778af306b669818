"""Publishing end to end: what is written, in which order, and what is refused."""

import csv
import json
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import wallflower as wf
from wallflower.cli.app import run
from wallflower.engines import from_frame
from wallflower.ledger import Ledger
from wallflower.mechanisms.shuffle import shuffled
from wallflower.noise.entropy import SeededEntropy
from wallflower.publish import PlainTable
from wallflower.publish.cells import quoted, unquoted
from wallflower.publish.diversity import Demands
from wallflower.publish.published_file import texts
from wallflower.publish.queries import EMPTY
from wallflower.publish.space import space_of
from wallflower.schema import load, loads

TABLE = """
[table]
id = "people"
source = "people.csv"
key = "name"
unit = "row"
neighbours = "add-remove"
max_rows = 5000
reviewed = true
test = false
ledger = "people.ledger"

[budget.plain-k-anonymity]
publications = 1

[columns.name]
role = "identifier"

[columns.age]
role = "quasi-identifier"
lower = 0
upper = 100
step = 1
outside = "clip"
missing = "drop"

[columns.country]
role = "quasi-identifier"
values = ["USA", "Canada", "Brazil", "Japan", "China"]
hierarchy = {America = ["USA", "Canada", "Brazil"], Asia = ["Japan", "China"]}
outside = "drop"
missing = "drop"

[columns.income]
role = "sensitive"
lower = 0
upper = 200
step = 1
outside = "clip"
missing = "drop"

[columns.shoe]
role = "insensitive"
lower = 30
upper = 50
step = 1
outside = "clip"
missing = "drop"
"""


def people(count=600, seed=1):
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 70, count)
    country = rng.choice(["USA", "Canada", "Brazil", "Japan", "China"], count, p=[0.5, 0.2, 0.1, 0.1, 0.1])
    income = np.clip(rng.normal(60, 25, count), 0, 200).astype(int)
    shoe = rng.integers(35, 47, count)
    return [
        (f"person {i}", int(a), c, int(s), int(z))
        for i, (a, c, s, z) in enumerate(zip(age, country, income, shoe, strict=True))
    ]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.toml").write_text(TABLE)
    lines = ["name,age,country,income,shoe", *(",".join(map(str, row)) for row in people())]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    Ledger.init(load(tmp_path / "people.toml"))
    return tmp_path


def question(folder, **changes):
    choices = {"out": str(folder / "out.csv"), "k": 5, "p": "0.9", "d": "0.5"} | changes
    return PlainTable.of(load(folder / "people.toml"), **choices)


@pytest.mark.parametrize("level", ["matching", "matching+candidate", "candidate", "strict", "attack"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_every_published_row_is_a_generalised_original_and_every_group_has_k_values(folder, level, suffix):
    session = wf.open(folder / "people.toml")
    release = session.release(question(folder, level=level, out=str(folder / f"out.{suffix}"), groups=True))
    table = texts(folder / f"out.{suffix}")
    assert list(table) == ["age", "country", "income", "group"]
    assert release["file"] == f"out.{suffix}"
    assert release["rows"] == len(table["age"]) > 400
    assert "text" not in release.value
    # numbered as they appear, which is random: a number says nothing of how groups were formed
    assert list(dict.fromkeys(table["group"])) == [str(number + 1) for number in range(release["groups"])]
    space = space_of(load(folder / "people.toml"), p=1, d=1)
    originals = Counter(row[3] for row in people())
    published = Counter(int(v) for v in table["income"])
    assert not published - originals
    groups = defaultdict(list)
    for age, country, income, group in zip(*table.values(), strict=True):
        groups[group].append((space.quasi[0].read(age), space.quasi[1].read(country), int(income)))
    rows = [(a, space.quasi[1].tree.position(c), i) for _, a, c, i, _ in people()]
    for members in groups.values():
        assert len({m[:2] for m in members}) == 1
        assert len({m[2] for m in members}) >= 5
        (low, high), (first, last) = members[0][:2]
        inside = Counter(i for a, c, i in rows if low <= a <= high and first <= c <= last)
        assert not Counter(m[2] for m in members) - inside


def test_the_order_is_not_the_original_one_and_the_grouping_does_not_depend_on_it(folder):
    declaration = loads(TABLE, folder=folder)
    frame = pd.DataFrame(people(), columns=["name", "age", "country", "income", "shoe"])
    texts = []
    for rows, seed in ((frame, 1), (frame.iloc[::-1], 2), (frame.sample(frac=1, random_state=3), 1)):
        query = PlainTable.of(declaration, out=str(folder / "o.csv"), k=5, p="0.9", d="0.5")
        with from_frame(rows, declaration).rows(query.columns) as view:
            answer = query.run(view, SeededEntropy(seed))
        texts.append(answer.content.decode().splitlines())
    assert sorted(texts[0]) == sorted(texts[1])
    assert texts[0] != texts[1]
    assert texts[0] == texts[2]


def test_an_empty_publication_warns_and_says_so(folder):
    declaration = loads(TABLE, folder=folder)
    query = PlainTable.of(declaration, out=str(folder / "o.csv"), k=5, p="0.9", d="0.5")
    few = pd.DataFrame(people(4), columns=["name", "age", "country", "income", "shoe"])
    with from_frame(few, declaration).rows(query.columns) as view:
        answer = query.run(view, SeededEntropy(1))
    assert answer.warning == EMPTY
    assert answer.value == {"file": "o.csv", "rows": 0, "groups": 0, "text": EMPTY}
    assert answer.content == b"age,country,income\n"


def test_rows_are_grouped_as_it_was_asked(folder):
    declaration = loads(TABLE, folder=folder)
    query = question(
        folder,
        k=4,
        possible_values=3,
        entropy_diversity="2",
        recursive_c="3",
        recursive_l=2,
        closeness="0.4",
        regions=2,
    )
    few = pd.DataFrame(people(40), columns=["name", "age", "country", "income", "shoe"])
    with from_frame(few, declaration).rows(query.columns) as view:
        terms = query._publication(view).terms
    assert (terms.k, terms.least, terms.level, terms.method, terms.regions) == (4, 3, "matching", "shed", 2)
    assert terms.demands == Demands(entropy=Fraction(2), recursive=(Fraction(3), 2), closeness=Fraction(2, 5))


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "'"])
def test_no_cell_begins_a_formula(first):
    assert quoted(f"{first}1+1") == f"'{first}1+1"
    assert unquoted(quoted(f"{first}1+1")) == f"{first}1+1"


def test_a_second_publication_is_refused_until_the_owner_allows_it(folder):
    session = wf.open(folder / "people.toml")
    first = session.release(question(folder), request_id="june")
    assert session.release(question(folder), request_id="june").to_json() == first.to_json()
    before = (folder / "out.csv").read_bytes()
    with pytest.raises(wf.BudgetError):
        session.release(question(folder, k=6))
    assert (folder / "out.csv").read_bytes() == before


def test_identifiers_never_pass_and_insensitive_columns_only_by_name(folder):
    declaration = load(folder / "people.toml")
    with pytest.raises(wf.UsageError, match="identifier"):
        PlainTable(columns=("name", "age", "income"), out="o.csv", k=2, p="0.9", d="0.5").price(declaration)
    with pytest.raises(wf.UsageError, match="unchanged"):
        PlainTable(columns=("age", "income", "shoe"), out="o.csv", k=2, p="0.9", d="0.5").price(declaration)
    query = question(folder, unchanged=("shoe",))
    assert "shoe" in query.price(declaration).notes[-1]
    wf.open(folder / "people.toml").release(query)
    assert set(texts(folder / "out.csv")["shoe"]) <= {str(v) for v in range(30, 51)}
    assert "person" not in (folder / "out.csv").read_text()


@pytest.mark.parametrize(("whole", "ends"), [(0, wf.UsageError), (1, wf.ReleaseFailed)], ids=["made-up rows", "rows"])
def test_a_crash_while_writing_leaves_no_half_file(folder, monkeypatch, whole, ends):
    """And costs nothing where made-up rows cannot be written either."""

    class TornError(Exception):
        pass

    written, writer = [], csv.writer

    def tear(*arguments, **options):
        if len(written) == whole:
            raise TornError
        written.append(arguments)
        return writer(*arguments, **options)

    monkeypatch.setattr(csv, "writer", tear)
    session = wf.open(folder / "people.toml")
    with pytest.raises(ends):
        session.release(question(folder))
    assert not [p.name for p in folder.iterdir() if "out" in p.name]
    assert len([line for line in session.ledger.history() if line.kind == "charge"]) == whole


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"k": 0}, "'k'"),
        ({"p": "1.2"}, "'p'"),
        ({"d": 0}, "'d'"),
        ({"level": "loose"}, "level"),
        ({"method": "magic"}, "method"),
        ({"out": "table.txt"}, "publication ends"),
        ({"weights": {"ag": 1}}, "Did you mean 'age'"),
        ({"weights": {"age": 0}}, "nothing could be an outlier"),
        ({"out": "nowhere/at/all.csv"}, "cannot be written"),
    ],
)
def test_a_wrong_question_is_refused_before_any_row(folder, change, words):
    with pytest.raises((wf.UsageError, wf.DeclarationError), match=words):
        question(folder, **change).price(load(folder / "people.toml"))


def test_weights_are_asked_on_the_command_line_as_they_are_in_python(folder, capfd):
    asked = [
        "publish",
        str(folder / "people.toml"),
        "-o",
        str(folder / "out.csv"),
        "--k",
        "5",
        "--p",
        "0.9",
        "--d",
        "0.5",
    ]
    assert run([*asked, "--weights", "age = 2,income=1/2", "--dry-run", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)["price"]["settings"]
    assert told["weights"] == "age: 2, country: 0, income: 0.5"
    weighted = question(folder, weights={"age": 2, "income": "1/2"})
    assert told == wf.open(folder / "people.toml").price(weighted).settings
    for wrong in ("age", "age=1,age=5"):
        assert run([*asked, "--weights", wrong, "--dry-run"]) == 2
    assert "written COL=W, got 'age'" in " ".join(capfd.readouterr().err.split())


def test_a_publication_never_takes_the_place_of_the_tables_own_files(folder, monkeypatch):
    """It was put over the very rows that it was made of."""
    before = (folder / "people.csv").read_bytes()
    (folder / "there.csv").mkdir()
    (folder / "link.csv").symlink_to("people.csv")
    session = wf.open(folder / "people.toml")
    monkeypatch.chdir(folder)
    for out in (str(folder / "people.csv"), "people.csv", "there.csv/../people.csv", "link.csv", "there.csv"):
        with pytest.raises(wf.UsageError, match="no publication is put there"):
            session.release(question(folder, out=out), "one")
    assert (folder / "people.csv").read_bytes() == before
    session.release(question(folder), "one")
    with pytest.raises(wf.UsageError, match="no publication is put there"):
        session.release(question(folder, out="people.csv"), "one")  # nor by asking for the recorded one again
    assert (folder / "people.csv").read_bytes() == before
    (folder / "rows").mkdir()
    (folder / "people.csv").rename(folder / "rows" / "people.csv")
    (folder / "people.toml").write_text(TABLE.replace('"people.csv"', '"rows"'))
    with pytest.raises(wf.UsageError, match="would become one"):
        question(folder, out="rows/public.csv").price(load(folder / "people.toml"))


def test_the_command_line_publishes_reports_and_fails_to_attack(folder, capfd):
    declaration, out = str(folder / "people.toml"), str(folder / "public.csv")
    asked = ["publish", declaration, "-o", out, "--k", "5", "--p", "0.9", "--d", "0.5"]
    report = folder / "owner.html"
    assert run([*asked, "--json", "--owner-report", str(report)]) == 0
    answer = json.loads(capfd.readouterr().out)
    assert set(answer["release"]) == {"file", "rows", "groups", "sha256"}
    page = report.read_text()
    for words in (
        "NOT PRIVATE",
        "Risk before and after",
        "Information loss by column",
        "no method could publish",
        "What left",
        "<svg",
    ):
        assert words in page
    assert run(["attack", declaration, out, "--json"]) == 0
    told = capfd.readouterr()
    assert "looks at the rows without protection" in told.err
    found = json.loads(told.out)["not_private"]
    assert found["rows"] == answer["release"]["rows"]
    assert found["distinct_values"] >= 5
    assert not found["succeeded"]
    assert run(asked) == 3


def test_the_attacks_succeed_on_a_table_that_was_only_k_anonymised(folder, capfd):
    """What they are for: a file whose groups hold k values but hide nobody."""
    declaration = folder / "people.toml"
    lines = [
        "age,country,income",
        *(f'"[20, 69]",America,{income}' for income in range(40, 60)),
        *['"[20, 69]",America,200'] * 2,
    ]
    (folder / "naive.csv").write_text("\n".join(lines) + "\n")
    assert run(["attack", str(declaration), str(folder / "naive.csv"), "--p", "0.9", "--d", "0.5", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert told["ok"] is True
    found = told["not_private"]
    assert found["distinct_values"] == 21
    assert found["succeeded"]


def test_an_attack_needs_settings_and_a_readable_file(folder):
    declaration = str(folder / "people.toml")
    (folder / "odd.csv").write_text("age,country,income\n20,Atlantis,3\n")
    assert run(["attack", declaration, str(folder / "odd.csv")]) == 2
    assert run(["attack", declaration, str(folder / "odd.csv"), "--p", "0.9", "--d", "0.5"]) == 2
    assert run(["attack", declaration, str(folder / "none.csv"), "--p", "0.9", "--d", "0.5"]) == 2


def test_a_shuffle_is_uniform_and_a_biased_one_would_be_noticed():
    from scipy.stats import chisquare

    def fit(order):
        counts = Counter(tuple(order(SeededEntropy(seed))) for seed in range(6000))
        return chisquare([counts[o] for o in permutations(range(3))]).pvalue

    assert fit(lambda entropy: shuffled(3, entropy).tolist()) > 1e-6
    assert fit(lambda entropy: sorted(range(3), key=lambda _: entropy.bits(1))) < 1e-12


def test_equal_keys_are_drawn_again():
    class Stuck(SeededEntropy):
        calls = 0

        def block(self, count):
            self.calls += 1
            return bytes(count) if self.calls == 1 else super().block(count)

    entropy = Stuck(1)
    assert sorted(shuffled(5, entropy).tolist()) == list(range(5))
    assert entropy.calls == 2

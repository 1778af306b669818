"""The commands: what simulate prints and draws, refusals, and that no reading shows up anywhere."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from tests.stream import support
from wallflower.cli.app import run
from wallflower.cli.places import refuse_all_but_metrics
from wallflower.stream import parser
from wallflower.stream.metrics import Metric, write_metrics


@pytest.fixture
def stream_file(tmp_path):
    path = tmp_path / "pumps.toml"
    path.write_text(support.text(window=100))
    return path


def asked(capfd, *arguments):
    code = run(["stream", *map(str, arguments)])
    captured = capfd.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("protocol", ["private", "paper"])
def test_simulate_runs_everything_and_draws_it(tmp_path, capfd, protocol):
    file = tmp_path / "pumps.toml"
    file.write_text(support.text(protocol, window=200).replace("test = true", ""))
    code, out, _ = asked(
        capfd, "simulate", file, "--sensors", 2, "--readings", 900, "--picture", tmp_path / "p.html",
        "-o", tmp_path / "pumps.results", "--parquet", tmp_path / "r.parquet", "--json",
    )  # fmt: skip
    said = json.loads(out)
    assert code == 0
    assert said["ok"]
    assert (said["windows"], said["readings"]) == (10, 1800)
    assert said["private"] is False  # no book was kept and nothing left the process
    assert "ledger" not in said
    assert ("no DP towards the corrector" in said["trust"]) is (protocol == "paper")
    page = (tmp_path / "p.html").read_text()
    assert page.count("<svg") == 4
    assert "NOT PRIVATE" in page
    with closing(sqlite3.connect(tmp_path / "pumps.results")) as db:
        about = dict(db.execute("SELECT name, text FROM wallflower_streams").fetchall())
    with duckdb.connect() as db:
        counts = "SELECT count(*), count(DISTINCT (sensor, number, position)) FROM"
        assert db.execute(f"{counts} '{tmp_path / 'r.parquet'}'").fetchone() == (1800, 1800)
    assert json.loads(about["guarantee"])["family"] == "local-dp"
    assert asked(capfd, "simulate", file, "-o", tmp_path / "pumps.results")[0] == 2


@pytest.mark.parametrize("command", [("simulate",), ("analyst", "-o", "pumps.results")], ids=lambda c: c[0])
def test_a_parquet_file_replaces_nothing_else(tmp_path, stream_file, capfd, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "stays.ledger"
    kept.write_bytes(b"SQLite format 3\0")
    code, _, err = asked(capfd, command[0], stream_file, *command[1:], "--parquet", kept)
    assert code == 2
    assert "is no Parquet file" in err
    assert kept.read_bytes() == b"SQLite format 3\0"
    assert not (tmp_path / "pumps.results").exists()


@pytest.mark.parametrize(
    "command", [("sensor", "--data", "-", "--name", "s"), ("analyst", "-o", "pumps.results")], ids=lambda c: c[0]
)
def test_counts_replace_nothing_but_counts(tmp_path, stream_file, capfd, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "stays.ledger"
    kept.write_bytes(b"SQLite format 3\0")
    code, _, err = asked(capfd, command[0], stream_file, *command[1:], "--metrics", kept)
    assert code == 2
    assert "is no file of these counts" in err
    assert kept.read_bytes() == b"SQLite format 3\0"
    assert not (tmp_path / "pumps.results").exists()
    write_metrics(kept.with_suffix(".prom"), [Metric("wallflower_sensor_waiting", "Messages.", "gauge", (({}, 1),))])
    refuse_all_but_metrics(kept.with_suffix(".prom"))  # as the next start does


@pytest.mark.parametrize("option", ["--sensors", "--readings", "--periods", "--per-slot"])
@pytest.mark.parametrize("number", [0, 2**63 - 1, 2**63, 10**30])
def test_simulate_refuses_what_would_never_end_or_fit(stream_file, capfd, option, number):
    code, _, err = asked(capfd, "simulate", stream_file, option, number)
    assert code == 2
    assert f"'{option}'" in err


@pytest.mark.parametrize("protocol", ["private", "paper"])
@pytest.mark.parametrize("command", [("simulate",), ("sensor", "--data", "-", "--name", "s")], ids=lambda c: c[0])
def test_a_dry_run_refuses_a_detector_that_nobody_knows(stream_file, capfd, protocol, command):
    text = support.text(protocol, window=100)
    stream_file.write_text(text)
    assert asked(capfd, command[0], stream_file, *command[1:], "--dry-run")[0] == 0
    lines = [line for line in text.splitlines() if not line.startswith("detector")]
    stream_file.write_text("\n".join(lines).replace("[stream]", '[stream]\ndetector = "dbscann(radius=1)"'))
    code, _, err = asked(capfd, command[0], stream_file, *command[1:], "--dry-run")
    assert code == 2
    assert "no detector is called 'dbscann'" in err
    assert "dbscan" in err.split("dbscann", 1)[1]  # what was meant


@pytest.mark.parametrize(
    ("data", "more", "said"),
    [
        ("absent.csv", (), "there is no file"),
        ("readings.csv", (), "no column"),
        ("-", ("--password-file", "absent"), "password file"),
        ("-", ("--seed", "1"), "not a test"),
    ],
)
def test_a_refused_sensor_leaves_no_book(stream_file, capfd, tmp_path, monkeypatch, data, more, said):
    monkeypatch.chdir(tmp_path)
    stream_file.write_text(support.text(window=100).replace("test = true", ""))
    (tmp_path / "readings.csv").write_text("other\n1\n")
    before = sorted(tmp_path.iterdir())
    code, _, err = asked(capfd, "sensor", stream_file, "--data", data, "--name", "s", *more)
    assert code == 2
    assert said in err
    assert sorted(tmp_path.iterdir()) == before


def test_a_sensor_by_the_clock_that_is_refused_leaves_no_book(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clock.toml").write_text(support.clock_text())
    (tmp_path / "readings.csv").write_text("flow,pressure\n1,2\n")
    before = sorted(tmp_path.iterdir())
    wrong = ((("--rate", rate), "above 0 and at most") for rate in ("nan", "inf", "-inf", "-1", "0", "1e400", "1e-400"))
    for more, said in (((), "goes by the clock"), (("--rate", "5", "--start-over"), "--start-over belongs"), *wrong):
        code, _, err = asked(capfd, "sensor", "clock.toml", "--data", "readings.csv", "--name", "s", *more)
        assert code == 2
        assert said in err
    assert sorted(tmp_path.iterdir()) == before


def spaced(value):
    """Keys, at any depth, that are not one word."""
    if isinstance(value, list):
        return [key for each in value for key in spaced(each)]
    if not isinstance(value, dict):
        return []
    return [key for key in value if " " in key] + [key for each in value.values() for key in spaced(each)]


def test_every_key_of_the_json_is_one_word(tmp_path, capfd, stream_file):
    clock = tmp_path / "clock.toml"
    clock.write_text(support.clock_text())
    for file, how in ((stream_file, ("--readings", 100)), (clock, ("--periods", 1)), (stream_file, ("--dry-run",))):
        code, out, _ = asked(capfd, "simulate", file, *how, "--json")
        assert code == 0
        assert spaced(json.loads(out)) == []
    places = Path(parser.__file__).parent.glob("*.py")
    reasons = {
        why for place in places for why in re.findall(r'dropped\["([^"]+)"\]', place.read_text(encoding="utf-8"))
    }
    assert {"foreign", "from_the_future", "inbox_full"} <= reasons
    assert all(re.fullmatch(r"[a-z_]+", why) for why in reasons)


def test_a_dry_run_says_both_levels_and_reads_nothing(capfd, stream_file):
    for command in (("simulate",), ("sensor", "--data", "no-such-file.csv", "--name", "s")):
        code, out, _ = asked(capfd, command[0], stream_file, *command[1:], "--dry-run")
        assert code == 0
        assert "Event level" in out
        assert "User level" in out
        assert "Nothing was read" in out


def test_a_seed_is_for_test_streams_alone(tmp_path, capfd, stream_file):
    code, out, _ = asked(capfd, "simulate", stream_file, "--readings", 100, "--seed", 1, "--json")
    assert code == 0
    assert json.loads(out)["private"] is False
    stream_file.write_text(stream_file.read_text().replace("test = true", "test = false"))
    code, out, _ = asked(capfd, "simulate", stream_file, "--readings", 100, "--seed", 1, "--json")
    assert code == 2
    assert json.loads(out)["error"]["kind"] == "usage"


def test_refusals_name_the_way_out(tmp_path, capfd, stream_file):
    assert asked(capfd, "corrector", stream_file)[0] == 2
    assert asked(capfd, "sensor", stream_file, "--data", tmp_path / "none.csv", "--name", "s")[0] == 2
    assert asked(capfd, "sensor", stream_file, "--data", tmp_path / "none.csv", "--name", "analyst")[0] == 2
    assert asked(capfd, "sensor", stream_file, "--data", "x", "--name", "a/b")[0] == 2
    (tmp_path / "other.csv").write_text("flow,presure\n1,2\n")
    code, _, err = asked(capfd, "simulate", stream_file, "--data", tmp_path / "other.csv")
    assert code == 2
    assert "Did you mean 'presure'" in err
    assert asked(capfd, "simulate", stream_file, "--picture", tmp_path / "p.png")[0] == 2


def test_a_day_that_is_spent_refuses_with_exit_three(tmp_path, capfd):
    file = tmp_path / "pumps.toml"
    file.write_text(support.text(window=100).replace('per_day = "1000000000"', 'per_day = "1000"'))
    code, out, _ = asked(capfd, "simulate", file, "--readings", 1000, "--json")
    assert code == 3
    assert json.loads(out)["error"]["kind"] == "budget"


def test_no_reading_is_printed(tmp_path, capfd, stream_file):
    """Odd cells, a canary and numbers out of range: nothing of them comes out, whatever happens."""
    data = tmp_path / "readings.csv"
    data.write_text("flow,pressure\n" + "4711.4711,canary\n,\nnan,inf\n1e400,-1\n" * 60)
    code, out, err = asked(
        capfd, "simulate", stream_file, "--data", data, "--parquet", tmp_path / "r.parquet", "--json"
    )
    assert code == 0
    assert json.loads(out)["readings"] == 240
    for spelt in ("4711", "canary"):
        assert spelt not in out + err
    with duckdb.connect() as db:
        assert "canary" not in str(db.execute(f"SELECT * FROM '{tmp_path / 'r.parquet'}'").fetchall())


def test_the_broker_files_hold_no_password(tmp_path, capfd, stream_file):
    code, out, _ = asked(capfd, "broker", stream_file, "--out", tmp_path / "b")
    assert code == 0
    assert "mosquitto_passwd" in out
    assert "allow_anonymous false" in (tmp_path / "b" / "mosquitto.conf").read_text()
    access = (tmp_path / "b" / "acl").read_text()
    assert "user boiler-1\ntopic write plant/pumps/noised/0/boiler-1\n" in access
    assert "differences" not in access  # the private protocol has none

"""What would be published: locks without an address, and a wheel and an sdist that hold everything and run on their own."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from scripts.lock import FOLDER, LOCKS, foreign

import wallflower

ROOT = Path(__file__).resolve().parents[1]
PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[\w,-]+\])?==(\S+)", re.MULTILINE)


def pins(name):
    return PINNED.findall((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_holds_names_versions_and_digests_alone(name):
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert foreign(text) == []
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def test_an_address_in_a_lock_is_noticed():
    for planted in ("--index-url https://example.org/simple", "six @ https://example.org/six.whl", "-e ."):
        assert foreign(f"six==1.17.0 \\\n{planted}\n") == [planted]


def test_what_runs_is_what_is_tested():
    assert set(pins("run")) <= set(pins("test"))


def test_every_dependency_is_locked():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["test"]]
    locked = {name.lower().replace("_", "-") for name, _ in pins("test")}
    assert {re.match(r"[\w.-]+", each)[0].lower() for each in wanted} <= locked


def test_the_version_is_the_same_everywhere():
    assert f"version: {wallflower.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = log.split("\n## ", 2)[1]
    assert newest.startswith(wallflower.__version__)
    assert re.search(r"^### (\w+)", newest, flags=re.MULTILINE)[1] == "Privacy"


@pytest.mark.slow
def test_wheel_and_sdist_hold_everything_and_run_alone(tmp_path):
    built = tmp_path / "dist"
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(built)], cwd=ROOT, check=True, capture_output=True
    )
    (wheel,), (sdist,) = built.glob("*.whl"), built.glob("*.tar.gz")
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("wallflower/")}
    kept = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {f"src/{name}" for name in packed} >= set(kept.split())
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", *kept.split()} <= inside

    clean = tmp_path / "clean"
    venv.create(clean, with_pip=False)
    python = clean / "bin" / "python"
    place = Path(subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True, capture_output=True, text=True
    ).stdout.strip())  # fmt: skip
    zipfile.ZipFile(wheel).extractall(place)  # noqa: S202 - built above
    # What it needs comes from this environment, after what is installed: the package itself must be the wheel's.
    here = [entry for entry in sys.path if entry.endswith("site-packages")]
    (place / "needed.pth").write_text("\n".join(here), encoding="utf-8")
    said = subprocess.run(
        [python, "-c", "import wallflower; print(wallflower.__version__, wallflower.__file__)"],
        cwd=tmp_path, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    assert said.startswith(f"{wallflower.__version__} {place}")
    command = [python, "-m", "wallflower", "--help"]
    assert "certificate" in subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout

"""A file is there whole or not at all: whatever is put in place is on the disk before it has its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from wallflower.atomic_file import write_new, write_whole


def handles() -> set[str]:
    return {entry.name for entry in Path("/proc/self/fd").iterdir()}


def test_content_is_on_disk_before_it_has_its_name_and_the_name_after(tmp_path, monkeypatch):
    path, flush, happened = tmp_path / "page.html", os.fsync, []
    path.write_text("old")

    def fsync(handle):
        opened = Path(f"/proc/self/fd/{handle}")
        happened.append(("folder" if opened.is_dir() else opened.read_text(), path.read_text()))
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    before = handles()
    write_whole(path, "new ü")
    assert happened == [("new ü", "old"), ("folder", "new ü")]
    assert path.stat().st_mode & 0o777 == 0o600
    assert handles() == before


def test_where_it_cannot_be_put_in_place_nothing_is_left(tmp_path):
    path = tmp_path / "page.html"
    path.mkdir()
    before = handles()
    with pytest.raises(OSError, match=r"page\.html"):
        write_whole(path, b"new")
    assert list(tmp_path.iterdir()) == [path]
    assert list(path.iterdir()) == []
    assert handles() == before


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_new_file_has_its_mode_before_its_first_byte_and_replaces_nothing(mode, tmp_path, monkeypatch):
    path, flush, seen = tmp_path / "key.pem", os.fsync, []

    def fsync(handle):
        seen.append((path.stat().st_mode & 0o777, path.read_text()))
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    before, mask = handles(), os.umask(0o022)
    try:
        write_new(path, "new ü", mode=mode)
    finally:
        os.umask(mask)
    assert seen == [(mode, "new ü")]
    with pytest.raises(FileExistsError):
        write_new(path, "newer")
    assert path.read_text() == "new ü"
    assert handles() == before


def test_half_a_new_file_does_not_stay(tmp_path, monkeypatch):
    def full(_handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    before = handles()
    with pytest.raises(OSError, match="No space"):
        write_new(tmp_path / "draft.toml", "text")
    assert list(tmp_path.iterdir()) == []
    assert handles() == before

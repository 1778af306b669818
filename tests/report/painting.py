"""What a picture draws, before it is drawn."""

from __future__ import annotations

from matplotlib.figure import Figure


def painted(monkeypatch, module, seen):
    """The axes of each picture that a module of `wallflower.report` paints of what an owner sees."""
    found = []

    def kept(paint, **_words):
        found.append(Figure().subplots())
        paint(found[-1])

    monkeypatch.setattr(module, "draw", kept)
    module.pictures(seen)
    return found

"""Messages: one spelling each, and bytes from a stranger never do more than raise Malformed."""

from __future__ import annotations

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wallflower.stream import messages
from wallflower.stream.messages import (
    Candidates,
    Codes,
    Corrected,
    Differences,
    Malformed,
    Noised,
    Presumed,
    Receipt,
    Threshold,
    Tick,
    Window,
    parse,
)

WINDOWS = st.builds(
    Window,
    stream=st.binary(min_size=8, max_size=8),
    series=st.binary(min_size=8, max_size=8),
    number=st.integers(0, messages.LAST_NUMBER),
    sensor=st.text(min_size=1, max_size=16).filter(
        lambda name: "\ud800" not in name and 1 <= len(name.encode("utf-8", "replace")) <= 64
    ),
)
STEPS = st.integers(-messages.FARTHEST, messages.FARTHEST)
REALS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def spoken(draw):  # noqa: PLR0911 - one for each kind
    window = draw(WINDOWS)
    count = draw(st.integers(1, 30))

    def flags():
        return np.array(draw(st.lists(st.booleans(), min_size=count, max_size=count)))

    kind = draw(st.integers(1, 9))
    if kind == 1:
        columns, layers = draw(st.integers(1, 4)), draw(st.sampled_from([0, 2, 3, 5]))
        base, width = draw(STEPS), draw(st.sampled_from([0, 200, 60_000, 2**31, 2**62]))
        low, high = max(base - width, -messages.FARTHEST), min(base + width, messages.FARTHEST)
        values = draw(st.lists(st.integers(low, high), min_size=count * columns, max_size=count * columns))
        codes = draw(st.lists(st.integers(0, max(layers - 1, 0)), min_size=count, max_size=count))
        return Noised(
            window=window,
            readings=np.array(values, dtype=np.int64).reshape(count, columns),
            codes=np.array(codes, dtype=np.uint8) if layers else None,
            layers=layers,
        )
    if kind == 2:
        values = draw(st.lists(REALS, min_size=count, max_size=count))
        return Differences(window=window, differences=np.array(values))
    if kind == 3:
        return Presumed(window=window, outliers=flags())
    if kind == 4:
        return Threshold(window=window, inner=draw(REALS), outer=draw(REALS))
    if kind == 5:
        return Candidates(window=window, second=flags(), third=flags())
    if kind == 6:
        return Corrected(window=window, true_positives=flags(), first=flags(), second=flags(), third=flags())
    if kind == 7:
        return Codes(window=window, beyond=flags())
    if kind == 8:
        return Tick(window=window, said=draw(st.booleans()))
    return Receipt(window=window, digest=draw(st.binary(min_size=16, max_size=16)))


def same(one, other):
    return type(one) is type(other) and all(
        np.array_equal(value, vars(other)[name]) if isinstance(value, np.ndarray) else value == vars(other)[name]
        for name, value in vars(one).items()
    )


@settings(max_examples=300, deadline=None)
@given(spoken())
def test_what_is_said_is_heard(message):
    assert same(parse(message.encode()), message)


@settings(max_examples=300, deadline=None)
@given(spoken(), st.data())
def test_a_damaged_message_is_refused_or_says_what_it_spells(message, data):
    """Flips, cuts and insertions, with the checksum repaired half the time: an attacker can compute one too."""
    raw = bytearray(message.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(raw) - 1))
        match data.draw(st.sampled_from(["flip", "cut", "insert", "zero"])):
            case "flip":
                raw[place] ^= 1 << data.draw(st.integers(0, 7))
            case "cut":
                del raw[place : place + data.draw(st.integers(1, 9))]
            case "insert":
                raw[place:place] = data.draw(st.binary(min_size=1, max_size=9))
            case "zero":
                raw[place] = 0
        if not raw:
            raw = bytearray(b"\0")
    if data.draw(st.booleans()) and len(raw) > 4:
        raw[-4:] = zlib.crc32(bytes(raw[:-4])).to_bytes(4, "little")
    try:
        heard = parse(bytes(raw))
    except Malformed:
        return
    assert heard.encode() == bytes(raw)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_noise_on_the_line_is_refused(raw):
    with pytest.raises(Malformed):
        parse(raw)
    body = messages.MAGIC + bytes([messages.VERSION]) + raw
    with pytest.raises(Malformed):
        parse(body + b"....")


def test_too_long_is_refused_unread(monkeypatch):
    monkeypatch.setattr(messages, "LARGEST", 100)
    with pytest.raises(Malformed, match="longer"):
        parse(bytes(101))


def test_a_count_that_would_fill_the_memory_is_refused_before_anything_is_made():
    window = Window(stream=bytes(8), sensor="s", series=bytes(8), number=0)
    message = Noised(window=window, readings=np.zeros((1, 1), dtype=np.int64), codes=None, layers=0)
    for claimed in (0, 2**32 - 1, messages.MOST_READINGS):
        payload = claimed.to_bytes(4, "little") + message.payload()[4:]
        forged = type("Forged", (Noised,), {"payload": lambda _self, payload=payload: payload})
        with pytest.raises(Malformed):
            parse(forged(**vars(message)).encode())


def test_an_error_quotes_nothing():
    with pytest.raises(Malformed) as caught:
        parse(b"WFLS" + b"4711-secret-reading" * 4)
    assert "4711" not in str(caught.value)

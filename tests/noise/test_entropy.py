from __future__ import annotations

import copy
import os
import pickle
import threading
from collections import Counter

import pytest

from wallflower.noise import entropy as entropy_module
from wallflower.noise.entropy import SeededEntropy, SystemEntropy


@pytest.fixture
def counted_system(monkeypatch):
    calls = []
    real = os.urandom

    def urandom(count):
        calls.append(count)
        return real(count)

    monkeypatch.setattr(entropy_module.os, "urandom", urandom)
    return SystemEntropy(), calls


def test_system_entropy_is_private_and_a_seed_is_not():
    assert SystemEntropy().private
    assert not SeededEntropy(0).private


def test_a_thousand_coins_cost_one_system_call(counted_system):
    entropy, calls = counted_system
    for _ in range(1000):
        entropy.bits(1)
    assert len(calls) == 1


def test_a_large_draw_costs_one_system_call_and_wastes_little(counted_system):
    entropy, calls = counted_system
    assert entropy.bits(80_000).bit_length() > 79_000
    assert len(calls) == 1
    assert calls[0] == 10_000


def test_every_bit_of_the_stream_is_handed_out_once_and_in_order(monkeypatch):
    stream = bytes(range(256)) * 8
    position = 0

    def urandom(count):
        nonlocal position
        position += count
        return stream[position - count : position]

    monkeypatch.setattr(entropy_module.os, "urandom", urandom)
    entropy = SystemEntropy()
    widths = [1, 7, 64, 0, 3, 500, 2000, 13, 1, 900]
    seen, shift = 0, 0
    for width in widths:
        seen |= entropy.bits(width) << shift
        shift += width
    assert seen == int.from_bytes(stream, "little") & ((1 << shift) - 1)


@pytest.mark.parametrize("source", [SystemEntropy(), SeededEntropy(5)])
def test_bits_are_in_range_and_fair(source):
    assert source.bits(0) == 0
    for width in (1, 3, 17, 129, 5000):
        assert 0 <= source.bits(width) < 2**width
    heads = sum(source.bits(1) for _ in range(40_000))
    assert abs(heads - 20_000) < 800  # eight standard deviations
    assert abs(int.from_bytes(source.block(5000), "little").bit_count() - 20_000) < 800


def test_a_seed_reproduces_its_stream_and_no_other():
    def stream(seed):
        source = SeededEntropy(seed)
        return [source.bits(width) for width in (3, 70, 1, 2000)] + [source.block(9)]

    assert stream(7) == stream(7)
    assert stream(7) != stream(8)


def test_a_forked_child_shares_no_bit_with_its_parent():
    source = SystemEntropy()
    source.bits(1)  # fills the buffer that a child would inherit
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - another process
        os.write(writable, source.bits(256).to_bytes(32, "little"))
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writable)
    from_child = int.from_bytes(os.read(readable, 32), "little")
    os.close(readable)
    assert from_child != source.bits(256)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))])  # noqa: S301
def test_a_copy_shares_no_bit_with_the_original(duplicate):
    source = SystemEntropy()
    source.bits(1)
    assert duplicate(source).bits(256) != source.bits(256)


def test_threads_that_share_a_source_never_get_the_same_bits():
    source = SystemEntropy()
    source.bits(1)
    found: list[int] = []

    def draw():
        mine = [source.bits(64) for _ in range(5000)]
        found.extend(mine)

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20_000
    assert Counter(found).most_common(1)[0][1] == 1

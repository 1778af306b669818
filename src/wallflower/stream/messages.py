"""What the parties say to each other: compact, versioned, and read strictly.

Little-endian: `WFLS`, version, kind, stream (8 bytes), series (8 bytes), window number (u64), sensor name (u8 length and
UTF-8), payload length (u32), payload, CRC-32 of all before it. Every message has one spelling: what `parse` accepts,
`Message.encode` writes back byte for byte.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

MAGIC = b"WFLS"
VERSION = 1
LARGEST = 64 * 2**20
"""No message is longer; a longer one is dropped unread."""
MOST_READINGS = 1_000_000
FARTHEST = 2**61
LAST_NUMBER = 2**63 - 1
"""Databases count no further."""

_HEAD = struct.Struct("<4sBB8s8sQB")
_COUNT = struct.Struct("<I")
_COLUMN = struct.Struct("<Bq")


class Malformed(Exception):  # noqa: N818 - reads as what it says
    """These bytes are not a message; the text names the rule they break and quotes nothing."""


@dataclass(frozen=True, kw_only=True)
class Window:
    """Which window a message is about. `series` is drawn anew with each new sensor book, so numbers never collide."""

    stream: bytes
    sensor: str
    series: bytes
    number: int

    @property
    def key(self) -> tuple[str, str, int]:
        return self.sensor, self.series.hex(), self.number


@dataclass(frozen=True, kw_only=True, eq=False)
class Message:
    """One message about one window; subclasses hold the payload."""

    kind: ClassVar[int]
    window: Window

    def payload(self) -> bytes:
        raise NotImplementedError

    def encode(self) -> bytes:
        name = self.window.sensor.encode()
        head = _HEAD.pack(
            MAGIC, VERSION, self.kind, self.window.stream, self.window.series, self.window.number, len(name)
        )
        payload = self.payload()
        body = b"".join((head, name, _COUNT.pack(len(payload)), payload))
        return body + _COUNT.pack(zlib.crc32(body))


@dataclass(frozen=True, kw_only=True, eq=False)
class Noised(Message):
    """Sensor to analyst: the noised readings and, under `private`, the randomised code of each."""

    kind = 1
    readings: NDArray[np.int64]
    codes: NDArray[np.uint8] | None
    layers: int
    """How many layers a code tells apart; 0 when there are no codes."""

    def payload(self) -> bytes:
        parts = [_COUNT.pack(len(self.readings)), bytes((self.readings.shape[1], self.layers))]
        for column in self.readings.T:
            base = int(column.min())
            width = _width(int(column.max()) - base)
            parts += [_COLUMN.pack(width, base), (column - base).astype(f"<u{width}").tobytes()]
        if self.codes is not None:
            parts.append(_bits(self.codes != 0) if self.layers == 2 else self.codes.astype(np.uint8).tobytes())
        return b"".join(parts)


@dataclass(frozen=True, kw_only=True, eq=False)
class Differences(Message):
    """Sensor to corrector, `paper` only: d_diff of each reading. No differential privacy towards whoever reads it."""

    kind = 2
    differences: NDArray[np.float64]

    def payload(self) -> bytes:
        return _COUNT.pack(len(self.differences)) + self.differences.astype("<f8").tobytes()


@dataclass(frozen=True, kw_only=True, eq=False)
class Presumed(Message):
    """Analyst to corrector: O', the readings that stand out in the noised window."""

    kind = 3
    outliers: NDArray[np.bool_]

    def payload(self) -> bytes:
        return _sets(self.outliers)


@dataclass(frozen=True, kw_only=True, eq=False)
class Threshold(Message):
    """Corrector to analyst: d_TP and d_TP + w_O."""

    kind = 4
    inner: float
    outer: float

    def payload(self) -> bytes:
        return struct.pack("<dd", self.inner, self.outer)


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates(Message):
    """Analyst to corrector: I_2 and I_3."""

    kind = 5
    second: NDArray[np.bool_]
    third: NDArray[np.bool_]

    def payload(self) -> bytes:
        return _sets(self.second, self.third)


@dataclass(frozen=True, kw_only=True, eq=False)
class Corrected(Message):
    """Corrector to the owner of the results: TP and the three layers of false negatives."""

    kind = 6
    true_positives: NDArray[np.bool_]
    first: NDArray[np.bool_]
    second: NDArray[np.bool_]
    third: NDArray[np.bool_]

    @property
    def outliers(self) -> NDArray[np.bool_]:
        return self.true_positives | self.first | self.second | self.third

    def payload(self) -> bytes:
        return _sets(self.true_positives, self.first, self.second, self.third)


@dataclass(frozen=True, kw_only=True, eq=False)
class Receipt(Message):
    """Analyst to sensor: this window's result is on disk. `digest` says of which bytes."""

    kind = 7
    digest: bytes

    def payload(self) -> bytes:
        return self.digest


@dataclass(frozen=True, kw_only=True, eq=False)
class Codes(Message):
    """Sensor to analyst, `code` only: of each reading the randomised bit whether it lies beyond the core, and nothing else."""

    kind = 8
    beyond: NDArray[np.bool_]

    def payload(self) -> bytes:
        return _sets(self.beyond)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tick(Message):
    """Sensor to analyst, `alarm` and `share`: one bit of one slot, always of the same size. The number names period and slot."""

    kind = 9
    said: bool

    def payload(self) -> bytes:
        return bytes((self.said,))


def parse(data: bytes) -> Message:
    """The message these bytes spell, or `Malformed`."""
    if len(data) > LARGEST:
        raise Malformed("longer than any message")
    if len(data) < _HEAD.size + 2 * _COUNT.size:
        raise Malformed("shorter than any message")
    magic, version, kind, stream, series, number, name_length = _HEAD.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise Malformed("not of this format and version")
    if number > LAST_NUMBER:
        raise Malformed("number")
    if zlib.crc32(data[:-4]) != _COUNT.unpack(data[-4:])[0]:
        raise Malformed("checksum")
    at = _HEAD.size + name_length
    if at + 2 * _COUNT.size > len(data) or not 1 <= name_length <= 64:
        raise Malformed("name")
    if at + 2 * _COUNT.size + _COUNT.unpack_from(data, at)[0] != len(data):
        raise Malformed("length")
    try:
        name = data[_HEAD.size : at].decode()
    except UnicodeDecodeError:
        raise Malformed("name") from None
    read = _READERS.get(kind)
    if read is None:
        raise Malformed("unknown kind")
    window = Window(stream=stream, sensor=name, series=series, number=number)
    return read(window, data[at + _COUNT.size : -4])


def _noised(window: Window, data: bytes) -> Noised:
    count, at = _counted(data), 6
    if len(data) < at:
        raise Malformed("truncated")
    columns, layers = data[4], data[5]
    if columns == 0 or layers == 1 or layers > 16:
        raise Malformed("columns or layers")
    if len(data) < at + columns * (_COLUMN.size + count):  # before memory is taken for what a stranger claims
        raise Malformed("truncated")
    readings = np.empty((count, columns), dtype=np.int64)
    for place in range(columns):
        readings[:, place], at = _column(data, at, count)
    return Noised(window=window, readings=readings, codes=_codes(data[at:], count, layers), layers=layers)


def _column(data: bytes, at: int, count: int) -> tuple[NDArray[np.int64], int]:
    """One column of readings, and where the next begins."""
    if len(data) < at + _COLUMN.size:
        raise Malformed("truncated")
    width, base = _COLUMN.unpack_from(data, at)
    at += _COLUMN.size
    if width not in {1, 2, 4, 8} or len(data) < at + count * width or not -FARTHEST <= base <= FARTHEST:
        raise Malformed("column")
    offsets = np.frombuffer(data, dtype=f"<u{width}", count=count, offset=at)
    most = int(offsets.max())
    if offsets.min() != 0 or _width(most) != width or base + most > FARTHEST:
        raise Malformed("column")
    return offsets.astype(np.int64) + base, at + count * width


def _codes(data: bytes, count: int, layers: int) -> NDArray[np.uint8] | None:
    if not layers:
        if data:
            raise Malformed("trailing bytes")
        return None
    codes = _from_bits(data, count).astype(np.uint8) if layers == 2 else np.frombuffer(data, np.uint8)
    if len(codes) != count or int(codes.max()) >= layers:
        raise Malformed("codes")
    return codes


def _differences(window: Window, data: bytes) -> Differences:
    count = _counted(data)
    if len(data) != 4 + 8 * count:
        raise Malformed("length")
    values = np.frombuffer(data, dtype="<f8", offset=4)
    if not np.isfinite(values).all():
        raise Malformed("not finite")
    return Differences(window=window, differences=values)


def _presumed(window: Window, data: bytes) -> Presumed:
    return Presumed(window=window, outliers=_read_sets(data, 1)[0])


def _threshold(window: Window, data: bytes) -> Threshold:
    if len(data) != 16:
        raise Malformed("length")
    inner, outer = struct.unpack("<dd", data)
    if not np.isfinite([inner, outer]).all():
        raise Malformed("not finite")
    return Threshold(window=window, inner=inner, outer=outer)


def _candidates(window: Window, data: bytes) -> Candidates:
    second, third = _read_sets(data, 2)
    return Candidates(window=window, second=second, third=third)


def _corrected(window: Window, data: bytes) -> Corrected:
    true_positives, first, second, third = _read_sets(data, 4)
    return Corrected(window=window, true_positives=true_positives, first=first, second=second, third=third)


def _receipt(window: Window, data: bytes) -> Receipt:
    if len(data) != 16:
        raise Malformed("length")
    return Receipt(window=window, digest=data)


def _codes_alone(window: Window, data: bytes) -> Codes:
    return Codes(window=window, beyond=_read_sets(data, 1)[0])


def _tick(window: Window, data: bytes) -> Tick:
    if data not in {b"\0", b"\1"}:
        raise Malformed("neither yes nor no")
    return Tick(window=window, said=data == b"\1")


_READERS = {
    1: _noised,
    2: _differences,
    3: _presumed,
    4: _threshold,
    5: _candidates,
    6: _corrected,
    7: _receipt,
    8: _codes_alone,
    9: _tick,
}


def _width(most: int) -> int:
    return next(width for width in (1, 2, 4, 8) if most < 1 << (8 * width))


def _counted(data: bytes) -> int:
    if len(data) < 4:
        raise Malformed("truncated")
    count: int = _COUNT.unpack_from(data)[0]
    if not 1 <= count <= MOST_READINGS:
        raise Malformed("number of readings")
    return count


def _bits(flags: NDArray[np.bool_]) -> bytes:
    return np.packbits(flags, bitorder="little").tobytes()


def _from_bits(data: bytes, count: int) -> NDArray[np.bool_]:
    if len(data) != (count + 7) // 8:
        raise Malformed("length")
    flags = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    if flags[count:].any():
        raise Malformed("padding")
    return flags[:count].astype(np.bool_)


def _sets(*sets: NDArray[np.bool_]) -> bytes:
    return _COUNT.pack(len(sets[0])) + b"".join(_bits(flags) for flags in sets)


def _read_sets(data: bytes, how_many: int) -> list[NDArray[np.bool_]]:
    count = _counted(data)
    size = (count + 7) // 8
    if len(data) != 4 + how_many * size:
        raise Malformed("length")
    return [_from_bits(data[4 + place * size : 4 + (place + 1) * size], count) for place in range(how_many)]

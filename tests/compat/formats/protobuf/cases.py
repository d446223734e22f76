"""Protobuf records; the answers of Flink are in `flink-*.json`.

A case decodes `value` and encodes the row again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
DEFAULTS = {"read-default-values": "true"}
INNER = "ROW<`a` BIGINT, `b` STRING>"
THREE = (
    "ROW<`i` INT, `l` BIGINT, `u` INT, `s` BIGINT, `f4` INT, `f8` BIGINT, `f` FLOAT, `d` DOUBLE,"
    f" `o` BOOLEAN, `t` STRING, `y` BYTES, `k` STRING, `n` {INNER}, `ri` ARRAY<INT>,"
    f" `rt` ARRAY<STRING>, `rn` ARRAY<{INNER}>, `rk` ARRAY<STRING>, `mi` MAP<STRING, INT>,"
    f" `mk` MAP<STRING, STRING>, `c1` INT, `c2` STRING, `c3` {INNER}, `oi` INT, `ot` STRING,"
    " `at` ROW<`seconds` BIGINT, `nanos` INT>, `unpacked` ARRAY<INT>>"
)
NUMBERS = "ROW<`k` INT, `rk` ARRAY<INT>>"
MEMBERS = f"ROW<`c3` {INNER}, `c2` STRING, `c1` INT>"
TWO = (
    f"ROW<`i` INT, `l` BIGINT, `t` STRING, `k` STRING, `n` {INNER}, `ri` ARRAY<INT>,"
    f" `rp` ARRAY<BIGINT>, `mn` MAP<STRING, {INNER}>, `y` BYTES>"
)


@dataclass(frozen=True)
class Case:
    """One record of one message."""

    id: str
    message: str
    row_type: str
    value: bytes
    options: dict[str, str] = field(default_factory=dict)


def _hex(text: str) -> bytes:
    return bytes.fromhex(text.replace(" ", ""))


#: (name, columns, bytes) of messages of three.proto and of two.proto.
THREES = [
    ("empty", THREE, ""),
    ("scalars", THREE, "08 01 10 02 18 03 20 05 2d 07000000 31 0800000000000000"),
    ("negative", THREE, "08 ffffffffffffffffff01 10 ffffffffffffffffff01 18 ffffffff0f 20 01"),
    ("floats", THREE, "3d 0000c03f 41 000000000000f83f 48 01"),
    ("texts", THREE, "52 03 61c3a9 5a 02 ff00"),
    ("not UTF-8", THREE, "52 01 ff"),
    ("symbols", THREE, "60 01 8a01 0c 00 01 feffffffffffffffff01"),
    ("symbols as numbers", NUMBERS, "60 01 8a01 0c 00 01 feffffffffffffffff01"),
    ("unknown symbol", THREE, "60 07 8a01 02 07 01"),
    ("nested", THREE, "6a 05 08 07 12 01 62"),
    ("nested and empty", THREE, "6a 00"),
    ("nested twice", THREE, "6a 02 08 07 6a 03 12 01 62"),
    ("packed", THREE, "72 03 01 02 03"),
    ("not packed", THREE, "70 01 70 02 72 01 03"),
    ("packed and empty", THREE, "72 00"),
    ("packed where it is not declared", THREE, "d201 02 01 04"),
    ("texts in an array", THREE, "7a 01 61 7a 00"),
    ("messages in an array", THREE, "8201 02 08 01 8201 00"),
    ("map", THREE, "9201 05 0a 01 61 10 07"),
    ("map, key twice", THREE, "9201 05 0a 01 61 10 07 9201 05 0a 01 61 10 08"),
    ("map without key and value", THREE, "9201 00"),
    ("map of symbols", THREE, "a201 05 0a 01 61 10 01"),
    ("a oneof", THREE, "b201 01 61"),
    ("a oneof twice", THREE, "a801 05 b201 01 61"),
    ("a oneof, the first last", THREE, "b201 01 61 a801 05"),
    ("a oneof of a message", THREE, "ba01 02 08 01"),
    ("members in another order", MEMBERS, "b201 01 61 a801 05"),
    ("one column of a oneof", "ROW<`c1` INT>", "a801 05 b201 01 61"),
    ("optional", THREE, "c001 00 c20c 00"),
    ("timestamp", THREE, "ca01 06 08 80e497aa06"),
    ("not declared as packed", THREE, "d001 02 d001 01"),
    ("unknown fields", THREE, "f87f 01 08 02 fa7f 01 61 fb7f fc7f"),
    ("last value", THREE, "08 01 08 02"),
    ("another wire type", THREE, "0a 01 61 10 02"),
    ("too short", THREE, "52 05 61"),
    ("a varint too long", THREE, "08 ffffffffffffffffffffff01"),
    ("tag 0", THREE, "00"),
    ("a group's end", THREE, "0c"),
    ("text", THREE, "7b7d"),
]
TWOS = [
    ("required only", TWO, "08 01"),
    ("required is missing", TWO, "10 01"),
    ("all", TWO, "08 01 10 02 1a 01 61 20 00 2a 02 08 07 30 05 3a 02 01 02 52 01 ff"),
    ("unknown symbol", TWO, "08 01 20 07"),
    ("not UTF-8", TWO, "08 01 1a 01 ff"),
    ("nested and empty", TWO, "08 01 2a 00"),
    ("packed", TWO, "08 01 32 02 01 02"),
    ("map", TWO, "08 01 42 05 0a 01 61 12 00 42 03 0a 01 62"),
    ("a group that nobody reads", TWO, "08 01 4b 08 05 4c"),
    ("an extension", TWO, "08 01 a006 01"),
]


def all_cases() -> list[Case]:
    """Return every case, without and with default values."""
    found = []
    for message, cases in (
        ("com.example.three.Three", THREES),
        ("com.example.two.TwoFile$Two", TWOS),
    ):
        for name, columns, text in cases:
            short = message.split(".")[2]
            found.append(Case(f"{short} {name}", message, columns, _hex(text)))
            defaults = f"{short} {name}, defaults"
            found.append(Case(defaults, message, columns, _hex(text), DEFAULTS))
    return found

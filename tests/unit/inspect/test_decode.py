"""Topics shown from outside: csv and raw bytes as Python values."""

from __future__ import annotations

from decimal import Decimal

import pytest

from streamtable.connectors.kafka.sides import Side
from streamtable.core import types as t
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS
from streamtable.inspect.decode import decoder_of


def side(name, columns, prefix="", **given):
    found = FORMATS[name]
    options = {key.replace("_", "-"): Given(text) for key, text in given.items()}
    settings = found.options.read(options, "t")
    return Side(format=found, settings=settings, columns=columns, prefix=prefix)


COLUMNS = (
    Field("k_n", t.INT),
    Field("k_s", t.STRING),
    Field("k_b", t.BOOLEAN),
    Field("k_d", t.decimal(10, 2)),
)


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b'1,"a,""b\n",true,1.50', {}, (1, 'a,"b\n', True, Decimal("1.50"))),
        (b",,,", {}, (None, "", None, None)),
        (b"1;n/a;x;2", {"field_delimiter": ";", "null_literal": "n/a"}, (1, None, False, 2)),
        (b'1,"a,true,2', {"disable_quote_character": "true"}, (1, '"a', True, 2)),
    ],
    ids=["quoted", "empty", "null", "no quotes"],
)
def test_csv(data, options, expected):
    decode = decoder_of(side("csv", COLUMNS, prefix="k_", **options))
    assert tuple(decode(data).values()) == expected
    assert list(decode(data)) == [column.name for column in COLUMNS]


def test_csv_of_nothing():
    assert decoder_of(side("csv", (Field("s", t.STRING),)))(b"") == {"s": ""}


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (t.BIGINT, b"\0\0\0\0\0\0\1\2", 258),
        (t.BOOLEAN, b"\1", True),
        (t.DOUBLE, b"\x3f\xf8\0\0\0\0\0\0", 1.5),
        (t.STRING, "\u00e9".encode(), "\u00e9"),
        (t.BYTES, b"\xff", b"\xff"),
    ],
    ids=str,
)
def test_raw(kind, data, expected):
    assert decoder_of(side("raw", (Field("c", kind),)))(data) == {"c": expected}


def test_raw_little_end_first():
    decode = decoder_of(side("raw", (Field("c", t.INT),), endianness="little-endian"))
    assert decode(b"\1\0\0\0") == {"c": 1}


def test_what_cannot_be_shown_yet():
    columns = (Field("c", t.INT),)
    for found in (
        side("avro-confluent", columns, url="http://host"),
        side("avro", columns, encoding="json"),
    ):
        with pytest.raises(StreamtableError) as caught:
            decoder_of(found)
        assert caught.value.condition is Condition.NOT_YET

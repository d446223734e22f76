"""Valid and invalid records of every type; Flink's answers are in the `flink-*.json` next to this.

A case decodes `value` and encodes the row again, so that one expected text covers both directions.
If our text differs from Flink's on purpose, `ours` is our text and `differs` says why.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from streamtable.core import types as t
from streamtable.core.types import DataType, Field, Root

SAME = "same as Flink"
FAULT = "a record that does not parse"
LEFT_OUT = "no row, and counted"


@dataclass(frozen=True)
class Case:
    """One record of one schema."""

    id: str
    columns: tuple[Field, ...]
    value: bytes
    options: dict[str, str] = field(default_factory=dict)
    format: str = "json"
    ours: str = SAME
    differs: str = ""
    avro_differs: str = ""

    @property
    def row_type(self) -> str:
        """The columns as Flink spells them."""
        return t.row(*self.columns).with_nullable(False).sql()


ISO = {"timestamp-format.standard": "ISO-8601"}
IGNORE = {"ignore-parse-errors": "true"}
STRICT = {"fail-on-missing-field": "true"}
TREE = {"decode.json-parser.enabled": "false"}
LOCAL = {"timestamp_mapping.legacy": "false"}

KEY = t.STRING.with_nullable(False)
POINT = t.row(Field("x", t.INT), Field("y", t.array(t.STRING)))

SIX_DIGITS = "Spark keeps six digits of a second; the rest is cut"
TIME_DIGITS = "Flink 2.2 drops the fraction of a TIME; milliseconds are kept here"
TO_ZERO = "Flink cannot round a number this small"
ONE_PARSER = "Flink's other parser leaves the record out in silence"
UTF_8 = "texts are UTF-8 in Spark, where half a character has no place"
NO_ROW = "Flink passes on a row that is null"
MILLIS_AS_MICROS = "Flink 2.2 writes milliseconds where its own schema says microseconds"
WHOLE_VALUE = "Flink reads on inside the object that it could not convert"
LAST_WINS = "Flink stops looking once it has seen as many names as there are columns"
ONE_ROW = "one record is one row here"

#: (type, valid and invalid values as JSON texts, separated by blanks)
SCALARS: list[tuple[DataType, str]] = [
    (t.BOOLEAN, 'true false "true" "TRUE" " true " "yes" 1 0 1.5 "" null'),
    (t.TINYINT, '0 127 -128 128 -129 255 "127" " 7 " "128" 1.0 1e2 true "" null'),
    (t.SMALLINT, '0 32767 -32768 32768 "32767" " 7 " 1.0 true null'),
    (
        t.INT,
        '0 2147483647 -2147483648 2147483648 "12" " 12 " "1.0" 1.9 -1.9 1e3 1e10 true "x" null',
    ),
    (
        t.BIGINT,
        (
            "0 9223372036854775807 -9223372036854775808 9223372036854775808 1e18 1e19 1.999"
            ' "9223372036854775807" " 12 " "0x10" "" false null'
        ),
    ),
    (
        t.FLOAT,
        (
            '0 1 1.5 -0.0 0.1 1e10 3.4e39 1e-50 "1.5" " 1.5 " "NaN" "Infinity" "-Infinity" "1f" ""'
            " 16777217 123456789.125 true null"
        ),
    ),
    (
        t.DOUBLE,
        (
            '0 1 1.5 -0.0 0.1 1e400 1e-400 123456789012345678 "1.5" "NaN" "Infinity" "1d" "abc"'
            " 1e22 0.00001 1234567.0 12345678.0 true null"
        ),
    ),
    (
        t.decimal(10, 2),
        (
            '0 0.00 1.5 1.50 1.005 -1.005 100 100.00 "1.5" " 1.5 " "1e3" 99999999.99 99999999.995'
            ' 100000000 1e-20 1e300 "1e-2000000000" 0e2000000000 true "x" null'
        ),
    ),
    (t.decimal(20, 10), "2.7e-8 0.000000027 1234567890.0123456789 0.00000000005 null"),
    (t.decimal(38, 0), "12345678901234567890123456789012345678 1e37 1e38 123456789.6 null"),
    (
        t.STRING,
        (
            '"a" "" 1 1.10 1e5 true {"a":1.10,"b":[1,{"c":null}],"a":2} [1,"x",null] {} []'
            ' "\\u00e9" "\\ud83d\\ude00" "\\"\\\\/\\b\\n\\u0001\\u007f\\u2028"'
            ' "\u00e9\u4e2d\U0001f600" "<&>\'" null'
        ),
    ),
    (t.DataType(Root.CHAR, precision=3), '"a" "abcde" "" 12345 null'),
    (t.DataType(Root.VARCHAR, precision=2), '"a" "abcde" "" true null'),
    (t.DataType(Root.BINARY, precision=2), '"AQ==" "AQIDBA==" "" null'),
    (t.DataType(Root.VARBINARY, precision=2), '"AQ==" "AQIDBA==" null'),
    (t.time(0), '"12:00:00" "12:00:00.5" null'),
    (t.time(6), '"12:00:00" "12:00:00.123456" null'),
    (t.timestamp(0), '"2021-02-03 04:05:06" "2021-02-03 04:05:06.9" null'),
    (t.timestamp(6), '"2021-02-03 04:05:06.123456" "2021-02-03 04:05:06.1234567" null'),
    (t.timestamp_ltz(0), '"2021-02-03 04:05:06Z" "2021-02-03 04:05:06.9Z" null'),
    (t.timestamp_ltz(6), '"2021-02-03 04:05:06.12345678Z" null'),
    (t.BYTES, '"AQI=" "AQI" "" "A" "!!!!" "AQ I=" "AQI=AQI=" 12 true null'),
    (
        t.DATE,
        (
            '"2021-02-03" "2021-02-30" "2021-2-3" "20210203" "+12345-01-01" "-0001-01-01"'
            ' "2021-02-03T00:00:00" "" 18000 null'
        ),
    ),
    (
        t.time(3),
        (
            '"12:00:00" "12:00:00.5" "12:00:00.123" "12:00:00.123456789" "12:00:00." "12:00"'
            ' "24:00:00" "25:00:00" "23:59:59.999999999" "1:00:00" "" 5 null'
        ),
    ),
]
SQL_TIMES = (
    '"2021-02-03 04:05:06" "2021-02-03 04:05:06.1" "2021-02-03 04:05:06.123456"'
    ' "2021-02-03 04:05:06.100000" "2021-02-03 04:05:06.123456789" "2021-02-28 23:59:59"'
    ' "2021-02-29 00:00:00" "2021-02-30 01:00:00" "2021-02-32 00:00:00" "2021-13-01 00:00:00"'
    ' "2021-02-03 24:00:00" "2021-02-03 24:00:01" "2021-02-03 23:60:00" "2021-02-03 23:00:60"'
    ' "2021-02-03 04:05" "2021-02-03 04:05:06." "2021-02-03T04:05:06" "2021-02-03  04:05:06"'
    ' " 2021-02-03 04:05:06" "2021-02-03 04:05:06.1234567890" "0001-01-01 00:00:00"'
    ' "0000-01-01 00:00:00" "-0001-12-31 23:59:59" "9999-12-31 23:59:59.999999"'
    ' "+10000-01-01 00:00:00" "1969-12-31 23:59:59.999999" "1900-01-01 00:00:00.5"'
    ' "2021-02-03 04:05:06Z" "2021-02-03 04:05:06+01:00" "" 1612325106000 null'
)
ISO_TIMES = '"2021-02-03t04:05:06" "2021-02-03T04:05" "2021-02-03T04"'


def _values(text: str) -> list[str]:
    """Split a text of JSON values, separated by one blank each."""
    decoder, at, found = json.JSONDecoder(strict=False), 0, []
    while at < len(text):
        _, end = decoder.raw_decode(text, at)
        found.append(text[at:end])
        at = end + 1
    return found


#: Scalar case -> our text, and why it differs from Flink's.
DIFFERENT = {
    'DECIMAL(10, 2) "1e-2000000000"': ('{"c":0}', TO_ZERO),
    'TIME(3) "12:00:00.5"': ('{"c":"12:00:00.5"}', TIME_DIGITS),
    'TIME(3) "12:00:00.123"': ('{"c":"12:00:00.123"}', TIME_DIGITS),
    'TIME(3) "12:00:00.123456789"': ('{"c":"12:00:00.123"}', TIME_DIGITS),
    'TIMESTAMP(3) SQL "2021-02-03 04:05:06.123456789"': (
        '{"c":"2021-02-03 04:05:06.123456"}',
        SIX_DIGITS,
    ),
    'TIMESTAMP(3) ISO-8601 "2021-02-03T04:05:06.123456789"': (
        '{"c":"2021-02-03T04:05:06.123456"}',
        SIX_DIGITS,
    ),
    'TIMESTAMP_LTZ(3) SQL "2021-02-03 04:05:06.123456789Z"': (
        '{"c":"2021-02-03 04:05:06.123456Z"}',
        SIX_DIGITS,
    ),
    'TIMESTAMP_LTZ(3) ISO-8601 "2021-02-03T04:05:06.123456789Z"': (
        '{"c":"2021-02-03T04:05:06.123456Z"}',
        SIX_DIGITS,
    ),
    'TIME(6) "12:00:00.123456"': ('{"c":"12:00:00.123"}', TIME_DIGITS),
    'TIMESTAMP(6) "2021-02-03 04:05:06.1234567"': (
        '{"c":"2021-02-03 04:05:06.123456"}',
        SIX_DIGITS,
    ),
    'TIMESTAMP_LTZ(6) "2021-02-03 04:05:06.12345678Z"': (
        '{"c":"2021-02-03 04:05:06.123456Z"}',
        SIX_DIGITS,
    ),
    'TIME(3) "23:59:59.999999999"': ('{"c":"23:59:59.999"}', TIME_DIGITS),
}


def _scalar(column_type: DataType, text: str, options: dict[str, str]) -> Case:
    name = " ".join([str(column_type), *options.values(), text])
    ours, differs = DIFFERENT.get(name, (SAME, ""))
    column = (Field("c", column_type),)
    return Case(name, column, f'{{"c":{text}}}'.encode(), options, ours=ours, differs=differs)


def scalar_cases() -> list[Case]:
    """Return cases of one value in one column."""
    cases = [
        _scalar(column_type, text, {}) for column_type, texts in SCALARS for text in _values(texts)
    ]
    for column_type, zone in ((t.timestamp(3), ""), (t.timestamp_ltz(3), "Z")):
        for standard in ("SQL", "ISO-8601"):
            options = {"timestamp-format.standard": standard}
            texts = [_in_zone(text, zone) for text in _values(SQL_TIMES)]
            if standard == "ISO-8601":
                texts = [_iso(text) for text in (*texts, *_values(ISO_TIMES))]
            cases += [_scalar(column_type, text, options) for text in dict.fromkeys(texts)]
    return cases


def _in_zone(text: str, zone: str) -> str:
    return f'{text[:-1]}{zone}"' if text.endswith('"') else text


def _iso(text: str) -> str:
    return re.sub(r"(-\d\d) +(\d\d:)", r"\1T\2", text)


def _case(name: str, columns: str, value: str | bytes, **kwargs: object) -> Case:
    data = value if isinstance(value, bytes) else value.encode()
    return Case(name, SCHEMAS[columns], data, **kwargs)  # type: ignore[arg-type]


SCHEMAS: dict[str, tuple[Field, ...]] = {
    "a": (Field("a", t.INT),),
    "ab": (Field("a", t.INT), Field("b", t.INT)),
    "s": (Field("s", t.STRING),),
    "row": (Field("r", POINT), Field("z", t.INT)),
    "array": (Field("c", t.array(t.INT)), Field("z", t.INT)),
    "rows": (Field("c", t.array(POINT)),),
    "map": (Field("c", t.map_of(KEY, t.INT)),),
    "maps": (Field("c", t.map_of(KEY, t.map_of(KEY, t.array(t.INT)))),),
    "multiset": (Field("c", t.multiset(KEY)),),
    "binary": (Field("k", KEY), Field("c", t.map_of(KEY, t.BYTES))),
    "decimals": (Field("s", t.STRING), Field("d", t.decimal(10, 2))),
    "times": (Field("a", t.timestamp(3)), Field("b", t.array(t.timestamp(3)))),
    "micros": (Field("a", t.timestamp(6)), Field("b", t.timestamp_ltz(6))),
    "millis": (Field("a", t.timestamp(3)), Field("b", t.timestamp_ltz(3))),
    "required": (Field("a", t.INT.with_nullable(False)), Field("b", t.STRING)),
    "Cased": (Field("Aa", t.INT), Field("aA", t.INT)),
}


def shape_cases() -> list[Case]:
    """Return cases of whole records: nesting, names, broken text."""
    deep = '{"x":' * 900 + "1" + "}" * 900
    return [
        _case("all there", "ab", '{"a":1,"b":2}'),
        _case("blanks around", "ab", ' {"a" : 1 ,\n"b":2} '),
        _case("missing is null", "ab", '{"b":2}'),
        _case("unknown is skipped", "ab", '{"x":{"a":9},"a":1,"y":[{"b":9}],"b":2}'),
        _case("names have case", "Cased", '{"aA":1,"Aa":2,"aa":3}'),
        _case("empty object", "ab", "{}"),
        _case("missing fails", "ab", '{"b":2}', options=STRICT),
        _case("missing within fails", "row", '{"r":{"x":1},"z":1}', options=STRICT),
        _case("null is not missing", "ab", '{"a":null,"b":2}', options=STRICT),
        _case(
            "same name twice", "ab", '{"a":1,"a":2,"b":3}', ours='{"a":2,"b":3}', differs=LAST_WINS
        ),
        _case(
            "same name twice, last",
            "ab",
            '{"a":1,"b":3,"b":4}',
            ours='{"a":1,"b":4}',
            differs=LAST_WINS,
        ),
        _case("same name twice, by tree", "ab", '{"a":1,"a":2,"b":3}', options=TREE),
        _case("value then null", "ab", '{"a":1,"a":null}'),
        _case("rest after the object", "a", '{"a":1} {"a":2}'),
        _case("garbage after the object", "a", '{"a":1}xyz'),
        _case("empty value", "a", ""),
        _case("blanks only", "a", "  "),
        _case("null", "a", "null"),
        _case("null by tree", "a", "null", options=TREE, ours=FAULT, differs=ONE_PARSER),
        _case("number", "a", "1"),
        _case("text", "a", '"a"'),
        _case("array of objects", "a", '[{"a":1},{"a":2}]', ours=FAULT, differs=ONE_ROW),
        _case("empty array", "a", "[]", ours=FAULT, differs=ONE_ROW),
        _case("truncated", "ab", '{"a":1,"b'),
        _case("truncated value", "s", '{"s":"ab'),
        _case("truncated after value", "a", '{"a":1'),
        _case("truncated array", "array", '{"c":[1,'),
        _case("NaN", "a", '{"a":NaN}'),
        _case("single quotes", "a", "{'a':1}"),
        _case("comment", "a", '{"a":1/*x*/}'),
        _case("leading zero", "a", '{"a":01}'),
        _case("plus", "a", '{"a":+1}'),
        _case("comma at the end", "a", '{"a":1,}'),
        _case("invalid UTF-8", "s", b'{"s":"a\xff\xfe"}'),
        _case("invalid UTF-8 in a skipped field", "a", b'{"x":"\xc3(","a":1}'),
        _case("overlong UTF-8", "s", b'{"s":"\xc0\xaf"}'),
        _case("lone surrogate", "s", '{"s":"\\ud83d"}', ours='{"s":"?"}', differs=UTF_8),
        _case("byte order mark", "a", b'\xef\xbb\xbf{"a":1}'),
        _case("UTF-16", "a", '{"a":1}'.encode("utf-16-le")),
        _case("raw control character", "s", b'{"s":"a\x01\tb"}'),
        _case("zero byte", "s", b'{"s":"a\x00b"}'),
        _case("deep in a skipped field", "a", f'{{"d":{deep},"a":1}}'),
        _case("deep as a text", "s", f'{{"s":{deep}}}'),
        _case("10,000 deep", "a", '{"d":' + "[" * 10_000 + "]" * 10_000 + ',"a":1}'),
        _case("10,000 deep as a text", "s", '{"s":' + "[" * 10_000 + "]" * 10_000 + "}"),
        _case("10,000 deep, not closed", "a", '{"d":' + "[" * 10_000),
        _case("number of 1,001 digits", "s", '{"s":' + "1" * 1_001 + "}"),
        _case("decimal makes texts exact", "decimals", '{"s":{"x":1.10},"d":1}'),
        _case("row", "row", '{"r":{"x":1,"y":["a",null,2]},"z":1}'),
        _case("row of nothing", "row", '{"r":{},"z":1}'),
        _case("row as text", "row", '{"r":"x","z":1}'),
        _case("row as array", "row", '{"r":[1],"z":1}'),
        _case("array empty", "array", '{"c":[]}'),
        _case("array nulls", "array", '{"c":[null,1,"2"]}'),
        _case("array as object", "array", '{"c":{"a":1}}'),
        _case("array of arrays for numbers", "array", '{"c":[[1]]}'),
        _case("array of rows", "rows", '{"c":[{"x":1},null,{"y":["a"]}]}'),
        _case("map", "map", '{"c":{"k":1,"":2,"n":null}}'),
        _case("map, same name twice", "map", '{"c":{"k":1,"k":2}}'),
        _case("map as array", "map", '{"c":[1]}'),
        _case("maps", "maps", '{"c":{"k":{"m":[1,2],"n":null}}}'),
        _case("multiset", "multiset", '{"c":{"k":2,"l":1}}'),
        _case("map of many", "map", '{"c":{' + ",".join(f'"k{i}":{i}' for i in range(40)) + "}}"),
        _case("map of three", "map", '{"c":{"q":1,"z":2,"aa":3}}'),
        _case("bytes in a map", "binary", '{"k":"x","c":{"b":"AQI="}}'),
        _case("required is null", "required", '{"b":"x"}'),
    ]


def error_cases() -> list[Case]:
    """Return cases of `ignore-parse-errors`: fields become null, invalid JSON is skipped."""
    return [
        _case("ignored field", "ab", '{"a":"x","b":2}', options=IGNORE),
        _case("ignored overflow", "ab", '{"a":3000000000,"b":2}', options=IGNORE),
        _case("ignored element", "array", '{"c":[1,"x",3],"z":1}', options=IGNORE),
        _case("ignored part", "row", '{"r":{"x":"q","y":["a"]},"z":1}', options=IGNORE),
        _case("ignored map value", "map", '{"c":{"a":"x","b":2}}', options=IGNORE),
        _case("ignored row as text", "row", '{"r":"x","z":1}', options=IGNORE),
        _case(
            "ignored object for a number",
            "ab",
            '{"a":{"b":7},"b":2}',
            options=IGNORE,
            ours='{"a":null,"b":2}',
            differs=WHOLE_VALUE,
        ),
        _case(
            "ignored array of arrays",
            "array",
            '{"c":[[1,2],3],"z":1}',
            options=IGNORE,
            ours='{"c":[null,3],"z":1}',
            differs=WHOLE_VALUE,
        ),
        _case("ignored array for a map", "map", '{"c":[{"a":1}]}', options=IGNORE),
        _case(
            "ignored truncated",
            "ab",
            '{"a":1,"b',
            options=IGNORE,
            ours=LEFT_OUT,
            differs=NO_ROW,
        ),
        _case("ignored garbage", "ab", "garbage", options=IGNORE),
        _case("ignored text", "ab", '"a"', options=IGNORE),
    ]


def encode_cases() -> list[Case]:
    """Return cases of the encoder's options and of Avro only."""
    plain = {"encode.decimal-as-plain-number": "true"}
    short = {"encode.ignore-null-fields": "true"}
    numbers = (Field("a", t.decimal(20, 10)), Field("b", t.decimal(10, 2)))
    return [
        Case("plain decimals", numbers, b'{"a":2.7e-8,"b":100.00}', plain),
        Case("scientific decimals", numbers, b'{"a":2.7e-8,"b":100.00}'),
        _case("null fields left out", "row", '{"r":{"y":[null,"a"]}}', options=short),
        _case("null fields left out of rows", "rows", '{"c":[{"x":null},null]}', options=short),
        _case("null map values stay", "map", '{"c":{"a":null}}', options=short),
        _case(
            "timestamps", "times", '{"a":"1969-12-31 23:59:59.9999","b":["2021-02-03 04:05:06.5"]}'
        ),
        _case(
            "local timestamps",
            "micros",
            '{"a":"1969-12-31 23:59:59.999999","b":"1969-12-31 23:59:59.9999Z"}',
            options=LOCAL,
            avro_differs=MILLIS_AS_MICROS,
        ),
        _case(
            "local milliseconds",
            "millis",
            '{"a":"1969-12-31 23:59:59.9999","b":"2021-02-03 04:05:06.789Z"}',
            options=LOCAL,
        ),
    ]


def all_cases() -> list[Case]:
    """Return all cases; their ids are unique."""
    return [*scalar_cases(), *shape_cases(), *error_cases(), *encode_cases()]

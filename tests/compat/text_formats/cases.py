"""Cases for the formats csv and raw, and for the schema resolution of avro-confluent.

Each case has bytes, columns and options; `record.py` records the answer of a real Flink. If our
answer differs, `ours` is our answer and `differs` says why.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from streamtable.core import types as t
from streamtable.core.types import DataType, Field

SAME, FAULT = "same", "fault"
NOT_NULL_TEXT = t.STRING.with_nullable(False)


@dataclass(frozen=True)
class Case:
    """One value of a list of columns.

    Attributes:
        start: the format of `value`: empty if that of the case, json for a row to be written.
        writer: the schema of an avro-confluent record; `value` is the record's JSON encoding.
        ours: SAME, FAULT, or our row as json if Flink's answer differs.
        differs: why the answers differ.
    """

    id: str
    format: str
    columns: tuple[Field, ...]
    value: bytes
    options: dict[str, str] = field(default_factory=dict)
    start: str = ""
    writer: str = ""
    ours: str = SAME
    differs: str = ""

    @property
    def row_type(self) -> str:
        """The columns as Flink's ROW type."""
        return t.row(*self.columns).sql()


#: Types, and texts of a csv field, separated by `|`.
CSV_SCALARS: list[tuple[DataType, str]] = [
    (t.BOOLEAN, "true|false|TRUE| true |yes|1|0|"),
    (t.TINYINT, "0|127|-128|128| 7 |+7|1.0||x"),
    (t.SMALLINT, "0|32767|-32768|32768| 7 |1.0||x"),
    (t.INT, "0|2147483647|-2147483648|2147483648| 12 |+12|1.0|1e3||x|0x10|1_000"),
    (t.BIGINT, "0|9223372036854775807|9223372036854775808| 12 |1.0||x"),
    (t.FLOAT, "0|1|1.5|-0.0|0.1|1e10|3.4e39|1e-50| 1.5 |NaN|Infinity|-Infinity|1f||x|16777217"),
    (t.DOUBLE, "0|1|1.5|-0.0|0.1|1e400|1e22|1234567.0|12345678.0|0.00001|NaN|Infinity|1d||x"),
    (
        t.decimal(10, 2),
        (
            "0|0.00|1.5|1.50|1.005|-1.005|100|100.00| 1.5 |1e3|99999999.99|99999999.995|100000000"
            "|1e-20||x|1E+2|0E-10"
        ),
    ),
    (t.decimal(20, 10), "2.7e-8|0.000000027|1234567890.0123456789"),
    (t.decimal(38, 0), "12345678901234567890123456789012345678|1e37|1e38"),
    (t.STRING, "a| a ||a b|\u00e9\u4e2d\U0001f600|null|#x|\\|a\\b|'|\t|a\tb"),
    (t.char(3), "abc|abcd|a"),
    (t.varchar(3), "abc|abcd|a"),
    (t.BYTES, "AQI=|AQI||A|!!!!|AQ I=|AQI=AQI="),
    (t.DATE, "2021-02-03|2021-2-3|2021-02-30|20210203|0001-01-01|12345-01-01||2021-02-03 | x"),
    (
        t.time(0),
        "12:00:00|12:00:00.5|12:00|24:00:00||x",
    ),
    (
        t.time(3),
        "12:00:00|12:00:00.5|12:00:00.123|12:00:00.123456789|12:00|24:00:00|1:00:00| 12:00:00||x",
    ),
    (
        t.timestamp(3),
        (
            "2021-02-03 04:05:06|2021-02-03 04:05:06.1|2021-02-03 04:05:06.123456|2021-02-03 04:05"
            "|2021-02-30 00:00:00|2021-02-03T04:05:06| 2021-02-03 04:05:06 |1612325106000||x"
            "|2021-02-03 04:05:06Z|2021-02-03 24:00:00"
        ),
    ),
    (t.timestamp(6), "2021-02-03 04:05:06.123456|1969-12-31 23:59:59.999999|0001-01-01 00:00:00"),
    (
        t.timestamp_ltz(3),
        (
            "2021-02-03 04:05:06Z|2021-02-03 04:05:06.1Z|2021-02-03 04:05:06.123456Z"
            "|2021-02-03 04:05:06||x|1969-12-31 23:59:59.999Z"
        ),
    ),
]

JSON_TIME = "Flink's json writes no fraction of a TIME; its csv does, as ours"
UTF_8 = "what is no UTF-8 is a fault here; Flink reads some of it"
DIFFERENT: dict[str, Any] = {
    "TIME(3) 12:00:00.5": {"ours": '{"c":"12:00:00.5","z":"z"}', "differs": JSON_TIME},
    "TIME(3) 12:00:00.123": {"ours": '{"c":"12:00:00.123","z":"z"}', "differs": JSON_TIME},
    "TIME(3) 12:00:00.123456789": {
        "ours": '{"c":"12:00:00.123","z":"z"}',
        "differs": JSON_TIME,
    },
}

SCHEMAS: dict[str, tuple[Field, ...]] = {
    "s": (Field("s", t.STRING),),
    "ss": (Field("a", t.STRING), Field("b", t.STRING)),
    "is": (Field("a", t.INT), Field("b", t.STRING)),
    "isi": (Field("a", t.INT), Field("b", t.STRING), Field("c", t.INT)),
    "array": (Field("a", t.array(t.INT)), Field("b", t.STRING)),
    "texts": (Field("a", t.array(t.STRING)), Field("b", t.STRING)),
    "row": (Field("r", t.row(Field("x", t.INT), Field("y", t.STRING))), Field("b", t.STRING)),
    "required": (Field("a", t.INT.with_nullable(False)), Field("b", NOT_NULL_TEXT)),
    "decimals": (Field("a", t.decimal(20, 10)), Field("b", t.decimal(10, 2))),
    "all": (
        Field("a", t.BOOLEAN),
        Field("b", t.TINYINT),
        Field("c", t.BIGINT),
        Field("d", t.DOUBLE),
        Field("e", t.BYTES),
        Field("f", t.DATE),
        Field("g", t.time(3)),
        Field("h", t.timestamp(3)),
        Field("i", t.timestamp_ltz(3)),
        Field("j", t.FLOAT),
    ),
    "bytes": (Field("b", t.BYTES),),
    "b": (Field("b", t.BOOLEAN),),
    "tiny": (Field("n", t.TINYINT),),
    "small": (Field("n", t.SMALLINT),),
    "int": (Field("n", t.INT),),
    "big": (Field("n", t.BIGINT),),
    "float": (Field("n", t.FLOAT),),
    "double": (Field("n", t.DOUBLE),),
}

IGNORE = {"ignore-parse-errors": "true"}


def csv_scalars() -> list[Case]:
    """Return cases of one value in one column, with a text column next to it."""
    return [
        Case(
            f"csv {column_type} {text}",
            "csv",
            (Field("c", column_type), Field("z", t.STRING)),
            f"{text},z".encode(),
            **DIFFERENT.get(f"{column_type} {text}", {}),
        )
        for column_type, texts in CSV_SCALARS
        for text in texts.split("|")
    ]


def _csv(name: str, columns: str, value: str | bytes, **kwargs: Any) -> Case:
    data = value if isinstance(value, bytes) else value.encode()
    return Case(f"csv {name}", "csv", SCHEMAS[columns], data, **kwargs)


def csv_shapes() -> list[Case]:
    """Return cases of whole records: quotes, lengths, line ends, options."""
    semicolon = {"field-delimiter": ";"}
    comments = {"allow-comments": "true"}
    escape = {"escape-character": "\\"}
    null = {"null-literal": "n/a"}
    empty_null = {"null-literal": ""}
    no_quotes = {"disable-quote-character": "true"}
    single = {"quote-character": "'"}
    return [
        _csv("two", "is", "1,a"),
        _csv("quoted", "is", '1,"a"'),
        _csv("quoted number", "is", '"1","a"'),
        _csv("quoted delimiter", "is", '1,"a,b"'),
        _csv("quoted quote", "is", '1,"a""b"'),
        _csv("quoted line end", "is", '1,"a\nb"'),
        _csv("quoted carriage return", "is", '1,"a\r\nb"'),
        _csv("quoted blanks around", "is", '1, "a" '),
        _csv("quoted rest", "is", '1,"a"b'),
        _csv("quoted empty", "is", '1,""'),
        _csv("quoted blank", "is", '1," "'),
        _csv("quote within", "is", '1,a"b'),
        _csv("quote within, twice", "is", '1,a"b"c'),
        _csv("quote not closed", "is", '1,"ab'),
        _csv("quote not closed, with line end", "is", '1,"ab\n'),
        _csv("lone quote", "is", '1,"'),
        _csv("three quotes", "is", '1,"""'),
        _csv("four quotes", "is", '1,""""'),
        _csv("line feed at the end", "is", "1,a\n"),
        _csv("line end at the end", "is", "1,a\r\n"),
        _csv("carriage return at the end", "is", "1,a\r"),
        _csv("two lines", "is", "1,a\n2,b"),
        _csv("line feed before", "is", "\n1,a"),
        _csv("line end before", "is", "\r\n1,a"),
        _csv("blank line before", "is", "  \n1,a"),
        _csv("blanks before", "is", "  1,  a"),
        _csv("too few", "isi", "1,a"),
        _csv("too few, ignored", "isi", "1,a", options=IGNORE),
        _csv("one of two", "is", "1"),
        _csv("delimiter at the end", "is", "1,a,"),
        _csv("two delimiters at the end", "is", "1,a,,"),
        _csv("too many", "is", "1,a,b"),
        _csv("too many, ignored", "is", "1,a,b", options=IGNORE),
        _csv("empty second", "is", "1,"),
        _csv("empty first", "is", ",a"),
        _csv("both empty", "ss", ","),
        _csv("only delimiters", "isi", ",,"),
        _csv("nothing", "is", ""),
        _csv("nothing, one column", "s", ""),
        _csv("nothing, ignored", "is", "", options=IGNORE),
        _csv("blank", "is", " "),
        _csv("blank, one column", "s", " "),
        _csv("line feed", "s", "\n"),
        _csv("line feed, two columns", "is", "\n"),
        _csv("one column", "s", "a"),
        _csv("one column quoted", "s", '"a"'),
        _csv("one column quoted empty", "s", '""'),
        _csv("delimiter", "is", "1;a", options=semicolon),
        _csv("delimiter, other one", "ss", "1;a,b", options=semicolon),
        _csv("delimiter, tab", "is", "1\ta", options={"field-delimiter": "\t"}),
        _csv("delimiter, tab by name", "is", "1\ta", options={"field-delimiter": "\\t"}),
        _csv("delimiter, control", "is", "1\x01a", options={"field-delimiter": "\\u0001"}),
        _csv("delimiter, blank", "is", "1 a", options={"field-delimiter": " "}),
        _csv("delimiter, bar", "is", "1|a", options={"field-delimiter": "|"}),
        _csv("delimiter, not ASCII", "is", "1\u00a7a", options={"field-delimiter": "\u00a7"}),
        _csv("delimiter of two", "is", "1;;a", options={"field-delimiter": ";;"}),
        _csv("no quotes", "is", '1,"a"', options=no_quotes),
        _csv("no quotes, delimiter", "is", '1,"a,b"', options=no_quotes),
        _csv("single quotes", "is", "1,'a,b'", options=single),
        _csv("single quotes, double ones", "is", "1,\"a'", options=single),
        _csv("both quote options", "is", "1,a", options={**single, **no_quotes}),
        _csv("escape", "is", "1,a\\,b", options=escape),
        _csv("escaped quote", "is", '1,"a\\"b"', options=escape),
        _csv("escaped escape", "is", "1,a\\\\b", options=escape),
        _csv("escaped n", "is", "1,a\\nb", options=escape),
        _csv("escaped t quoted", "is", '1,"a\\tb"', options=escape),
        _csv("escape at the end", "is", "1,a\\", options=escape),
        _csv("escape at the beginning", "is", '1,\\"a', options=escape),
        _csv(
            "no escape",
            "is",
            "1,a\\,b",
        ),
        _csv("null literal", "is", "n/a,n/a", options=null),
        _csv("null literal quoted", "is", '1,"n/a"', options=null),
        _csv("null literal, blanks", "is", "1, n/a", options=null),
        _csv("null literal empty", "is", ",", options=empty_null),
        _csv("null literal empty, quoted", "is", '1,""', options=empty_null),
        _csv("null literal in an array", "texts", "a;n/a,b", options=null),
        _csv("comment", "is", "#1,a", options=comments),
        _csv("comment first", "is", "# x\n1,a", options=comments),
        _csv("comment after blanks", "is", "  # x\n1,a", options=comments),
        _csv("comment within", "is", "1,#a", options=comments),
        _csv("hash without comments", "ss", "#1,a"),
        _csv("array", "array", "1;2;3,b"),
        _csv("array of one", "array", "1,b"),
        _csv("array empty", "array", ",b"),
        _csv("array, empty elements", "texts", "a;;b,c"),
        _csv("array, blanks", "texts", " a ; b ,c"),
        _csv("array, blanks of numbers", "array", " 1 ; 2 ,c"),
        _csv("array, delimiter at the end", "texts", "a;,c"),
        _csv("array, delimiter first", "texts", ";a,c"),
        _csv("array quoted", "texts", '"a;b",c'),
        _csv("array, quoted element", "texts", 'a;"b",c'),
        _csv("array broken", "array", "1;x,b"),
        _csv("array broken, ignored", "array", "1;x,b", options=IGNORE),
        _csv("array delimiter", "array", "1|2,b", options={"array-element-delimiter": "|"}),
        _csv(
            "array delimiter of two", "array", "1::2,b", options={"array-element-delimiter": "::"}
        ),
        _csv("row", "row", "1;x,b"),
        _csv("row, too few", "row", "1,b"),
        _csv("row, too few, ignored", "row", "1,b", options=IGNORE),
        _csv("row, too many", "row", "1;x;2,b"),
        _csv("row empty", "row", ",b"),
        _csv("broken", "is", "x,a"),
        _csv("broken, ignored", "is", "x,a", options=IGNORE),
        _csv("empty number, ignored", "is", ",a", options=IGNORE),
        _csv("quote not closed, ignored", "is", '1,"ab', options=IGNORE),
        _csv("required is empty", "required", ",b"),
        _csv("quoted, blanks behind", "ss", '"a"  ,b'),
        _csv("quoted, line end behind", "is", '1,"a"  \r\n'),
        _csv("escaped letters", "is", '1,\\r\\0\\q\\"', options=escape),
        _csv("escaped line end", "is", "1,a\\\nb", options=escape),
        _csv("escape of another kind", "is", "1,a~,b", options={"escape-character": "~"}),
        _csv("escape is the quote", "is", '1,"a""b"', options={"escape-character": '"'}),
        _csv("escape, no quotes", "is", '1,a\\,"b', options={**escape, **no_quotes}),
        _csv("null literal for an array", "texts", "n/a,b", options=null),
        _csv("null literal for a row", "row", "n/a,b", options=null),
        _csv("null literal in a row", "row", "1;n/a,b", options=null),
        _csv("comment, line end", "is", "# x\r\n1,a", options=comments),
        _csv("comments, blank line first", "is", "\n1,a", options=comments),
        _csv("comments, blanks first", "ss", "  1,a", options=comments),
        _csv("comments, blank lines and comments", "is", "\n  \n# x\n\n1,a", options=comments),
        _csv("comments, quoted hash", "ss", '"#1",a', options=comments),
        _csv(
            "all types",
            "all",
            "true,1,2,1.5,AQI=,2021-02-03,04:05:06.7"
            ",2021-02-03 04:05:06.7,2021-02-03 04:05:06.7Z,1.5",
            ours='{"a":true,"b":1,"c":2,"d":1.5,"e":"AQI=","f":"2021-02-03","g":"04:05:06.7",'
            '"h":"2021-02-03 04:05:06.7","i":"2021-02-03 04:05:06.7Z","j":1.5}',
            differs=JSON_TIME,
        ),
        _csv("invalid UTF-8", "is", b"1,a\xff\xfe"),
        _csv("invalid UTF-8 at the end", "is", b"1,a\xc3"),
        _csv("overlong UTF-8", "is", b"1,\xc0\xaf", ours=FAULT, differs=UTF_8),
        _csv("surrogate in UTF-8", "is", b"1,\xed\xa0\xbd", ours=FAULT, differs=UTF_8),
        _csv("four bytes", "is", "1,\U0001f600"),
        _csv("byte order mark", "is", b"\xef\xbb\xbf1,a"),
        _csv("zero byte", "is", b"1,a\x00b"),
        _csv("control character", "is", b"1,a\x01b"),
    ]


def csv_writes() -> list[Case]:
    """Return cases of rows to be written, given as json."""
    texts = [
        "a", "", " ", " a", "a ", "a b", "a,b", 'a"b', '"', "a\nb", "a\rb", "a\tb", "a;b", "a'b",
        "\u00e9\u4e2d\U0001f600", "#a", "a#b", "\\", "a\\b", "null", "-", "a.b", "0", "~", "!",
        "a=b", "a|b", "+1", "a/b", "(a)", "x" * 30, "x" * 23 + ",", "\u007f", "\u0001", "x" * 24,
        "x" * 25, "a:b", "A_b",
    ]  # fmt: skip
    found = [
        _csv(f"write {json.dumps(text)}", "ss", json.dumps({"a": text, "b": "z"}), start="json")
        for text in texts
    ]
    numbers = {"write-bigdecimal-in-scientific-notation": "false"}
    scientific = {"write-bigdecimal-in-scientific-notation": "true"}
    for name, options in {
        "no quotes": {"disable-quote-character": "true"},
        "single": {"quote-character": "'"},
        "escape": {"escape-character": "\\"},
        "semicolon": {"field-delimiter": ";"},
        "null literal": {"null-literal": "n/a"},
        "another escape": {"escape-character": "~"},
        "escape, no quotes": {"escape-character": "\\", "disable-quote-character": "true"},
        "bar": {"field-delimiter": "|"},
        "tab": {"field-delimiter": "\t"},
    }.items():
        found += [
            _csv(
                f"write {json.dumps(text)} with {name}",
                "ss",
                json.dumps({"a": text, "b": None}),
                start="json",
                options=options,
            )
            for text in (
                "a",
                "",
                "a,b",
                'a"b',
                "a'b",
                "a\\b",
                "a;b",
                "n/a",
                "a\nb",
                "a~b",
                "#",
                None,
            )
        ]
    found += [
        _csv(f"write {columns} {value}", columns, value, start="json", options=options)
        for columns, value, options in [
            ("ss", '{"a":null,"b":null}', {}),
            ("s", '{"s":null}', {}),
            ("s", '{"s":""}', {}),
            ("is", '{"a":null,"b":"x"}', {}),
            ("array", '{"a":[1,2],"b":"x"}', {}),
            ("array", '{"a":[],"b":"x"}', {}),
            ("array", '{"a":[1,null],"b":"x"}', {}),
            ("array", '{"a":null,"b":"x"}', {}),
            ("texts", '{"a":["p;q","r,s","t u"],"b":"x"}', {}),
            ("texts", '{"a":["","v"],"b":"x"}', {}),
            ("texts", '{"a":["a","b"],"b":"x"}', {"array-element-delimiter": "::"}),
            ("texts", '{"a":["a",null],"b":"x"}', {"null-literal": "n/a"}),
            ("texts", '{"a":null,"b":"x"}', {"null-literal": "n/a"}),
            ("row", '{"r":{"x":1,"y":"p"},"b":"x"}', {}),
            ("row", '{"r":{"x":null,"y":null},"b":"x"}', {}),
            ("row", '{"r":null,"b":"x"}', {}),
            ("decimals", '{"a":2.7e-8,"b":100.00}', {}),
            ("decimals", '{"a":0,"b":0.10}', {}),
            ("decimals", '{"a":1234567890.5,"b":1e3}', {}),
            ("decimals", '{"a":-0.0000001,"b":99999999.99}', {}),
        ]
    ]
    found += [
        _csv(f"write {value} plainly", "decimals", value, start="json", options=numbers)
        for value in ('{"a":2.7e-8,"b":100.00}', '{"a":0,"b":0.10}', '{"a":-0.0000001,"b":1e3}')
    ]
    found += [
        _csv(f"write {value} as told", "decimals", value, start="json", options=scientific)
        for value in ('{"a":2.7e-8,"b":100.00}', '{"a":0,"b":0.10}', '{"a":-0.0000001,"b":1e3}')
    ]
    array = (Field("a", t.array(t.decimal(20, 10))), Field("b", t.array(t.DOUBLE)))
    found += [
        Case(f"csv write decimals in arrays {options}", "csv", array, value, options, start="json")
        for value in (b'{"a":[2.7e-8,0],"b":[1e22,"NaN",-0.0]}',)
        for options in ({}, scientific)
    ]
    for name, value in {
        "double": "1.0E22 0.1 1.0E-5 123456789012345678 -0.0",
        "float": "1.0E10 0.1 16777216 1.0E-5",
    }.items():
        found += [
            _csv(
                f"write {name} {number}", name, json.dumps({"n": json.loads(number)}), start="json"
            )
            for number in value.split()
        ]
    for number in ("NaN", "Infinity", "-Infinity"):
        found.append(_csv(f"write {number}", "double", json.dumps({"n": number}), start="json"))
    every = (
        '{"a":true,"b":-1,"c":9223372036854775807,"d":1.5,"e":"AQI=","f":"2021-02-03",'
        '"g":"04:05:06","h":"2021-02-03 04:05:06.789","i":"2021-02-03 04:05:06.7Z","j":1.5}'
    )
    found.append(_csv("write all types", "all", every, start="json"))
    bar = {"field-delimiter": "|"}
    found.append(_csv("write all types with bar", "all", every, start="json", options=bar))
    for name, value in (
        ("long array", '{"a":[1000000,2000000,3000000,4000000],"b":"x"}'),
        ("array of one", '{"a":[1],"b":"x"}'),
        ("array of negatives", '{"a":[-1,-2],"b":"x"}'),
    ):
        found.append(_csv(f"write {name}", "array", value, start="json"))
        found.append(_csv(f"write {name} with bar", "array", value, start="json", options=bar))
    for text in ("AQI=", "+/+/", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", ""):
        found.append(_csv(f"write base64 {text}", "bytes", f'{{"b":"{text}"}}', start="json"))
    seconds = '{"h":"2021-02-03 04:05:00","g":"04:05:00","i":"2021-02-03 04:00:00Z"}'
    found.append(_csv("write times without seconds", "all", seconds, start="json"))
    return found


def _raw(name: str, columns: str, value: bytes, **kwargs: Any) -> Case:
    return Case(f"raw {name}", "raw", SCHEMAS[columns], value, **kwargs)


def raw_cases() -> list[Case]:
    """Return cases of the bytes of one column."""
    little = {"endianness": "little-endian"}
    sizes = {"tiny": 1, "small": 2, "int": 4, "big": 8, "float": 4, "double": 8, "b": 1}
    found = []
    for columns, size in sizes.items():
        value = bytes(range(1, size + 1))
        found += [
            _raw(f"{columns}", columns, value),
            _raw(f"{columns} little", columns, value, options=little),
            _raw(f"{columns} all ones", columns, b"\xff" * size),
            _raw(f"{columns} too short", columns, value[:-1]),
            _raw(f"{columns} too long", columns, value + b"\x09"),
            _raw(f"{columns} null", columns, b"{}", start="json"),
        ]
    text = "a\u00e9\u4e2d\U0001f600"
    return [
        *found,
        _raw("false", "b", b"\x00"),
        _raw("two", "b", b"\x02"),
        _raw("double of 1.5", "double", b"\x3f\xf8\x00\x00\x00\x00\x00\x00"),
        _raw("text", "s", text.encode()),
        _raw("empty text", "s", b""),
        _raw("empty bytes", "bytes", b""),
        _raw("null text", "s", b"{}", start="json"),
        _raw("invalid UTF-8", "s", b"a\xff\xfe"),
        _raw("UTF-16", "s", text.encode("utf-16-be"), options={"charset": "UTF-16BE"}),
        _raw("UTF-16 with its mark", "s", text.encode("utf-16"), options={"charset": "UTF-16"}),
        _raw("Latin", "s", b"a\xe9", options={"charset": "ISO-8859-1"}),
        _raw(
            "Latin cannot", "s", b'{"s":"\\u4e2d"}', start="json", options={"charset": "ISO-8859-1"}
        ),
        _raw("ASCII cannot read", "s", b"a\xe9", options={"charset": "US-ASCII"}),
        _raw("GBK", "s", b"\xd6\xd0", options={"charset": "GBK"}),
        _raw("no such charset", "s", b"a", options={"charset": "nothing"}),
        _raw("no such order", "int", b"abcd", options={"endianness": "middle"}),
        _raw("bytes", "bytes", b"\x00\xff"),
    ]


def _record(*fields: tuple[str, Any], name: str = "record") -> str:
    parts = [
        {"name": key, "type": kind} if not isinstance(kind, dict) or "field" not in kind
        else {"name": key, **kind["field"]}
        for key, kind in fields
    ]  # fmt: skip
    space = "org.apache.flink.avro.generated"
    return json.dumps({"type": "record", "name": name, "namespace": space, "fields": parts})


def avro_cases() -> list[Case]:
    """Return cases of records of one schema that are read with the columns of another schema."""
    number, text = t.BIGINT, t.STRING
    required = number.with_nullable(False)
    inner = {"type": "record", "name": "Inner", "fields": [{"name": "x", "type": "int"}]}
    millis = {"type": "long", "logicalType": "timestamp-millis"}
    micros = {"type": "long", "logicalType": "timestamp-micros"}
    table = [
        ("same", [("a", number)], [("a", ["null", "long"])], '{"a":{"long":5}}', {}),
        ("null", [("a", number)], [("a", ["null", "long"])], '{"a":null}', {}),
        ("null comes last", [("a", number)], [("a", ["long", "null"])], '{"a":{"long":5}}', {}),
        ("not null read as nullable", [("a", number)], [("a", "long")], '{"a":5}', {}),
        (
            "nullable read as not null",
            [("a", required)],
            [("a", ["null", "long"])],
            '{"a":{"long":5}}',
            {},
        ),
        ("null read as not null", [("a", required)], [("a", ["null", "long"])], '{"a":null}', {}),
        ("field more", [("a", number)], [("x", "string"), ("a", "long")], '{"x":"q","a":5}', {}),
        ("field less", [("a", number), ("b", text)], [("a", "long")], '{"a":5}', {}),
        ("required field less", [("b", required), ("a", number)], [("a", "long")], '{"a":5}', {}),
        (
            "other order",
            [("a", number), ("b", text)],
            [("b", "string"), ("a", "long")],
            '{"b":"q","a":5}',
            {},
        ),
        ("other case", [("A", number)], [("a", "long")], '{"a":5}', {}),
        ("int as bigint", [("a", number)], [("a", "int")], '{"a":5}', {}),
        ("bigint as int", [("a", t.INT)], [("a", "long")], '{"a":5}', {}),
        ("int as float", [("a", t.FLOAT)], [("a", "int")], '{"a":16777217}', {}),
        ("long as double", [("a", t.DOUBLE)], [("a", "long")], '{"a":5}', {}),
        ("float as double", [("a", t.DOUBLE)], [("a", "float")], '{"a":0.1}', {}),
        ("double as float", [("a", t.FLOAT)], [("a", "double")], '{"a":0.1}', {}),
        ("long as string", [("a", text)], [("a", "long")], '{"a":5}', {}),
        ("string as long", [("a", number)], [("a", "string")], '{"a":"5"}', {}),
        ("bytes as string", [("a", text)], [("a", "bytes")], '{"a":"q"}', {}),
        ("string as bytes", [("a", t.BYTES)], [("a", "string")], '{"a":"q"}', {}),
        ("int as tinyint", [("a", t.TINYINT)], [("a", "int")], '{"a":5}', {}),
        ("boolean as int", [("a", t.INT)], [("a", "boolean")], '{"a":true}', {}),
        (
            "union of three",
            [("a", text)],
            [("a", ["null", "long", "string"])],
            '{"a":{"string":"q"}}',
            {},
        ),
        (
            "union of three, other",
            [("a", text)],
            [("a", ["null", "long", "string"])],
            '{"a":{"long":5}}',
            {},
        ),
        (
            "enum as text",
            [("a", text)],
            [("a", {"type": "enum", "name": "E", "symbols": ["p", "q"]})],
            '{"a":"q"}',
            {"ours": '{"a":"q"}', "differs": ENUM},
        ),
        (
            "fixed as bytes",
            [("a", t.BYTES)],
            [("a", {"type": "fixed", "name": "F", "size": 2})],
            '{"a":"qq"}',
            {"ours": '{"a":"cXE="}', "differs": ENUM},
        ),
        ("other record name", [("a", number)], [("a", "long"), "User"], '{"a":5}', {}),
        (
            "row of another name",
            [("r", t.row(Field("x", t.INT)))],
            [("r", inner)],
            '{"r":{"x":5}}',
            {},
        ),
        (
            "row with fields more and less",
            [("r", t.row(Field("y", t.INT), Field("x", t.BIGINT)))],
            [("r", ["null", inner])],
            '{"r":{"org.apache.flink.avro.generated.Inner":{"x":5}}}',
            {},
        ),
        (
            "array",
            [("a", t.array(t.BIGINT))],
            [("a", {"type": "array", "items": "int"})],
            '{"a":[1,2]}',
            {},
        ),
        (
            "map",
            [("a", t.map_of(NOT_NULL_TEXT, t.DOUBLE))],
            [("a", {"type": "map", "values": "int"})],
            '{"a":{"k":1}}',
            {},
        ),
        (
            "array as map",
            [("a", t.map_of(NOT_NULL_TEXT, t.INT))],
            [("a", {"type": "array", "items": "int"})],
            '{"a":[1]}',
            {},
        ),
        ("millis", [("a", t.timestamp(3))], [("a", millis)], '{"a":1612325106789}', {}),
        ("long as timestamp", [("a", t.timestamp(3))], [("a", "long")], '{"a":1612325106789}', {}),
        (
            "micros as millis",
            [("a", t.timestamp(3))],
            [("a", micros)],
            '{"a":1612325106789000}',
            {"ours": '{"a":"2021-02-03 04:05:06.789"}', "differs": UNITS},
        ),
        ("timestamp as bigint", [("a", number)], [("a", millis)], '{"a":1612325106789}', {}),
        (
            "date",
            [("a", t.DATE)],
            [("a", {"type": "int", "logicalType": "date"})],
            '{"a":18661}',
            {},
        ),
        ("int as date", [("a", t.DATE)], [("a", "int")], '{"a":18661}', {}),
        (
            "decimal",
            [("a", t.decimal(10, 2))],
            [("a", _decimal(10, 2))],
            '{"a":"\\u0001\\u0000"}',
            {},
        ),
        (
            "decimal of another scale",
            [("a", t.decimal(10, 2))],
            [("a", _decimal(10, 3))],
            '{"a":"\\u0004\\u00d2"}',
            {"ours": '{"a":1.23}', "differs": UNITS},
        ),
        (
            "bytes as decimal",
            [("a", t.decimal(10, 2))],
            [("a", "bytes")],
            '{"a":"\\u0001\\u0000"}',
            {},
        ),
        ("nothing in common", [("a", number)], [("b", "long")], '{"b":5}', {}),
    ]
    return [_resolution(*row) for row in table]


ENUM = "Avro's rules know no such reading, though it loses nothing; Flink ends the job"
UNITS = "Flink takes the number in the unit of its own schema: another time, another amount"


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


def _resolution(
    name: str, columns: list[tuple[str, DataType]], written: list[Any], value: str, more: Any
) -> Case:
    names = [part for part in written if isinstance(part, str)]
    fields = [part for part in written if not isinstance(part, str)]
    return Case(
        f"avro {name}",
        "avro-confluent",
        tuple(Field(column, kind) for column, kind in columns),
        value.encode(),
        writer=_record(*fields, name=names[0] if names else "record"),
        **more,
    )


def all_cases() -> list[Case]:
    """Return all cases; their ids are unique."""
    return [*csv_scalars(), *csv_shapes(), *csv_writes(), *raw_cases(), *avro_cases()]

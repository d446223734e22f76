"""Valid and invalid change events; Flink's answers are in the `changes-flink-*.json` next to this.

A case decodes `value` and encodes every row again, so that one answer covers both directions.
If our answer differs from Flink's on purpose, `ours` is our answer and `differs` says why.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from streamtable.core import types as t
from streamtable.core.types import Field

#: Pairs of kind and row as json. FAULT stands for an event that does not parse.
Rows = list[tuple[str, str]]
FAULT = "fault"

ONE_EVENT = "one record is one event here"
OTHER_ROWS = "Flink looks for a name in all old rows, where it asks about one"
OTHER_TIMES = "Flink has NULL or a fault for times of another form, and 9 digits"
NESTED_NAMES = "Flink also finds the name within a nested row"

AB = (Field("a", t.INT), Field("b", t.STRING))
MANY = (
    Field("i", t.BIGINT),
    Field("d", t.decimal(10, 2)),
    Field("x", t.DOUBLE),
    Field("t", t.timestamp(3)),
    Field("z", t.timestamp_ltz(3)),
    Field("r", t.row(Field("p", t.INT), Field("q", t.array(t.STRING)))),
    Field("m", t.map_of(t.STRING, t.INT)),
    Field("y", t.BYTES),
)
NESTED = (Field("a", t.INT), Field("r", t.row(Field("a", t.INT))))


@dataclass(frozen=True)
class ChangeCase:
    """One event of one schema."""

    id: str
    format: str
    value: bytes
    columns: tuple[Field, ...] = AB
    options: dict[str, str] = field(default_factory=dict)
    metadata: tuple[str, ...] = ()
    ours: Rows | str | None = None
    differs: str = ""

    @property
    def row_type(self) -> str:
        """The columns as Flink spells them."""
        return t.row(*self.columns).with_nullable(False).sql()


IGNORE = {"ignore-parse-errors": "true"}
SCHEMA = {"schema-include": "true"}
ISO = {"timestamp-format.standard": "ISO-8601"}
PLAIN = {"encode.decimal-as-plain-number": "true"}
SHORT = {"encode.ignore-null-fields": "true"}

ROW = {"a": 1, "b": "x"}
OLD = {"a": 1, "b": "w"}
FULL = {
    "i": 9007199254740993,
    "d": 100.5,
    "x": 1e22,
    "t": "2024-01-02 03:04:05.678",
    "z": "2024-01-02 03:04:05.678Z",
    "r": {"p": 1, "q": ["u", None]},
    "m": {"k": 1},
    "y": "AQI=",
}
FULL_ISO = FULL | {"t": "2024-01-02T03:04:05.678", "z": "2024-01-02T03:04:05.678Z"}
SOURCE = {
    "version": "1.9",
    "ts_ms": 1589362330000,
    "db": "shop",
    "schema": None,
    "table": "orders",
    "pos": 3,
    "snapshot": False,
}


def _event(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()


def _debezium(id_: str, value: Any, **more: Any) -> ChangeCase:
    return ChangeCase(f"debezium {id_}", "debezium-json", _event(value), **more)


def _canal(id_: str, value: Any, **more: Any) -> ChangeCase:
    return ChangeCase(f"canal {id_}", "canal-json", _event(value), **more)


def _maxwell(id_: str, value: Any, **more: Any) -> ChangeCase:
    return ChangeCase(f"maxwell {id_}", "maxwell-json", _event(value), **more)


def _ogg(id_: str, value: Any, **more: Any) -> ChangeCase:
    return ChangeCase(f"ogg {id_}", "ogg-json", _event(value), **more)


def _change(before: Any, after: Any, op: Any, **more: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "op": op, **more}


DEBEZIUM_METADATA = (
    "schema",
    "ingestion-timestamp",
    "source.timestamp",
    "source.database",
    "source.schema",
    "source.table",
    "source.properties",
)


def debezium_cases() -> list[ChangeCase]:
    """Return cases of Debezium's envelopes."""
    whole = _change(None, ROW, "c", source=SOURCE, ts_ms=1589362330904)
    enveloped = {"schema": {"type": "struct", "fields": []}, "payload": whole}
    return [
        _debezium("create", _change(None, ROW, "c")),
        _debezium("snapshot", _change(None, ROW, "r")),
        _debezium("update", _change(OLD, ROW, "u")),
        _debezium("delete", _change(ROW, None, "d")),
        _debezium("order of fields", {"op": "u", "after": ROW, "x": [1], "before": OLD}),
        _debezium("update without before", _change(None, ROW, "u")),
        _debezium("update without after", _change(OLD, None, "u")),
        _debezium("delete without before", _change(None, None, "d")),
        _debezium("create without after", _change(ROW, None, "c")),
        _debezium("after left out", {"op": "c"}),
        _debezium("op unknown", _change(None, ROW, "t")),
        _debezium("op null", _change(None, ROW, None)),
        _debezium("op left out", {"before": None, "after": ROW}),
        _debezium("op in capitals", _change(None, ROW, "C")),
        _debezium("op a number", _change(None, ROW, 1)),
        _debezium("nothing", {}),
        _debezium("empty", b""),
        _debezium("blanks", b"  "),
        _debezium("json null", "null"),
        _debezium("array", [whole], ours=FAULT, differs=ONE_EVENT),
        _debezium("cut off", b'{"before":null,"after":{"a":1'),
        _debezium("garbage", b"\x00\x01\x02"),
        _debezium("after a text", _change(None, "x", "c")),
        _debezium("column of a wrong type", _change(None, {"a": "x"}, "c")),
        _debezium("column missing", _change(None, {"b": "x"}, "c")),
        _debezium("column null", _change(None, {"a": None, "b": None}, "c")),
        _debezium("columns unknown", _change(None, {"a": 1, "c": {"d": 1}}, "c")),
        _debezium("unknown op ignored", _change(None, ROW, "t"), options=IGNORE),
        _debezium("cut off, ignored", b'{"op":"c","after":{', options=IGNORE),
        _debezium("wrong column ignored", _change(None, {"a": "x", "b": "y"}, "c"), options=IGNORE),
        _debezium("before lacks, ignored", _change(None, ROW, "u"), options=IGNORE),
        _debezium("after a text, ignored", _change(None, "x", "c"), options=IGNORE),
        _debezium("with schema", enveloped, options=SCHEMA),
        _debezium("with schema, payload first", dict(reversed(enveloped.items())), options=SCHEMA),
        _debezium("with schema, null payload", {"schema": {}, "payload": None}, options=SCHEMA),
        _debezium("schema expected, none there", whole, options=SCHEMA),
        _debezium("schema there, not expected", enveloped),
        _debezium("every type", _change(FULL, FULL, "u"), columns=MANY),
        _debezium("every type, ISO", _change(None, FULL_ISO, "c"), columns=MANY, options=ISO),
        _debezium("plain decimals", _change(None, {"d": 100}, "c"), columns=MANY, options=PLAIN),
        _debezium("scientific decimals", _change(None, {"d": 100}, "c"), columns=MANY),
        _debezium("nulls left out", _change({"b": "x"}, {"a": 1}, "u"), options=SHORT),
        _debezium("metadata", whole, metadata=DEBEZIUM_METADATA),
        _debezium("metadata with schema", enveloped, metadata=DEBEZIUM_METADATA, options=SCHEMA),
        _debezium("metadata missing", _change(OLD, ROW, "u"), metadata=DEBEZIUM_METADATA),
        _debezium(
            "source time of a wrong type",
            _change(None, ROW, "c", source={"ts_ms": "soon"}),
            metadata=("source.timestamp",),
        ),
    ]


def _canal_event(kind: Any, data: Any, old: Any = None, **more: Any) -> dict[str, Any]:
    return {"data": data, "old": old, "type": kind, "database": "shop", "table": "orders", **more}


CANAL_METADATA = (
    "database",
    "table",
    "sql-type",
    "pk-names",
    "ingestion-timestamp",
    "event-timestamp",
)
ONLY = {"database.include": "sh.*", "table.include": "orders|items"}


def canal_cases() -> list[ChangeCase]:
    """Return cases of Canal's envelopes."""
    two = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    more = {"sqlType": {"a": 4}, "pkNames": ["a"], "ts": 1598944202218, "es": 1598944146308}
    return [
        _canal("insert", _canal_event("INSERT", [ROW])),
        _canal("insert of two", _canal_event("INSERT", two)),
        _canal("insert of none", _canal_event("INSERT", [])),
        _canal("values as texts", _canal_event("INSERT", [{"a": "1", "b": "x"}])),
        _canal("update", _canal_event("UPDATE", [ROW], [{"b": "w"}])),
        _canal("update of two", _canal_event("UPDATE", two, [{"b": "w"}, {"b": "v"}])),
        _canal(
            "update of two in other columns",
            _canal_event("UPDATE", two, [{"b": "w"}, {"a": 9}]),
            ours=[
                ("-U", '{"a":1,"b":"w"}'),
                ("+U", '{"a":1,"b":"x"}'),
                ("-U", '{"a":9,"b":"y"}'),
                ("+U", '{"a":2,"b":"y"}'),
            ],
            differs=OTHER_ROWS,
        ),
        _canal("update from null", _canal_event("UPDATE", [ROW], [{"b": None}])),
        _canal("update of nothing", _canal_event("UPDATE", [ROW], [{}])),
        _canal("update without old", _canal_event("UPDATE", [ROW])),
        _canal("update with fewer old", _canal_event("UPDATE", two, [{"b": "w"}])),
        _canal("update with an old null", _canal_event("UPDATE", [ROW], [None])),
        _canal("delete", _canal_event("DELETE", two)),
        _canal("a table created", _canal_event("CREATE", None, isDdl=True, sql="create")),
        _canal("a table altered", _canal_event("ALTER", None, isDdl=True)),
        _canal("small letters", _canal_event("insert", [ROW])),
        _canal("type null", _canal_event(None, [ROW])),
        _canal("type left out", {"data": [ROW]}),
        _canal("data null", _canal_event("INSERT", None)),
        _canal("data a row", _canal_event("INSERT", ROW)),
        _canal("a row null", _canal_event("INSERT", [None])),
        _canal("empty", b""),
        _canal("cut off", b'{"data":[{"a":1}],"ty'),
        _canal("wrong type", _canal_event("INSERT", [{"a": "x"}])),
        _canal(
            "wrong type ignored", _canal_event("INSERT", [{"a": "x", "b": "y"}]), options=IGNORE
        ),
        _canal("unknown type ignored", _canal_event("ALTER", None), options=IGNORE),
        _canal("included", _canal_event("INSERT", [ROW]), options=ONLY),
        _canal("another table", _canal_event("INSERT", ["x"]) | {"table": "o"}, options=ONLY),
        _canal("another database", _canal_event("X", 1) | {"database": "o"}, options=ONLY),
        _canal("no table named", {"data": [ROW], "type": "INSERT"}, options=ONLY),
        _canal("every type", _canal_event("UPDATE", [FULL], [{"d": 1}]), columns=MANY),
        _canal("metadata", _canal_event("INSERT", two, **more), metadata=CANAL_METADATA),
        _canal("metadata missing", {"data": [ROW], "type": "DELETE"}, metadata=CANAL_METADATA),
        _canal("nulls left out", _canal_event("INSERT", [{"a": 1}]), options=SHORT),
    ]


MAXWELL_METADATA = ("database", "table", "primary-key-columns", "ingestion-timestamp")


def maxwell_cases() -> list[ChangeCase]:
    """Return cases of Maxwell's envelopes."""
    more = {"database": "shop", "table": "orders", "ts": 1477053217, "primary_key_columns": ["a"]}
    update = {"type": "update", "data": ROW, "old": {"b": "w"}}
    return [
        _maxwell("insert", {"type": "insert", "data": ROW}),
        _maxwell("update", update),
        _maxwell("update from null", update | {"old": {"b": None}}),
        _maxwell("update of nothing", update | {"old": {}}),
        _maxwell("update without old", {"type": "update", "data": ROW}),
        _maxwell("update, old null", update | {"old": None}),
        _maxwell(
            "update of a nested row",
            {"type": "update", "data": {"a": 1, "r": {"a": 2}}, "old": {"r": {"a": 3}}},
            columns=NESTED,
            ours=[("-U", '{"a":1,"r":{"a":3}}'), ("+U", '{"a":1,"r":{"a":2}}')],
            differs=NESTED_NAMES,
        ),
        _maxwell("delete", {"type": "delete", "data": ROW}),
        _maxwell("bootstrap", {"type": "bootstrap-insert", "data": ROW}),
        _maxwell("type null", {"type": None, "data": ROW}),
        _maxwell("type left out", {"data": ROW}),
        _maxwell("data null", {"type": "insert", "data": None}),
        _maxwell("data left out", {"type": "delete"}),
        _maxwell("data an array", {"type": "insert", "data": [ROW]}),
        _maxwell("empty", b""),
        _maxwell("cut off", b'{"type":"insert","data":{"a":1'),
        _maxwell("wrong type", {"type": "insert", "data": {"a": "x"}}),
        _maxwell("wrong type ignored", {"type": "insert", "data": {"a": "x"}}, options=IGNORE),
        _maxwell("unknown type ignored", {"type": "x", "data": ROW}, options=IGNORE),
        _maxwell("every type", {"type": "insert", "data": FULL}, columns=MANY),
        _maxwell("metadata", update | more, metadata=MAXWELL_METADATA),
        _maxwell("metadata missing", {"type": "insert", "data": ROW}, metadata=MAXWELL_METADATA),
        _maxwell("nulls left out", {"type": "delete", "data": {"a": 1}}, options=SHORT),
    ]


OGG_METADATA = ("table", "primary-keys", "ingestion-timestamp", "event-timestamp")
#: Time in a GoldenGate event -> our ingestion time and event time; None if equal to Flink's.
_TIMES: dict[str, tuple[str | None, str | None]] = {
    "2020-05-13 15:40:06.000001": (None, None),
    "2020-05-13T15:40:07.000001": (None, "2020-05-13 15:40:07"),
    "2020-05-13 15:40:06": (None, None),
    "2020-05-13T15:40:06": ("2020-05-13 15:40:06", "2020-05-13 15:40:06"),
    "2020-05-13 15:40:06.123": (None, None),
    "2020-05-13T15:40:06.123": ("2020-05-13 15:40:06.123", "2020-05-13 15:40:06.123"),
    "2020-05-13 15:40:06.123456789": ("2020-05-13 15:40:06.123456", None),
    "2020-05-13T15:40:06.123456789": ("2020-05-13 15:40:06.123", "2020-05-13 15:40:06.123"),
    "2020-05-13 15:40:06.1": (None, None),
    "2020-05-13": (None, None),
    "2020-05-13 15:40": (FAULT, None),
    "2020-5-3 5:4:6": (None, None),
    "2020-05-13T15:40:06.000001Z": (FAULT, None),
    "1969-12-31 23:59:59.999999": (None, None),
    "2020-02-30 00:00:00": ("2020-02-29 00:00:00", None),
    "2020-05-13 24:00:00": (None, None),
    "1589384406000": (FAULT, None),
    "soon": (FAULT, None),
    "": (FAULT, None),
}


def _ogg_time(key: str, name: str, text: str, ours: str | None) -> ChangeCase:
    row = json.dumps({**ROW, key: f"{ours}Z"}, separators=(",", ":"))
    return _ogg(
        f"{key} '{text}'",
        _ogg_event("I", None, ROW, **{name: text}),
        metadata=(key,),
        ours=ours if ours in (None, FAULT) else [("+I", row)],
        differs="" if ours is None else OTHER_TIMES,
    )


def _ogg_event(kind: Any, before: Any, after: Any, **more: Any) -> dict[str, Any]:
    return {"before": before, "after": after, "op_type": kind, **more}


def ogg_cases() -> list[ChangeCase]:
    """Return cases of GoldenGate's envelopes."""
    more = {
        "op_ts": "2020-05-13 15:40:06.000000",
        "current_ts": "2020-05-13T15:40:07.123456",
        "primary_keys": ["a"],
        "pos": "00000000000000000000143",
        "table": "SHOP.ORDERS",
    }
    return [
        _ogg("insert", _ogg_event("I", None, ROW)),
        _ogg("update", _ogg_event("U", OLD, ROW)),
        _ogg("delete", _ogg_event("D", ROW, None)),
        _ogg("truncate", _ogg_event("T", None, None)),
        _ogg("truncate ignored", _ogg_event("T", None, None), options=IGNORE),
        _ogg("order of fields", {"op_type": "U", "after": ROW, "x": [1], "before": OLD}),
        _ogg("update without before", _ogg_event("U", None, ROW)),
        _ogg("update, before empty", _ogg_event("U", {}, ROW)),
        _ogg("update without after", _ogg_event("U", OLD, None)),
        _ogg("delete without before", _ogg_event("D", None, None)),
        _ogg("insert without after", _ogg_event("I", ROW, None)),
        _ogg("after left out", {"op_type": "I"}),
        _ogg("type unknown", _ogg_event("X", None, ROW)),
        _ogg("type null", _ogg_event(None, None, ROW)),
        _ogg("type left out", {"after": ROW}),
        _ogg("small letter", _ogg_event("i", None, ROW)),
        _ogg("empty", b""),
        _ogg("cut off", b'{"op_type":"I","after":{"a":1'),
        _ogg("wrong type", _ogg_event("I", None, {"a": "x"})),
        _ogg("wrong type ignored", _ogg_event("I", None, {"a": "x", "b": "y"}), options=IGNORE),
        _ogg("every type", _ogg_event("U", FULL, FULL), columns=MANY),
        _ogg("every type, ISO", _ogg_event("I", None, FULL_ISO), columns=MANY, options=ISO),
        _ogg("plain decimals", _ogg_event("I", None, {"d": 100}), columns=MANY, options=PLAIN),
        _ogg("nulls left out", _ogg_event("U", {"b": "x"}, {"a": 1}), options=SHORT),
        _ogg("metadata", _ogg_event("U", OLD, ROW, **more), metadata=OGG_METADATA),
        _ogg("metadata missing", _ogg_event("I", None, ROW), metadata=OGG_METADATA),
        *(
            _ogg_time("ingestion-timestamp", "current_ts", text, o)
            for text, (o, _) in _TIMES.items()
        ),
        *(_ogg_time("event-timestamp", "op_ts", text, o) for text, (_, o) in _TIMES.items()),
        _ogg(
            "a time that does not parse, ignored",
            _ogg_event("I", None, ROW, op_ts="soon", current_ts="soon"),
            metadata=OGG_METADATA,
            options=IGNORE,
        ),
    ]


def all_cases() -> list[ChangeCase]:
    """Return all cases; their ids are unique."""
    return [*debezium_cases(), *canal_cases(), *maxwell_cases(), *ogg_cases()]

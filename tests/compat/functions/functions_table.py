"""The one row that the recorded expressions read: column, Flink type, JSON for Flink, Spark SQL."""

from __future__ import annotations

import json

#: name -> (Flink type, value for Flink's json source, value as Spark SQL)
COLUMNS: dict[str, tuple[str, object, str]] = {
    "id": ("INT NOT NULL", 1, "1"),
    "b": ("BOOLEAN", True, "true"),
    "ti": ("TINYINT", 7, "7Y"),
    "si": ("SMALLINT", 300, "300S"),
    "i": ("INT", 42, "42"),
    "bi": ("BIGINT", 5_000_000_000, "5000000000L"),
    "f": ("FLOAT", 1.5, "1.5F"),
    "d": ("DOUBLE", 2.75, "2.75D"),
    "dc": ("DECIMAL(10, 2)", "123.45", "CAST('123.45' AS DECIMAL(10,2))"),
    "dc38": (
        "DECIMAL(38, 10)",
        "1234567890.1234567890",
        "CAST('1234567890.1234567890' AS DECIMAL(38,10))",
    ),
    "s": ("STRING", "Hello", "'Hello'"),
    "v": ("VARCHAR(20)", "world", "'world'"),
    "c": ("CHAR(5)", "ab", "'ab'"),
    "dt": ("DATE", "2024-02-29", "DATE'2024-02-29'"),
    "tm": ("TIME(0)", "12:34:56", "CAST('12:34:56' AS TIME(0))"),
    "ts": (
        "TIMESTAMP(6)",
        "2024-02-29 12:34:56.123456",
        "TIMESTAMP_NTZ'2024-02-29 12:34:56.123456'",
    ),
    "ts3": ("TIMESTAMP(3)", "2024-02-29 12:34:56.789", "TIMESTAMP_NTZ'2024-02-29 12:34:56.789'"),
    "lz": (
        "TIMESTAMP_LTZ(6)",
        "2024-02-29 12:34:56.123456Z",
        "TIMESTAMP_LTZ'2024-02-29 12:34:56.123456Z'",
    ),
    "lz3": (
        "TIMESTAMP_LTZ(3)",
        "2024-02-29 12:34:56.789Z",
        "TIMESTAMP_LTZ'2024-02-29 12:34:56.789Z'",
    ),
    "a": ("ARRAY<INT>", [3, 1, 2], "array(3, 1, 2)"),
    "ta": ("ARRAY<STRING>", ["x", None, "z"], "array('x', NULL, 'z')"),
    "m": ("MAP<STRING, INT>", {"k": 1, "l": 2}, "map('k', 1, 'l', 2)"),
    "r": ("ROW<x INT, y STRING>", {"x": 5, "y": "yy"}, "named_struct('x', 5, 'y', 'yy')"),
    "bt": ("BYTES", "YWJj", "X'616263'"),
    "z": ("INT", 0, "0"),
    "zd": ("DOUBLE", 0.0, "0D"),
    "zdc": ("DECIMAL(10, 2)", 0.0, "CAST('0' AS DECIMAL(10,2))"),
    "neg": ("INT", -7, "-7"),
    "nn": ("INT NOT NULL", 10, "10"),
    "ns": ("STRING NOT NULL", "nn", "'nn'"),
    "nul": ("INT", None, "CAST(NULL AS INT)"),
    "nuls": ("STRING", None, "CAST(NULL AS STRING)"),
    "gap": ("TIMESTAMP(3)", "2024-03-31 02:30:00", "TIMESTAMP_NTZ'2024-03-31 02:30:00'"),
    "dst": ("TIMESTAMP_LTZ(3)", "2024-03-30 12:00:00Z", "TIMESTAMP_LTZ'2024-03-30 12:00:00Z'"),
    "num": ("STRING", " 17 ", "' 17 '"),
    "bad": ("STRING", "abc", "'abc'"),
    "when_": ("STRING", "2024-02-29 12:34:56.789", "'2024-02-29 12:34:56.789'"),
    "js": ("STRING", '{"a":{"b":[1,2]},"c":"t"}', '\'{"a":{"b":[1,2]},"c":"t"}\''),
}


def flink_ddl(path: str) -> str:
    """Return the statement for Flink's table, over a folder with the text of `flink_json`."""
    columns = ", ".join(f"`{name}` {kind}" for name, (kind, _, _) in COLUMNS.items())
    return (
        f"CREATE TABLE t ({columns}) WITH"
        f" ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'json')"
    )


def flink_json() -> str:
    """Return the row as Flink's json format reads it."""
    return json.dumps({name: value for name, (_, value, _) in COLUMNS.items()})


def spark_columns() -> list[str]:
    """Return the row as arguments of `selectExpr`."""
    return [f"{sql} AS `{name}`" for name, (_, _, sql) in COLUMNS.items()]

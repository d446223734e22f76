"""Filters and functions of JSON paths, as documented by json-path, the library that Flink uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.compat.functions.functions_answers import binder, expression

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

JSON = '{"items": [{"n": 1, "sku": "a"}, {"n": 5, "sku": "b"}, {"n": 9, "sku": "b"}], "max": 4}'


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.items[?(@.n > 4)].sku", '["b","b"]'),
        ("$.items[?(@.n > $.max && @.sku == 'b')].n", "[5,9]"),
        ("$.items[?(@.sku in ['a', 'c'])].n", "[1]"),
        ('$.items[?(@.sku == {"x": 1})].n', "[]"),
        ("$.items[?(@.gone)]", "[]"),
    ],
)
def test_a_filter_keeps_matching_items(path: str, found: str, row: DataFrame) -> None:
    assert _value(row, "JSON_QUERY", path) == found


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.items.length()", "3"),
        ("$.sum($.items[*].n)", "15.0"),
        ("lax $.max($.items[*].n)", "9.0"),
    ],
)
def test_a_function_gives_a_scalar(path: str, found: str, row: DataFrame) -> None:
    assert _value(row, "JSON_VALUE", path) == found


@pytest.mark.parametrize("path", ["$.items[?(@.n >]", "$[", "$.items.nonsense()", ""])
def test_an_invalid_path_is_an_error(path: str, row: DataFrame) -> None:
    assert _value(row, "JSON_VALUE", path, " DEFAULT 'none' ON ERROR") == "none"
    assert _value(row, "JSON_VALUE", f"lax {path}", " DEFAULT 'none' ON ERROR") == "none"


def _value(row: DataFrame, call: str, path: str, clause: str = "") -> object:
    quoted = path.replace("'", "''")
    bound = binder().bind(expression(f"{call}('{JSON}', '{quoted}'{clause})"))
    return row.selectExpr(f"{bound.sql} AS found").collect()[0][0]


def test_a_text_is_parsed_again_when_another_one_follows(row: DataFrame) -> None:
    """Functions keep the last text that they have parsed."""
    texts = ['{"x": 1, "y": [2]}', '{"x": 3}', "{broken", "null", '{"x": 1, "y": [2]}', ""]
    pairs = [(one, other) for one in texts for other in texts]
    none = "CAST(NULL AS STRING)"
    call = f"flink_json_value({{}}, 'lax $.x', 'STRING', 'NULL', {none}, 'NULL', {none})"
    query = "flink_json_query({}, 'lax $.y', 'WITHOUT', 'NULL', 'NULL')"
    columns = [f.format(c) for f in (call, query, "flink_is_json({}, 'OBJECT')") for c in "aba"]
    found = row.sparkSession.createDataFrame(pairs, "a STRING, b STRING").selectExpr(*columns)
    expected = {
        texts[0]: ("1", "[2]", True),
        texts[1]: ("3", None, True),
        "{broken": (None, None, False),
        "null": (None, None, False),
        "": (None, None, False),
    }
    assert [tuple(values) for values in found.collect()] == [
        tuple(expected[text][part] for part in range(3) for text in (one, other, one))
        for one, other in pairs
    ]

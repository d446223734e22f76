"""The key of `streamtable why`: one JSON value per key column, checked by its type."""

from __future__ import annotations

import pytest

from streamtable.core.errors import StreamtableError
from streamtable.plan.sink.sink import Sink
from streamtable.runtime.why.key import described, parse_key
from streamtable.session import Session

_COLUMNS = """
  s STRING, b BOOLEAN, i INT, l BIGINT, d DECIMAL(5, 2), f DOUBLE, day DATE, ts TIMESTAMP(3),
  ltz TIMESTAMP_LTZ(3), raw BYTES
"""


def _sink(key: str) -> Sink:
    options = """'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json',
      'properties.bootstrap.servers' = 'localhost:9092'"""
    session = Session()
    session.load(
        f"""
        CREATE TABLE t ({_COLUMNS}, PRIMARY KEY ({key}) NOT ENFORCED) WITH (
          'topic' = 't', {options});
        CREATE TABLE source ({_COLUMNS}) WITH (
          'connector' = 'kafka', 'topic' = 's', 'format' = 'json',
          'properties.bootstrap.servers' = 'localhost:9092');
        INSERT INTO t SELECT * FROM source;
        """,
        "job.sql",
    )
    return session.plans[0]


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("s", '{"s": "O\'Neil\\\\"}', "s = 'O\\'Neil\\\\'"),
        ("b", '{"b": true}', "b = true"),
        ("i", '{"i": -7}', "i = -7"),
        ("l", '{"l": 9223372036854775807}', "l = 9223372036854775807"),
        ("d", '{"d": 1.50}', "d = CAST('1.50' AS DECIMAL(5,2))"),
        ("d", '{"d": "3"}', "d = CAST('3' AS DECIMAL(5,2))"),
        ("f", '{"f": 1e3}', "f = CAST('1E+3' AS DOUBLE)"),
        ("day", '{"day": "2026-01-31"}', "day = DATE '2026-01-31'"),
        ("ts", '{"ts": "2026-01-31T12:00:00.5"}', "ts = TIMESTAMP_NTZ '2026-01-31 12:00:00.5'"),
        ("ltz", '{"ltz": "2026-01-31 12:00:00Z"}', "ltz = TIMESTAMP_LTZ '2026-01-31 12:00:00Z'"),
        ("i, s", '{"s": "a", "i": 1}', "i = 1, s = 'a'"),
    ],
)
def test_values_become_literals(key: str, text: str, expected: str) -> None:
    assert described(parse_key(text, _sink(key))) == expected


@pytest.mark.parametrize(
    ("key", "text", "message"),
    [
        ("i", "{", "which is not JSON: "),
        ("i", "7", "which is not a JSON object with the key (i) of t"),
        ("i", '{"i": NaN}', "which is not JSON: NaN is no value"),
        ("i", '{"i": 7, "x": 1}', "the key (i) of t: 'x' is no key column"),
        ("i, s", '{"i": 7}', "the key (i, s) of t: 's' is missing"),
        ("i", '{"i": null}', "'i' is INT"),
        ("i", '{"i": "7"}', "'i' is INT"),
        ("i", '{"i": true}', "'i' is INT"),
        ("i", '{"i": 2147483648}', "'i' is INT"),
        ("s", '{"s": 7}', "'s' is STRING"),
        ("b", '{"b": 0}', "'b' is BOOLEAN"),
        ("d", '{"d": 1.005}', "'d' is DECIMAL(5, 2)"),
        ("d", '{"d": 1000}', "'d' is DECIMAL(5, 2)"),
        ("day", '{"day": "31.1.2026"}', "'day' is DATE, such as '2026-01-31'"),
        ("ts", '{"ts": "2026-01-31 12:00:00Z"}', "'ts' is TIMESTAMP(3), such as"),
    ],
)
def test_invalid_keys_are_refused(key: str, text: str, message: str) -> None:
    with pytest.raises(StreamtableError) as caught:
        parse_key(text, _sink(key))
    assert str(caught.value).startswith("INVALID_OPTION: option '--key' has the value")
    assert message in str(caught.value)


def test_a_key_of_bytes_is_refused_by_its_type() -> None:
    with pytest.raises(StreamtableError, match="UNSUPPORTED_TYPE: type BYTES cannot be used"):
        parse_key('{"raw": "AA=="}', _sink("raw"))

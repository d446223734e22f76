"""Transforms of ingestion jobs: SELECT lists and filters bound to a table's columns."""

import pytest

from streamtable.core.errors import Span, StreamtableError
from streamtable.core.types import MAX_LENGTH, DataType, Root
from streamtable.plan.transform import (
    Computed,
    Copied,
    InputColumn,
    bind_transform,
    read_transform_query,
)

INT = DataType(Root.INT)
TEXT = DataType(Root.VARCHAR, precision=MAX_LENGTH)
COLUMNS = (
    InputColumn("id", "c0", INT.with_nullable(False)),
    InputColumn("name", "c1", TEXT),
    InputColumn("__table_name__", "c2", TEXT),
)
AT, FILTER_AT = Span("job.yaml", 7, 3), Span("job.yaml", 8, 3)


def query(projection, filter_=None):
    return read_transform_query(projection, filter_, AT, FILTER_AT, ("__kind__",))


def bound(projection, filter_=None):
    return bind_transform(query(projection, filter_), COLUMNS)


def test_columns_are_copied_or_computed():
    items = query("*, id AS n, id + 1 AS next, __kind__ AS op").items
    assert items[:2] == (Copied("*", "*"), Copied("id", "n"))
    assert [(type(item), item.name) for item in items[2:]] == [
        (Computed, "next"),
        (Computed, "op"),
    ]


def test_expressions_have_types_and_name_spark_columns():
    found = bound("id, id + 1 AS next, UPPER(name) AS loud")
    assert [(c.field.name, c.field.type.sql()) for c in found.columns] == [
        ("next", "INT NOT NULL"),
        ("loud", "STRING"),
    ]
    assert "`c0`" in found.columns[0].sql
    assert found.reads == {"c0", "c1"}


def test_a_filter_is_a_condition():
    found = bound("*", "id > 3")
    assert "`c0`" in (found.condition or "")
    assert found.reads == {"c0"}


def test_a_filter_resolves_columns_of_the_projection_first():
    swapped = bound("name AS id, id AS name", "name > 3 AND id LIKE 'a%'")
    assert swapped.condition == bound("*", "id > 3 AND name LIKE 'a%'").condition
    computed = bound("id, UPPER(name) AS name", "name = 'A'")
    assert computed.condition == bound("*", "(UPPER(name)) = 'A'").condition


@pytest.mark.parametrize(
    ("projection", "filter_", "line", "message"),
    [
        ("nam || '' AS x", None, 7, "UNKNOWN_COLUMN: column 'nam' .* did you mean 'name'"),
        ("id, id", None, 7, "DUPLICATE_COLUMN"),
        ("id, NOSUCH(id) AS x", None, 7, "UNKNOWN_FUNCTION"),
        ("id", "name", 8, "a filter"),
        ("id", "id > ", 8, "SYNTAX"),
        ("id FROM rows WHERE id > 1 --", None, 7, "WHERE in a transform"),
        ("DISTINCT id", None, 7, "DISTINCT in a transform"),
        ("id; SELECT 1", None, 7, "';' in a transform"),
    ],
)
def test_errors_have_the_line_of_the_key_in_the_file(projection, filter_, line, message):
    with pytest.raises(StreamtableError, match=message) as caught:
        bound(projection, filter_)
    assert caught.value.at is not None
    assert caught.value.at.line == line

"""SHOW CREATE: generate the statements that create catalogs, tables and views."""

from __future__ import annotations

from streamtable.catalog.catalog import Entry
from streamtable.catalog.namespaces import Described
from streamtable.catalog.views import View, without_stars
from streamtable.core.secrets import shown_option
from streamtable.core.table import ComputedColumn, MetadataColumn, Schema, Table, TableColumn
from streamtable.core.types import quote
from streamtable.sql.dialect import flink_sql


def create_table_sql(entry: Entry, table: Table) -> str:
    """Return the CREATE TABLE statement of a table in Flink's layout, secrets masked."""
    lines = [f"{quote(c.name)} {_column(c)}" for c in table.schema.columns]
    if table.schema.watermark:
        mark = table.schema.watermark
        lines.append(
            f"WATERMARK FOR {quote(mark.column)} AS {flink_sql(mark.expression, quoted=True)}"
        )
    if table.schema.primary_key:
        lines.append(_key(table.schema))
    options = [
        f"  {text(key)} = {text(shown_option(key, given.text))}"
        for key, given in sorted(table.options.items())
    ]
    return "\n".join(
        [
            f"CREATE {_temporary(entry)}TABLE {entry.path.quoted} (",
            ",\n".join(f"  {line}" for line in lines),
            ")",
            *_comment(table.comment),
            *_partitions(table.schema),
            "WITH (",
            ",\n".join(options),
            ")",
        ]
    )


def create_catalog_sql(described: Described) -> str:
    """Return the CREATE CATALOG statement of a catalog."""
    options = [
        f"  {text(key)} = {text(shown_option(key, value))}"
        for key, value in described.options.items()
    ]
    return "\n".join(
        [
            f"CREATE CATALOG {quote(described.name)}",
            *_comment(described.comment),
            "WITH (",
            ",\n".join(options),
            ")",
        ]
    )


def create_view_sql(entry: Entry, view: View, columns: list[str]) -> str:
    """Return the CREATE VIEW statement of a view; `columns` are the columns of its query."""
    names = ",\n".join(f"  {quote(name)}" for name in columns)
    return "\n".join(
        [
            f"CREATE {_temporary(entry)}VIEW {entry.path.quoted} (",
            names,
            ")",
            *_comment(view.comment),
            f"AS {flink_sql(without_stars(view.query), quoted=True)}",
        ]
    )


def extras(column: TableColumn) -> str:
    """Return the AS or METADATA clause of a column; empty for a physical column."""
    match column:
        case ComputedColumn():
            return f"AS {flink_sql(column.expression, quoted=True)}"
        case MetadataColumn():
            key = "" if column.key == column.name else f" FROM {text(column.key)}"
            return f"METADATA{key}{' VIRTUAL' if column.virtual else ''}"
        case _:
            return ""


def text(value: str) -> str:
    """Return a string literal."""
    return "'" + value.replace("'", "''") + "'"


def _column(column: TableColumn) -> str:
    kind = "" if isinstance(column, ComputedColumn) else column.type.sql()
    parts = (kind, extras(column), *_comment(column.comment))
    return " ".join(part for part in parts if part)


def _key(schema: Schema) -> str:
    name = schema.key_name or "_".join(["PK", *schema.primary_key])
    columns = ", ".join(map(quote, schema.primary_key))
    return f"CONSTRAINT {quote(name)} PRIMARY KEY ({columns}) NOT ENFORCED"


def _partitions(schema: Schema) -> list[str]:
    columns = ", ".join(map(quote, schema.partition_keys))
    return [f"PARTITIONED BY ({columns})"] if columns else []


def _comment(comment: str | None) -> list[str]:
    return [f"COMMENT {text(comment)}"] if comment else []


def _temporary(entry: Entry) -> str:
    return "TEMPORARY " if entry.temporary else ""

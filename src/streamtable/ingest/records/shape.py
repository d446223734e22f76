"""The conversion of a table's rows into records, valid until its columns change."""

from __future__ import annotations

from dataclasses import dataclass

from streamtable.connectors.mysql_cdc.reader import Row, TableId, TableSchema
from streamtable.core.errors import Condition, StreamtableError
from streamtable.ingest.file.options import COLUMN_EXCLUDE, COLUMN_INCLUDE
from streamtable.ingest.file.routes import topics_of
from streamtable.ingest.file.transforms import Transform, transform_of
from streamtable.ingest.records.encoding import RowEncoder
from streamtable.ingest.records.rules import RecordRules, chosen_columns, key_names

#: What to do if the records of a table cannot go on.
ANEW_WITH_TOPICS = "give the changed job a new --checkpoint directory and new topics"

#: Headers of a record, in order.
Headers = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class Shape:
    """The conversion of a table's rows into records, valid until its columns change.

    Attributes:
        key_places: positions of the key's columns in the row.
    """

    topics: tuple[str, ...]
    key: RowEncoder
    value: RowEncoder
    key_places: tuple[int, ...]
    headers: Headers | None

    def key_of(self, row: Row) -> Row:
        """Return the key's values."""
        return tuple(row[place] for place in self.key_places)


@dataclass(frozen=True)
class ComputedShape:
    """The conversion of rows whose transform has expressions, which Spark evaluates."""

    topics: tuple[str, ...]
    key: RowEncoder
    value: RowEncoder
    headers: Headers | None


def shape_of(table: TableSchema, rules: RecordRules) -> Shape | ComputedShape | None:
    """Return the conversion of a table's rows; None if the table is excluded.

    Raises:
        StreamtableError: PRIMARY_KEY_REQUIRED, UNKNOWN_COLUMN, INVALID_OPTION; OPTION_CONFLICT if
            column lists leave out the key; CHECKPOINT_MISMATCH if the key is not the one of earlier
            records.
    """
    keys = key_names(table, rules.transforms)
    if not keys:
        if rules.ignore_keyless:
            return None
        raise StreamtableError(
            Condition.PRIMARY_KEY_REQUIRED,
            table=table.id,
            owner="an upsert topic",
            hint=f"add a transform with source-table: {table.id} and primary-keys: ..., or leave"
            " such tables out with ignore-no-primary-key-table: true",
        )
    if known := rules.known.get(table.id):
        if keys != known.key:
            raise StreamtableError(
                Condition.CHECKPOINT_MISMATCH,
                checkpoint="of this job",
                difference=f"the key of {table.id} was {', '.join(known.key)} and is now"
                f" {', '.join(keys)}",
                hint=ANEW_WITH_TOPICS,
            )
        table = known.with_widths(table)
    transform = transform_of(table.id, rules.transforms)
    chosen = chosen_columns(table, rules, transform)
    places = dict(chosen)
    for name in keys:
        # A row is identified by the columns of the table, also if a computed column has the name.
        of_row = name in table.places and not (table.primary_key and name in places)
        if of_row and not rules.columns.copies(table.id, name):
            raise _left_out(table, name, transform)
        if places.get(name) is None:
            raise StreamtableError(
                Condition.UNKNOWN_COLUMN,
                at=transform.at if transform else None,
                column=name,
                hint=f"the key of {table.id} needs it in the projection",
            )
    key = [(name, places[name]) for name in keys]
    topics = topics_of(table.id, rules.routes)
    headers = headers_of(table.id) if rules.add_table_id else None
    flag = rules.tinyint1_is_boolean
    sides = (
        RowEncoder(table, key, tinyint1_is_boolean=flag),
        RowEncoder(table, chosen, tinyint1_is_boolean=flag),
    )
    if transform is not None and transform.computes:
        return ComputedShape(topics, *sides, headers)
    key_places = tuple(place for _, place in key if isinstance(place, int))
    return Shape(topics, *sides, key_places, headers)


def _left_out(table: TableSchema, column: str, transform: Transform | None) -> StreamtableError:
    owner, at = "its key", None
    if transform is not None and transform.primary_keys:
        owner, at = f"primary-keys of the transform of '{transform.pattern.text}'", transform.at
    return StreamtableError(
        Condition.OPTION_CONFLICT,
        at=at,
        reason=f"{owner} has column '{column}' of {table.id}, which the column list leaves out",
        hint=f"copy the column: '{COLUMN_INCLUDE.key}' and '{COLUMN_EXCLUDE.key}'",
    )


def headers_of(table: TableId) -> Headers:
    """Return headers with the names of a table, as Flink CDC's Kafka sink writes them."""
    return (
        ("namespace", b""),
        ("schemaName", table.database.encode()),
        ("tableName", table.table.encode()),
    )

"""The factory of `upsert-kafka` tables: WITH options -> `KafkaTable` with a primary key.

Rules of Flink's *Upsert Kafka* page: the primary key is the record's key, a scan always begins at
the earliest offset, and a null value deletes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.inferred import InferredColumns, WithoutColumns
from streamtable.connectors.kafka.factory import JAVA_CLASSES
from streamtable.connectors.kafka.options import rules
from streamtable.connectors.kafka.options.options import (
    FLUSH_INTERVAL,
    FLUSH_ROWS,
    FORMAT,
    KAFKA_ONLY,
    KEY_CHECK,
    KEY_FIELDS,
    KEY_FORMAT,
    KEY_PREFIX,
    RULES,
    SHARED,
    TOPIC_CONFIG,
    UPSERT_ONLY,
    VALUE_FIELDS,
    VALUE_FORMAT,
    StartupMode,
    ValueFields,
)
from streamtable.connectors.kafka.options.sides import (
    ChosenFormat,
    check_key_columns,
    checked,
    key_side,
    read_options,
    value_side,
)
from streamtable.connectors.kafka.options.table_options import shared_fields
from streamtable.connectors.kafka.options.values import Buffer, Startup
from streamtable.connectors.kafka.read.metadata import check_metadata
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.changelog import UPSERT
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given, OptionSet
from streamtable.core.table import Schema

if TYPE_CHECKING:
    from streamtable.connectors.kafka.schemas.client import SchemaRegistry

OPTIONS = OptionSet(
    "connector 'upsert-kafka'",
    tuple(replace(o, required=True) if o is KEY_FORMAT else o for o in (*SHARED, *UPSERT_ONLY)),
    passthrough="properties.",
    family=TOPIC_CONFIG,
    rules=(
        *RULES,
        rules.one_of(VALUE_FORMAT, FORMAT),
        rules.needs(KEY_PREFIX, VALUE_FIELDS, ValueFields.EXCEPT_KEY),
        rules.both_or_neither(FLUSH_ROWS, FLUSH_INTERVAL),
    ),
)

_REFUSED = {
    KEY_FIELDS.key: "the key is the primary key",
    **{
        option.key: "an upsert scan reads the whole topic, from the earliest offset"
        for option in KAFKA_ONLY
        if option.key.startswith("scan.")
    },
    "sink.partitioner": ("rows of one key must be in one partition, which Kafka's default ensures"),
}


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> KafkaTable:
    """Create a checked `upsert-kafka` table.

    Raises:
        StreamtableError: an error in the options, key or columns, at its position.
    """
    _refuse_kafka_only(given, table)
    if not schema.primary_key:
        raise StreamtableError(
            Condition.PRIMARY_KEY_REQUIRED,
            at=at,
            hint="add PRIMARY KEY (column, ...) NOT ENFORCED to its columns",
            table=table,
            owner="connector 'upsert-kafka'",
        )
    _check_sides(given, table, at)
    options = read_options(OPTIONS, table, given, at)
    settings = options.settings
    prefix = settings[KEY_PREFIX]
    check_key_columns(schema.primary_key, prefix, schema, table, settings.at(KEY_PREFIX) or at)
    for column in schema.metadata:
        check_metadata(column, "upsert-kafka")
    value = _insert_only(options.value, table, at)
    return KafkaTable(
        name="upsert-kafka",
        table=table,
        schema=schema,
        key=key_side(_required(options.key), schema.primary_key, schema, prefix),
        value=checked(
            value_side(value, schema.primary_key, schema, settings[VALUE_FIELDS]), schema
        ),
        startup=Startup(StartupMode.EARLIEST, explicit=True),
        reads=UPSERT,
        writes=UPSERT,
        key_check=settings[KEY_CHECK],
        buffer=Buffer(settings[FLUSH_ROWS], settings[FLUSH_INTERVAL]),
        at=at,
        **shared_fields(settings),
    )


def infer(declared: WithoutColumns, client: SchemaRegistry | None = None) -> InferredColumns | None:
    """Infer columns and primary key from the schema registry of the formats, if they have one."""
    # Most tables declare their columns; the client of a registry needs HTTP and TLS.
    from streamtable.connectors.kafka.schemas.infer import infer_sides, inferred_upsert

    table, given, at = declared.table, declared.options, declared.at
    _refuse_kafka_only(given, table)
    _check_sides(given, table, at)
    sides = infer_sides(declared, read_options(OPTIONS, table, given, at), client)
    return None if sides is None else inferred_upsert(table, sides, declared.primary_key, at)


def _refuse_kafka_only(given: Mapping[str, Given], table: str) -> None:
    for key, reason in _REFUSED.items():
        if key in given:
            raise StreamtableError(
                Condition.OPTION_NOT_SETTABLE,
                at=given[key].at,
                option=key,
                reason=f"on upsert-kafka {reason}",
                hint=f"remove it from the WITH clause of {table}",
            )


def _check_sides(given: Mapping[str, Given], table: str, at: Span | None) -> None:
    """Raise MISSING_OPTION with both formats if only 'format' is given, as for `kafka`."""
    missing = [key for key in (KEY_FORMAT.key, VALUE_FORMAT.key) if key not in given]
    if FORMAT.key not in given or KEY_FORMAT.key not in missing:
        return
    kind = given[FORMAT.key].text
    wanted = " and ".join(f"'{key}' = '{kind}'" for key in missing)
    raise StreamtableError(
        Condition.MISSING_OPTION,
        at=given[FORMAT.key].at or at,
        hint=f"write {wanted} instead of '{FORMAT.key}'",
        table=table,
        option=KEY_FORMAT.key,
        owner="connector 'upsert-kafka'",
    )


def _required(chosen: ChosenFormat | None) -> ChosenFormat:
    assert chosen is not None, "a required format that was not read"  # noqa: S101
    return chosen


def _insert_only(chosen: ChosenFormat, table: str, at: Span | None) -> ChosenFormat:
    """Refuse change events as values: the key identifies the row, and the value contains it.

    Formats of change events are allowed as key formats. They read and write keys as their tools do.
    """
    if not chosen.format.mode.is_append:
        raise StreamtableError(
            Condition.FORMAT_NOT_INSERT_ONLY,
            at=at,
            hint="use connector 'kafka' for this format, or an insert-only one such as 'json'",
            table=table,
            format=chosen.format.identifier,
            side="value",
        )
    return chosen


UPSERT_KAFKA = ConnectorFactory(OPTIONS, create, infer=infer, java_classes=JAVA_CLASSES)

"""The factory of `kafka` tables: WITH options -> `KafkaTable`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from streamtable.connector_api.connector import ConnectorFactory
from streamtable.connector_api.inferred import InferredColumns, WithoutColumns
from streamtable.connectors.kafka.options import rules
from streamtable.connectors.kafka.options.options import (
    FORMAT,
    KAFKA_ONLY,
    KEY_FIELDS,
    KEY_FORMAT,
    KEY_PREFIX,
    PARTITIONER,
    RULES,
    SHARED,
    STARTUP_MODE,
    STARTUP_OFFSETS,
    STARTUP_TIMESTAMP,
    TOPIC,
    TOPIC_CONFIG,
    VALUE_FIELDS,
    VALUE_FORMAT,
    StartupMode,
    ValueFields,
)
from streamtable.connectors.kafka.options.sides import (
    ChosenFormat,
    check_key_columns,
    key_side,
    read_options,
)
from streamtable.connectors.kafka.options.table_options import read_startup, shared_fields
from streamtable.connectors.kafka.read.changes import event_metadata, value_of
from streamtable.connectors.kafka.read.metadata import check_metadata
from streamtable.connectors.kafka.table import KafkaTable
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given, OptionSet
from streamtable.core.table import Schema

if TYPE_CHECKING:
    from streamtable.connectors.kafka.schemas.client import SchemaRegistry

_KEY_TOGETHER = rules.together(KEY_FORMAT, KEY_FIELDS)

OPTIONS = OptionSet(
    "connector 'kafka'",
    (*SHARED, *KAFKA_ONLY),
    passthrough="properties.",
    family=TOPIC_CONFIG,
    rules=(
        *RULES,
        rules.one_of(FORMAT, VALUE_FORMAT),
        rules.needs(KEY_PREFIX, VALUE_FIELDS, ValueFields.EXCEPT_KEY),
        _KEY_TOGETHER,
        rules.required_with(STARTUP_TIMESTAMP, STARTUP_MODE, StartupMode.TIMESTAMP),
        rules.required_with(STARTUP_OFFSETS, STARTUP_MODE, StartupMode.SPECIFIC),
        rules.one_topic(STARTUP_OFFSETS, STARTUP_MODE, StartupMode.SPECIFIC, TOPIC),
        rules.not_with_keys(PARTITIONER, "round-robin", KEY_FIELDS),
    ),
)


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> KafkaTable:
    """Create a checked `kafka` table.

    Raises:
        StreamtableError: an error in the options or columns, at its position.
    """
    options = read_options(OPTIONS, table, given, at)
    settings = options.settings
    _check_primary_key(schema, options.value, table, at)
    key_columns, prefix = settings[KEY_FIELDS], settings[KEY_PREFIX]
    check_key_columns(key_columns, prefix, schema, table, settings.at(KEY_FIELDS))
    for column in schema.metadata:
        check_metadata(column, "kafka", event_metadata(options.value))
    return KafkaTable(
        name="kafka",
        table=table,
        schema=schema,
        key=key_side(options.key, key_columns, schema, prefix) if options.key else None,
        value=value_of(options.value, key_columns, schema, settings[VALUE_FIELDS]),
        startup=read_startup(settings),
        reads=options.value.format.mode,
        writes=options.value.format.mode,
        partitioner=settings[PARTITIONER],
        at=at,
        **shared_fields(settings),
    )


#: Without columns, the fields of the key's schema are the key.
_WITHOUT_COLUMNS = replace(
    OPTIONS, rules=tuple(rule for rule in OPTIONS.rules if rule is not _KEY_TOGETHER)
)


def infer(declared: WithoutColumns, client: SchemaRegistry | None = None) -> InferredColumns | None:
    """Infer the columns from the schema registry of the formats; None if they have none."""
    # Most tables declare their columns; the client of a registry needs HTTP and TLS.
    from streamtable.connectors.kafka.schemas.infer import infer_sides, inferred_append

    options = read_options(_WITHOUT_COLUMNS, declared.table, declared.options, declared.at)
    sides = infer_sides(declared, options, client)
    return None if sides is None else inferred_append(declared.table, sides, options.settings)


def _check_primary_key(schema: Schema, value: ChosenFormat, table: str, at: Span | None) -> None:
    """Refuse a primary key if every record is an insert (Flink's rule): keys may repeat."""
    if schema.primary_key and value.format.mode.is_append:
        raise StreamtableError(
            Condition.INVALID_PRIMARY_KEY,
            at=at,
            hint="use connector 'upsert-kafka', or remove it; 'key.fields' gives records a key",
            table=table,
            reason=(
                f"connector 'kafka' cannot guarantee it with format '{value.format.identifier}',"
                " whose records are all inserts"
            ),
        )


#: Classes of Spark's Kafka source and sink, and the jars with them.
JAVA_CLASSES = {
    "org.apache.spark.sql.kafka010.KafkaSourceProvider": "the jars of Spark's Kafka connector"
}

KAFKA = ConnectorFactory(OPTIONS, create, infer=infer, java_classes=JAVA_CLASSES)

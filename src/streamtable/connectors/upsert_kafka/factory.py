"""WITH options of an `upsert-kafka` table -> `KafkaTable`, keyed by its primary key.

Rules of Flink's *Upsert Kafka* page: the primary key is the record's key, a scan always begins at
the earliest offset, a null value deletes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from streamtable.connectors.kafka import rules
from streamtable.connectors.kafka.metadata import check_metadata
from streamtable.connectors.kafka.options import (
    FLUSH_INTERVAL,
    FLUSH_ROWS,
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
    StartupMode,
    ValueFields,
)
from streamtable.connectors.kafka.sides import (
    ChosenFormat,
    check_key_columns,
    key_side,
    read_options,
    value_side,
)
from streamtable.connectors.kafka.table import Buffer, KafkaTable, Startup
from streamtable.connectors.kafka.table_options import shared_fields
from streamtable.core.changelog import UPSERT
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given, OptionSet
from streamtable.core.table import Schema

OPTIONS = OptionSet(
    "connector 'upsert-kafka'",
    tuple(replace(o, required=True) if o is KEY_FORMAT else o for o in (*SHARED, *UPSERT_ONLY)),
    passthrough="properties.",
    family=TOPIC_CONFIG,
    rules=(
        *RULES,
        rules.needs(KEY_PREFIX, VALUE_FIELDS, ValueFields.EXCEPT_KEY),
        rules.both_or_neither(FLUSH_ROWS, FLUSH_INTERVAL),
    ),
)

_REFUSED = {
    KEY_FIELDS.key: "the key is the primary key",
    **{
        option.key: "an upsert scan needs the whole history, so it begins at the earliest offset"
        for option in KAFKA_ONLY
        if option.key.startswith("scan.")
    },
    "sink.partitioner": "rows of one key must meet in one partition, which Kafka's default ensures",
}


def create(table: str, schema: Schema, given: Mapping[str, Given], at: Span | None) -> KafkaTable:
    """A checked `upsert-kafka` table.

    Raises:
        StreamtableError: whatever is wrong with its options, key or columns, at its place.
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
        value=value_side(value, schema.primary_key, schema, settings[VALUE_FIELDS]),
        startup=Startup(StartupMode.EARLIEST, explicit=True),
        reads=UPSERT,
        writes=UPSERT,
        key_check=settings[KEY_CHECK],
        buffer=Buffer(settings[FLUSH_ROWS], settings[FLUSH_INTERVAL]),
        at=at,
        **shared_fields(settings),
    )


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


def _required(chosen: ChosenFormat | None) -> ChosenFormat:
    assert chosen is not None, "a required format that was not read"  # noqa: S101
    return chosen


def _insert_only(chosen: ChosenFormat, table: str, at: Span | None) -> ChosenFormat:
    """A value says what its row is, the key which row: events of changes have no place there.

    As key formats they are taken, and read and write keys as their tools do.
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

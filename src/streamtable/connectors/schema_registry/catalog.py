"""Catalogs of type `schema-registry`: each topic with a subject for its values is a table.

A table `t` is the topic `t` with the subjects `t-value` and, if there is one, `t-key`, as
Confluent's TopicNameStrategy names them. The catalog asks the registry only. A topic that does not
exist is found by the checks before a start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from streamtable.connector_api.catalogs import CatalogTable, CatalogType
from streamtable.connector_api.inferred import InferredColumns, WithoutColumns
from streamtable.connector_api.registered import NotARecordError, RegistryFormat
from streamtable.connectors.kafka import factory as kafka
from streamtable.connectors.kafka.options.options import (
    CONNECTOR,
    KEY_FORMAT,
    KEY_PREFIX,
    STARTUP_MODE,
    TOPIC,
    VALUE_FIELDS,
    VALUE_FORMAT,
    ValueFields,
)
from streamtable.connectors.kafka.schemas.client import LatestSchema, SchemaRegistry
from streamtable.connectors.schema_registry.options import (
    OPTIONS,
    UPSERT_TOPICS,
    CatalogOptions,
    read_catalog,
)
from streamtable.connectors.upsert_kafka import factory as upsert_kafka
from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.types import Field
from streamtable.formats.registry import FORMATS

_VALUE, _KEY = "-value", "-key"


@dataclass(frozen=True)
class SchemaRegistryCatalog:
    """The topics with a subject for their values."""

    options: CatalogOptions
    client: SchemaRegistry = field(repr=False, compare=False)

    @property
    def database(self) -> str:
        """The name of its only database."""
        return self.options.database

    def fresh(self) -> SchemaRegistryCatalog:
        """Return the catalog with a client that asks anew."""
        return SchemaRegistryCatalog(self.options, SchemaRegistry(self.options.registry))

    def tables(self) -> Sequence[str]:
        """Return the topics with a subject for their values."""
        subjects = self.client.subjects()
        return [name.removesuffix(_VALUE) for name in subjects if name.endswith(_VALUE)]

    def table(self, name: str) -> CatalogTable | None:
        """Return the table of a topic; None if there is no subject for its values."""
        value = self.client.latest(name + _VALUE)
        if value is None:
            return None
        key = self.client.latest(name + _KEY)
        is_upsert = any(fnmatchcase(name, pattern) for pattern in self.options.upserts)
        given = {
            CONNECTOR.key: Given("upsert-kafka" if is_upsert else "kafka"),
            TOPIC.key: Given(name),
            **self.options.tables,
            **self._format(VALUE_FORMAT.key, value),
            **({} if is_upsert else {STARTUP_MODE.key: self.options.startup}),
            **(self._key(key, value) if key is not None else {}),
        }
        if is_upsert and KEY_FORMAT.key not in given:
            raise self._without_key(name + _KEY, key)
        return CatalogTable(given, self._columns(name, given, is_upsert=is_upsert))

    def _without_key(self, subject: str, key: LatestSchema | None) -> StreamtableError:
        """Return the error of an `upsert-kafka` table whose topic has no columns of the key."""
        hint = (
            f"'{UPSERT_TOPICS.key}' of the catalog names topics whose keys have the schema of a"
            " record; declare a table, or change the option"
        )
        if key is None:
            return StreamtableError(
                Condition.SUBJECT_MISSING, url=self.client.url, subject=subject, hint=hint
            )
        reason = "its schema is of a single value, not of a record"
        return StreamtableError(
            Condition.COLUMNS_NOT_INFERRED, subject=subject, reason=reason, hint=hint
        )

    def _columns(
        self, name: str, given: Mapping[str, Given], *, is_upsert: bool
    ) -> InferredColumns:
        infer = upsert_kafka.infer if is_upsert else kafka.infer
        found = infer(WithoutColumns(name, (), given, None), self.client)
        assert found is not None, "the formats of the catalog have a registry"  # noqa: S101
        return found

    def _format(self, option: str, latest: LatestSchema) -> dict[str, Given]:
        """Return a format and its options, which are those of the registry."""
        name = _format_of(latest)
        prefix = f"{option.removesuffix('format')}{name}."
        own = {prefix + key: value for key, value in self.options.formats.items()}
        return {option: Given(name), **own}

    def _key(self, key: LatestSchema, value: LatestSchema) -> dict[str, Given]:
        """Return the options of the key; nothing if its schema is of a single value."""
        fields = _fields(key)
        if fields is None:
            return {}
        return {
            **self._format(KEY_FORMAT.key, key),
            **_layout(fields, _fields(value) or ()),
        }


def _layout(key: tuple[Field, ...], value: tuple[Field, ...]) -> dict[str, Given]:
    """Return whether the value contains the key, and a prefix if the names are taken."""
    names = {field.name for field in value}
    shared = [one for one in key if one.name in names]
    if len(shared) == len(key) and all(
        any(one.name == other.name and one.type.same_shape(other.type) for other in value)
        for one in key
    ):
        return {VALUE_FIELDS.key: Given(ValueFields.ALL.value)}
    prefix = {KEY_PREFIX.key: Given("key_")} if shared else {}
    return {VALUE_FIELDS.key: Given(ValueFields.EXCEPT_KEY.value), **prefix}


def _format_of(latest: LatestSchema) -> str:
    """Return the name of the format that reads a type of schema."""
    for name, format_ in FORMATS.items():
        if isinstance(format_, RegistryFormat) and format_.schema_type == latest.type:
            return name
    raise StreamtableError(
        Condition.COLUMNS_NOT_INFERRED,
        subject=latest.subject,
        reason=f"no format reads schemas of the type {latest.type}",
        hint="declare a table with the format 'raw'",
    )


def _fields(latest: LatestSchema) -> tuple[Field, ...] | None:
    """Return the columns of a schema; None if it is of a single value.

    A schema with other faults has no columns here; `infer` names the fault.
    """
    format_ = FORMATS[_format_of(latest)]
    assert isinstance(format_, RegistryFormat), "it is one of them"  # noqa: S101
    try:
        return format_.columns(latest.schema, None).fields
    except NotARecordError:
        return None
    except ValueError:
        return ()


def create(name: str, given: Mapping[str, Given], at: Span) -> SchemaRegistryCatalog:
    """Create a catalog with checked options; it asks nothing of the registry.

    Raises:
        StreamtableError: an error in an option, at its position.
    """
    options = read_catalog(name, given, at)
    return SchemaRegistryCatalog(options, SchemaRegistry(options.registry))


SCHEMA_REGISTRY = CatalogType(OPTIONS, create)

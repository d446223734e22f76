"""Codec descriptor that a format passes to the JVM to decode or encode bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamtable.core.types import Field, spark_ddl


@dataclass(frozen=True)
class Codec:
    """A Java decoder or encoder with its parameters, ready for the bridge.

    Attributes:
        java_class: name of the class below the package `io.streamtable.codec`, such as
            `json.JsonDecoder`. Its constructor takes (String schemaDdl, Map<String, String>
            parameters).
        fields: the columns that the codec reads or writes, in order.
        parameters: plain texts without secrets.
        secrets: more parameters, such as credentials, that no message and no plan may show.
        registers: whether creating the codec registers a schema; `Bridge.check_schema` can check
            the schema first.
        external_schema: whether the codec has a schema of its own, which may not fit the fields;
            creating the codec finds out.
    """

    java_class: str
    fields: tuple[Field, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    registers: bool = False
    external_schema: bool = False

    @property
    def schema_ddl(self) -> str:
        """The fields as Spark's schema DDL."""
        return spark_ddl(self.fields)

"""The plain value with which a format tells the JVM how to read or write bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from streamtable.core.types import Field, spark_ddl


@dataclass(frozen=True)
class Codec:
    """A Java decoder or encoder with its parameters, ready for the bridge.

    Attributes:
        java_class: simple name of the class in the package `io.streamtable.codec`; its constructor
            takes (String schemaDdl, Map<String, String> parameters).
        fields: the columns it reads or writes, in order.
        parameters: plain texts; secrets never stand here.
        secrets: more parameters, such as credentials, that no message and no plan may show.
        registers: whether making it registers a schema, which `Bridge.check_schema` can try first.
    """

    java_class: str
    fields: tuple[Field, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    registers: bool = False

    @property
    def schema_ddl(self) -> str:
        """The fields as Spark's schema DDL."""
        return spark_ddl(self.fields)

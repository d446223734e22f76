"""Codecs in the driver's JVM, for tests that call them directly or through Spark's columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from streamtable.core.options import Given
from streamtable.formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import SparkSession

    from streamtable.core.codec import Codec
    from streamtable.core.types import Field


@dataclass(frozen=True)
class Codecs:
    """Make decoders and encoders in the driver's JVM, without a job."""

    spark: SparkSession

    def _make(self, kind: str, name: str, fields: tuple[Field, ...], options: Mapping[str, str]):
        found = FORMATS[name]
        keys, more = found.options.keys(), found.options.passthrough or "\0"
        known = {k: Given(v) for k, v in options.items() if k in keys or k.startswith(more)}
        settings = found.options.read(known, "t")
        return self.made(kind, getattr(found, kind)(fields, settings))

    def made(self, kind: str, codec: Codec) -> Any:
        """Return the Java object of a declared codec. The kind is `decoder` or `encoder`."""
        java: Any = self.spark._jvm.io.streamtable.codec.Codecs
        parameters = {**codec.parameters, **codec.secrets}
        return getattr(java, kind)(codec.java_class, codec.schema_ddl, parameters)

    def decoder(self, name: str, fields: tuple[Field, ...], options: Mapping[str, str]) -> Any:
        return self._make("decoder", name, fields, options)

    def change_decoder(self, name: str, fields: tuple[Field, ...]) -> Any:
        found: Any = FORMATS[name]
        codec = found.change_decoder(fields, (), found.options.read({}, "t"))
        java: Any = self.spark._jvm.io.streamtable.codec.Codecs
        return java.changeDecoder(codec.java_class, codec.schema_ddl, codec.parameters)

    def row(self, source: Any, positions: Iterable[int]) -> Any:
        """Return a row of the values of `source` at the positions."""
        picked = list(positions)
        jvm: Any = self.spark._jvm
        values = self.spark._sc._gateway.new_array(jvm.java.lang.Object, len(picked))
        for to, position in enumerate(picked):
            jvm.java.lang.System.arraycopy(source.values(), position, values, to, 1)
        return jvm.org.apache.spark.sql.catalyst.expressions.GenericInternalRow(values)

    def encoder(self, name: str, fields: tuple[Field, ...], options: Mapping[str, str]) -> Any:
        return self._make("encoder", name, fields, options)


@pytest.fixture(scope="session")
def codecs(spark: SparkSession) -> Codecs:
    return Codecs(spark)

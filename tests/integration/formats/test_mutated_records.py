"""Broken records of every format; huge and random records of csv, raw, avro, avro-confluent."""

from __future__ import annotations

import json
import math
import os
import random
import string
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from py4j.protocol import Py4JJavaError
from pyspark.sql import functions as F  # noqa: N812
from tests.integration.formats.mutation import (
    SUBJECTS,
    good_records,
    mutated,
    outcomes,
    reader_spec,
)
from tests.integration.formats.registry_double import RegistryDouble
from tests.integration.formats.test_records import read

from streamtable.core import types as t
from streamtable.core.codec import Codec
from streamtable.core.options import Given
from streamtable.core.types import Field, spark_ddl
from streamtable.formats.registry import FORMATS
from streamtable.jvm.bridge import Bridge
from streamtable.jvm.specs.reader import ReaderSpec

FEW = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
COLUMNS = (Field("n", t.INT), Field("s", t.STRING))
#: Number of records per Spark job.
CHUNK = 20_000
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def value_reader(codec: Codec, columns: tuple[Field, ...], *, skips: bool) -> ReaderSpec:
    places = tuple(range(len(columns)))
    return ReaderSpec(
        key=None,
        value=codec,
        key_positions=(-1,) * len(columns),
        value_positions=places,
        upsert=False,
        skip_key_errors=skips,
        skip_value_errors=skips,
        output_ddl=f"`__row_kind` TINYINT, {spark_ddl(columns)}",
    )


def made(name: str, columns: tuple[Field, ...], options: dict[str, str]) -> Codec:
    found = FORMATS[name]
    texts = {key: Given(text) for key, text in options.items()}
    return found.decoder(columns, found.options.read(texts, "t"))


#: Reasons for a record to give no row.
OMITTED = {"emptyRecords", "parseErrors", "noChanges"}


def every_record_is_a_row_or_a_count(
    spark: Any, codecs: Any, name: str, count: int, seed: int
) -> None:
    subject = SUBJECTS[name]
    source = random.Random(f"{name} {seed}")
    total: Counter[str] = Counter()
    with good_records(codecs, subject) as (options, good):
        spec = reader_spec(subject, options)
        there, counts = outcomes(spark, spec, good)
        assert there == len(good) - counts.get("noChanges", 0), "good records are read"
        for start in range(0, count, CHUNK):
            size = min(CHUNK, count - start)
            values = [mutated(source, source.choice(good)) for _ in range(size)]
            rows, counts = outcomes(spark, spec, values)
            assert set(counts) <= OMITTED | {"fieldErrors"}
            assert rows + sum(counts.get(reason, 0) for reason in OMITTED) == size
            total.update(counts)
            total["rows"] += rows
    assert total["rows"] > 0, total
    if name != "raw text":  # all bytes are a valid text
        assert total["parseErrors"] > 0, total


@pytest.mark.parametrize("name", SUBJECTS)
def test_every_mutated_record_is_read_or_counted(spark: Any, codecs: Any, name: str) -> None:
    every_record_is_a_row_or_a_count(spark, codecs, name, 2_000, seed=7)


@pytest.mark.soak
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_hundred_thousand_records(spark: Any, codecs: Any, name: str) -> None:
    seed = int(os.environ.get("FUZZ_SEED", "1"))
    every_record_is_a_row_or_a_count(spark, codecs, name, 100_000, seed)


@pytest.mark.parametrize("name", ["csv", "raw", "avro", "avro-confluent"])
def test_five_megabytes(spark: Any, name: str) -> None:
    text = b"x" * 5_000_000
    columns = (Field("s", t.STRING.with_nullable(False)),)
    length = b"\x80\xad\xe2\x04"  # 5,000,000
    with RegistryDouble() as double:
        schema = {"type": "record", "name": "r", "fields": [{"name": "s", "type": "string"}]}
        known = double.add(json.dumps(schema)).to_bytes(4, "big")
        head = {"avro": length, "avro-confluent": b"\0" + known + length}.get(name, b"")
        options = {"url": double.url} if name == "avro-confluent" else {}
        reader = value_reader(made(name, columns, options), columns, skips=False)
        rows, _ = read(spark, reader, (None, head + text))
    assert rows[0][1] == text.decode()


def test_a_null_in_raw_is_a_null_value(spark: Any) -> None:
    frame = spark.createDataFrame([("a",), (None,)], "s STRING")
    found = FORMATS["raw"]
    codec = found.encoder((Field("s", t.STRING),), found.options.read({}, "t"))
    encoded = frame.select(Bridge(spark).encode(codec, F.struct("s")).alias("bytes")).collect()
    assert [row.bytes and bytes(row.bytes) for row in encoded] == [b"a", None]


@FEW
@given(st.lists(TEXT, min_size=2, max_size=4), st.sampled_from(["", "\\", "~"]))
def test_csv_strings_round_trip(codecs: Any, texts: list[str], escape: str) -> None:
    columns = tuple(Field(f"c{i}", t.STRING) for i in range(len(texts)))
    row = {f"c{i}": text for i, text in enumerate(texts)}
    options = {"escape-character": escape} if escape else {}
    source = codecs.decoder("json", columns, {}).decode(json.dumps(row).encode())
    written = bytes(codecs.encoder("csv", columns, options).encode(source))
    again = codecs.decoder("csv", columns, options).decode(written)
    assert json.loads(bytes(codecs.encoder("json", columns, {}).encode(again))) == row


@FEW
@given(
    st.sampled_from([t.TINYINT, t.SMALLINT, t.INT, t.BIGINT]),
    st.integers(-128, 127),
    st.sampled_from(["big-endian", "little-endian"]),
)
def test_raw_numbers_round_trip(codecs: Any, kind: Any, number: int, order: str) -> None:
    columns, options = (Field("n", kind),), {"endianness": order}
    source = codecs.decoder("json", columns, {}).decode(json.dumps({"n": number}).encode())
    written = bytes(codecs.encoder("raw", columns, options).encode(source))
    assert int.from_bytes(written, order.partition("-")[0], signed=True) == number  # type: ignore[arg-type]
    assert bytes(codecs.encoder("raw", columns, options).encode(source)) == written


@FEW
@given(st.one_of(st.none(), st.integers(-(2**31), 2**31 - 1)), st.one_of(st.none(), TEXT))
def test_avro_json_encoding_round_trips(codecs: Any, number: int | None, text: str | None) -> None:
    columns, options = COLUMNS, {"encoding": "json"}
    row = {"n": number, "s": text}
    source = codecs.decoder("json", columns, {}).decode(json.dumps(row).encode())
    written = bytes(codecs.encoder("avro", columns, options).encode(source))
    wrapped = {"n": number and {"int": number}, "s": text and {"string": text}}
    assert json.loads(written) == {
        "n": {"int": 0} if number == 0 else wrapped["n"],
        "s": {"string": ""} if text == "" else wrapped["s"],
    }
    again = codecs.decoder("avro", columns, options).decode(written)
    assert json.loads(bytes(codecs.encoder("json", columns, {}).encode(again))) == row


@pytest.mark.parametrize(
    "value",
    [b"", b"{", b"{}", b'{"n":1,"s":null}', b'{"n":{"int":1}}', b'{"n":{"string":"a"},"s":null}'],
    ids=string.ascii_lowercase[:6],
)
def test_broken_avro_in_json(codecs: Any, value: bytes) -> None:
    with pytest.raises(Py4JJavaError) as caught:
        codecs.decoder("avro", COLUMNS, {"encoding": "json"}).decode(value)
    assert caught.value.java_exception.getClass().getSimpleName() == "DecodeException"


@pytest.mark.parametrize("name", ["csv", "raw", "avro"])
def test_nan_and_infinities_round_trip(codecs: Any, name: str) -> None:
    columns = (Field("n", t.DOUBLE),)
    for text in ("NaN", "Infinity", "-Infinity"):
        source = codecs.decoder("json", columns, {}).decode(json.dumps({"n": text}).encode())
        written = bytes(codecs.encoder(name, columns, {}).encode(source))
        row = codecs.decoder(name, columns, {}).decode(written)
        shown = json.loads(bytes(codecs.encoder("json", columns, {}).encode(row)))["n"]
        assert shown == text
        assert not math.isfinite(float(shown))

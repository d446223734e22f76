"""`spark.*` settings: keys that a job fixes are refused, and so are misspelt keys of Spark."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.core.settings.spark import FIXED, GOVERNED, known_keys, unknown_keys

AT = Span("job.sql", 1, 5)


def _refusal(key: str, value: str = "x") -> StreamtableError:
    with pytest.raises(StreamtableError) as refused:
        SessionSettings().set(key, Given(value, AT), AT)
    assert refused.value.at == AT
    return refused.value


@pytest.mark.parametrize("key", FIXED)
def test_a_fixed_setting_is_refused_with_its_reason(key: str) -> None:
    refused = _refusal(key, "something else")
    assert refused.condition is Condition.OPTION_NOT_SETTABLE
    assert f"option '{key}' cannot be set: " in str(refused)
    assert FIXED[key].reason in str(refused)


@pytest.mark.parametrize("key", FIXED)
def test_a_fixed_setting_may_be_given_its_value(key: str) -> None:
    SessionSettings().set(key, Given(FIXED[key].value.upper()))


@pytest.mark.parametrize("key", GOVERNED)
def test_a_governed_setting_names_the_streamtable_setting(key: str) -> None:
    refused = _refusal(key)
    assert refused.condition is Condition.OPTION_NOT_SETTABLE
    assert GOVERNED[key] in str(refused)


def test_command_line_settings_are_checked() -> None:
    with pytest.raises(StreamtableError, match="OPTION_NOT_SETTABLE"):
        SessionSettings({"spark.sql.ansi.enabled": Given("true")})


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("spark.sql.shufle.partitions", "spark.sql.shuffle.partitions"),
        ("spark.executor.memroy", "spark.executor.memory"),
        ("spark.driver.memoy", "spark.driver.memory"),
        ("spark.ui.enable", "spark.ui.enabled"),
        ("spark.sq.session.timeZone", "spark.sql.session.timeZone"),
        ("spark.SQL.streaming.stopTimeout", "spark.sql.streaming.stopTimeout"),
        ("spark.sql.streaming.stateStore.rocksdb.maxOpenFile", "rocksdb.maxOpenFiles"),
    ],
)
def test_a_misspelt_setting_is_refused_with_the_nearest_key(key: str, nearest: str) -> None:
    refused = _refusal(key)
    assert refused.condition is Condition.UNKNOWN_SETTING
    assert f"setting '{key}' does not exist" in str(refused)
    assert nearest in (refused.hint or "")


@pytest.mark.parametrize(
    "key",
    [
        "spark.executor.memory",
        "spark.hadoop.fs.s3a.endpoint",
        "spark.executorEnv.PATH",
        "spark.sql.catalog.lake.type",
        "spark.shuffle.io.retryWait",
        "spark.kubernetes.driver.label.team",
        "spark.sql.streaming.stateStore.rocksdb.compactOnCommit",
        "spark.sql.streaming.statestore.rocksdb.COMPACTONCOMMIT",  # Spark ignores the case here
        "spark.kafka.consumer.cache.capacity",
        "spark.sql.kafkaConsumerCache.capacity",
    ],
)
def test_known_settings_and_prefixes_are_accepted(key: str) -> None:
    settings = SessionSettings()
    settings.set(key, Given("1"))
    assert list(unknown_keys(settings.current().passthrough, "4.3")) == []


def test_a_setting_of_a_plugin_passes_and_is_reported() -> None:
    settings = SessionSettings()
    settings.set("spark.gluten.memory.isolation", Given("true"))
    settings.set("spark.sql.iceberg.vectorization.enabled", Given("true"))
    assert list(unknown_keys(settings.current().passthrough, "4.3")) == [
        "spark.gluten.memory.isolation",
        "spark.sql.iceberg.vectorization.enabled",
    ]


@pytest.mark.parametrize(("minor", "unknown"), [("4.2", True), ("4.3", False)])
def test_a_setting_of_another_version_passes_and_is_reported(minor: str, unknown: bool) -> None:
    key = "spark.sql.execution.pushDownLocalSort"
    settings = SessionSettings()
    settings.set(key, Given("true"))
    told = list(unknown_keys(settings.current().passthrough, minor))
    assert told == ([key] if unknown else [])


def test_every_fixed_key_is_a_spark_setting() -> None:
    assert {key for key in (*FIXED, *GOVERNED) if not key.startswith("spark.streamtable.")} <= set(
        known_keys()
    )


def test_reset_of_an_unknown_setting_is_refused() -> None:
    with pytest.raises(StreamtableError, match="did you mean") as refused:
        SessionSettings().reset("table.local-time-zon", AT)
    assert refused.value.at == AT
    SessionSettings().reset("table.local-time-zone", AT)

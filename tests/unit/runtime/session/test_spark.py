"""Settings for the start of Spark, and Ctrl-C during the start. No test starts Spark."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.accumulators import _start_update_server

from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.core.settings.spark import FIXED
from streamtable.runtime.session import spark as spark_module
from streamtable.runtime.session.configuration import LOCAL_FILES, configuration, local_files
from streamtable.runtime.session.spark import start_spark, stop_spark
from streamtable.runtime.stop_signals import stop_signals

_OURS = "io.streamtable.query.StateOrder"
_CALLS_OF_BRIDGE = ("activate", "register_functions", "remove_default_sources")


@pytest.mark.parametrize(
    ("given", "expected"), [(None, _OURS), ("org.example.Theirs", f"org.example.Theirs,{_OURS}")]
)
def test_extensions_of_a_script_precede_ours(given: str | None, expected: str) -> None:
    settings = SessionSettings()
    if given is not None:
        settings.set("spark.sql.extensions", Given(given))
    assert configuration(settings.current(), None)["spark.sql.extensions"] == expected


def test_jars_of_a_script_precede_ours() -> None:
    """The class that `sink.partitioner` names may be in a jar of the script."""
    settings = SessionSettings()
    settings.set("spark.jars", Given("/theirs.jar,/other.jar"))
    found = configuration(settings.current(), None, [Path("/ours.jar")])
    assert found["spark.jars"] == "/theirs.jar,/other.jar,/ours.jar"


def test_java_options_of_a_script_follow_ours() -> None:
    settings = SessionSettings()
    settings.set("spark.driver.extraJavaOptions", Given("-Dtheirs=1"))
    found = configuration(settings.current(), None)["spark.driver.extraJavaOptions"]
    assert found.startswith("-Dlog4j2.configurationFile=")
    assert found.endswith(" -Dtheirs=1")


def test_fixed_settings_are_set() -> None:
    found = configuration(SessionSettings().current(), "local[3]")
    assert {key: found[key] for key in FIXED} == {key: f.value for key, f in FIXED.items()}
    assert found["spark.master"] == "local[3]"


def test_a_script_may_set_its_own_local_file_system() -> None:
    settings = SessionSettings()
    assert local_files(settings.current()) == LOCAL_FILES
    settings.set("spark.hadoop.fs.file.impl", Given("org.example.Files"))
    assert list(local_files(settings.current())) == ["fs.file.impl.disable.cache"]


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Send Ctrl-C while Spark starts; return the list of recorded calls."""
    calls: list[str] = []
    conf = SimpleNamespace(set=lambda *_: None)
    context = SimpleNamespace(_accumulatorServer=None)
    session = SimpleNamespace(stop=lambda: calls.append("stop"), conf=conf, sparkContext=context)

    def launch(_: Callable[[], Any]) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        calls.append("launched")
        return session

    bridge = SimpleNamespace(**{name: partial(calls.append, name) for name in _CALLS_OF_BRIDGE})
    active = SimpleNamespace(_active_spark_context=None, _gateway=None)
    for name, value in {
        "SparkContext": active,
        "check_machine": lambda: None,
        "start_settings": lambda *_: {},
        "Bridge": lambda _: bridge,
        "_in_a_thread": launch,
    }.items():
        monkeypatch.setattr(spark_module, name, value)
    return calls


def test_ctrl_c_during_the_start_requests_a_stop(launched: list[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    with stop_signals() as stop:
        start_spark(SessionSettings().current(), "local[1]")
        assert stop.is_set()
        # A second Ctrl-C ends the process at once.
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert launched == ["launched", *_CALLS_OF_BRIDGE]
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_during_the_start_without_a_stop_ends_spark(launched: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        start_spark(SessionSettings().current(), "local[1]")
    assert launched == ["launched", "stop"]


def test_a_stop_ends_the_server_of_accumulators() -> None:
    server = _start_update_server("token", False, None)
    context = SimpleNamespace(_accumulatorServer=server)
    stop_spark(cast("Any", SimpleNamespace(sparkContext=context, stop=lambda: None)))
    assert context._accumulatorServer is None
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(cast("Any", server.server_address), 1)

"""What Spark is started with; nothing is started here."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.core.settings.spark import FIXED
from streamtable.runtime.session.configuration import configuration

_OURS = "io.streamtable.query.StateOrder"


@pytest.mark.parametrize(
    ("given", "expected"), [(None, _OURS), ("org.example.Theirs", f"org.example.Theirs,{_OURS}")]
)
def test_extensions_of_a_script_stand_beside_ours(given: str | None, expected: str) -> None:
    settings = SessionSettings()
    if given is not None:
        settings.set("spark.sql.extensions", Given(given))
    assert configuration(settings.current(), None)["spark.sql.extensions"] == expected


def test_jars_of_a_script_stand_beside_ours() -> None:
    """A class that `sink.partitioner` names is in one of them."""
    settings = SessionSettings()
    settings.set("spark.jars", Given("/theirs.jar,/other.jar"))
    found = configuration(settings.current(), None, [Path("/ours.jar")])
    assert found["spark.jars"] == "/theirs.jar,/other.jar,/ours.jar"


def test_options_of_a_script_stand_behind_ours() -> None:
    settings = SessionSettings()
    settings.set("spark.driver.extraJavaOptions", Given("-Dtheirs=1"))
    found = configuration(settings.current(), None)["spark.driver.extraJavaOptions"]
    assert found.startswith("-Dlog4j2.configurationFile=")
    assert found.endswith(" -Dtheirs=1")


def test_what_a_job_relies_on_is_set() -> None:
    found = configuration(SessionSettings().current(), "local[3]")
    assert {key: found[key] for key in FIXED} == {key: f.value for key, f in FIXED.items()}
    assert found["spark.master"] == "local[3]"

"""What Spark is started with; nothing is started here."""

from __future__ import annotations

import pytest

from streamtable.core.options import Given
from streamtable.core.session_settings import SessionSettings
from streamtable.runtime.spark import configuration

_OURS = "io.streamtable.query.StateOrder"


@pytest.mark.parametrize(
    ("given", "expected"), [(None, _OURS), ("org.example.Theirs", f"org.example.Theirs,{_OURS}")]
)
def test_extensions_of_a_script_stand_beside_ours(given: str | None, expected: str) -> None:
    settings = SessionSettings()
    if given is not None:
        settings.set("spark.sql.extensions", Given(given))
    assert configuration(settings.current(), None)["spark.sql.extensions"] == expected

"""`run --log-format json` writes one object per line, always with the same first keys."""

from __future__ import annotations

import io
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streamtable.cli.log_lines import JsonLines
from streamtable.cli.main import cli
from streamtable.core.errors import Condition, Faults, Span, StreamtableError
from streamtable.core.secrets import hide
from streamtable.runtime.metrics.metrics import JobMetrics


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def _lines(out: io.StringIO) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in out.getvalue().splitlines()]
    for line in found:
        assert list(line)[:5] == ["time", "level", "logger", "message", "condition"]
        assert datetime.fromisoformat(line["time"]).tzinfo is not None
    return found


def test_notices_have_a_level_and_a_condition() -> None:
    hide("pass-4711")
    out = io.StringIO()
    lines = JsonLines(JobMetrics().values, out)
    for text in (
        "running o",
        "BROKER_UNREACHABLE: Kafka at b did not respond; trying again",
        "NOTE: no condition",
        'a "quote",\na line and pass-4711',
    ):
        lines.notice(text)
    found = [(line["level"], line["condition"], line["message"]) for line in _lines(out)]
    assert found == [
        ("INFO", None, "running o"),
        (
            "WARNING",
            "BROKER_UNREACHABLE",
            "BROKER_UNREACHABLE: Kafka at b did not respond; trying again",
        ),
        ("INFO", None, "NOTE: no condition"),
        ("INFO", None, 'a "quote",\na line and ****'),
    ]


@pytest.mark.parametrize("secret", ['p"a\\ss', "pässword", "null", "1970", "level"])
def test_every_secret_is_masked_in_a_line(secret: str) -> None:
    hide(secret)
    out = io.StringIO()
    JsonLines(JobMetrics().values, out).notice(f"reads {secret}")
    (line,) = _lines(out)
    assert line["message"] == "reads ****"


def test_the_status_is_logged_once_a_minute_with_metrics() -> None:
    clock, out = Clock(), io.StringIO()
    lines = JsonLines(JobMetrics().values, out, clock)
    for second in range(0, 150, 10):
        clock.now = second
        lines.tick()
    found = _lines(out)
    assert [line["logger"] for line in found] == ["streamtable.status"] * 2
    assert found[0]["metrics"] == {"tables": {}, "queries": {}}
    assert found[0]["message"].startswith("in 0/s | out 0/s")


def test_each_error_is_logged_on_a_separate_line() -> None:
    out = io.StringIO()
    lines = JsonLines(JobMetrics().values, out)
    faults = [
        StreamtableError(Condition.UNKNOWN_TABLE, at=Span("j.sql", n, 5), table=f"t{n}")
        for n in (1, 2)
    ]
    lines.error(Faults(faults), "unused")
    lines.error(ZeroDivisionError(), "internal error: ZeroDivisionError")
    found = [(line["level"], line["condition"], line["at"]) for line in _lines(out)]
    assert found == [
        ("ERROR", "UNKNOWN_TABLE", "j.sql:1:5"),
        ("ERROR", "UNKNOWN_TABLE", "j.sql:2:5"),
        ("ERROR", None, None),
    ]


def test_a_script_error_is_logged_as_json(tmp_path: Path) -> None:
    script = tmp_path / "job.sql"
    script.write_text("INSERT INTO nowhere SELECT 1")
    result = CliRunner().invoke(cli, ["run", str(script), "--log-format", "json"])
    assert result.exit_code == 1
    (line,) = _lines(io.StringIO(result.stderr))
    assert (line["level"], line["condition"]) == ("ERROR", "UNKNOWN_TABLE")
    assert line["at"] == f"{script}:1:13"

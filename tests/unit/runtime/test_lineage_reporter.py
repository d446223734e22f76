"""The last event of a job has the error with which the job ends."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from streamtable.core.options import Given
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.lineage import reporter
from streamtable.runtime.lineage.reporter import reported_lineage


class _Client:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def emit(self, event: object) -> None:
        self.events.append(event)


class _Down:
    def emit(self, _: object) -> None:
        raise TimeoutError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "one"),
        (AssertionError(), "AssertionError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_an_error_ends_the_job_as_it_is(
    error: BaseException, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = _Client()
    monkeypatch.setattr(reporter, "_client", lambda *_: client)
    with pytest.raises(type(error)), _reported([]):
        raise error
    (found,) = {event.run.facets["errorMessage"].message for event in client.events[-1:]}
    assert found == line


def test_a_server_whose_error_has_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reporter, "_client", lambda *_: _Down())
    notices: list[str] = []
    with _reported(notices):
        pass
    assert notices == ["lineage events did not reach http://there: TimeoutError"]


def _reported(notices: list[str]) -> Any:
    settings = SessionSettings()
    settings.set("openlineage.transport.url", Given("http://there"))
    stop = threading.Event()
    return reported_lineage(
        "job", {}, settings.current(), lambda: {"tables": {}}, stop, notices.append, bounded=True
    )

"""Errors of a job in its last lineage event, and errors of the lineage server."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Given
from streamtable.core.settings.reporting import LINEAGE_URL
from streamtable.core.settings.session import SessionSettings
from streamtable.runtime.lineage import reporter
from streamtable.runtime.lineage.reporter import reported_lineage
from streamtable.session import Session


class _Client:
    def __init__(self) -> None:
        self.events: list[Any] = []

    def emit(self, event: object) -> None:
        self.events.append(event)


class _Down:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def emit(self, _: object) -> None:
        raise self.error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("one\ntwo"), "one"),
        (AssertionError(), "AssertionError"),
        (KeyboardInterrupt(), "KeyboardInterrupt"),
    ],
)
def test_an_error_is_raised_unchanged_and_reported(
    error: BaseException, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = _Client()
    monkeypatch.setattr(reporter, "_client", lambda *_: client)
    with pytest.raises(type(error)), _reported([]):
        raise error
    (found,) = {event.run.facets["errorMessage"].message for event in client.events[-1:]}
    assert found == line


#: Address of a server, the error of a request, and the end of the notice.
DOWN = {
    "without text": ("http://there", TimeoutError(), "http://there: TimeoutError"),
    "with a login": (
        "http://user:pass-4711@there:5000",
        ValueError("401 for url: http://user:pass-4711@there:5000/api/v1/lineage"),
        "http://there:5000: 401 for url: http://there:5000/api/v1/lineage",
    ),
    "with a short login, written in another way": (
        "http://user:p|@there",
        ValueError("404 for url: http://user:p%7C@there/api"),
        "http://there: 404 for url: http://there/api",
    ),
    "with the password alone": (
        "http://user:pass%2D4711@there",
        ValueError("wrong password pass-4711 or pass%2D4711"),
        "http://there: wrong password **** or ****",
    ),
}


@pytest.mark.parametrize("case", DOWN)
def test_a_server_that_refuses_events(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    url, error, notice = DOWN[case]
    monkeypatch.setattr(reporter, "_client", lambda *_: _Down(error))
    notices: list[str] = []
    with _reported(notices, url):
        pass
    assert notices == [f"lineage events did not reach {notice}"]


@pytest.mark.parametrize(
    "url",
    [
        "marquez:5000",
        "marquez",
        "http://",
        "ftp://there",
        "http://there:port",
        "http://the re",
        "http://[::1",
        "user:pass-4711@there:5000",
        "http://user:pass-4711@",
        "ftp://user:pass-4711@there",
    ],
)
def test_a_wrong_address_is_refused_with_its_place(url: str) -> None:
    session = Session()
    with pytest.raises(StreamtableError) as refused:
        session.load(f"SET 'openlineage.transport.url' = '{url}';", "job.sql")
    assert refused.value.condition is Condition.INVALID_OPTION
    assert str(refused.value).startswith("job.sql:1:")
    assert "an http or https address such as 'http://marquez:5000'" in str(refused.value)
    assert "4711" not in str(refused.value)


@pytest.mark.parametrize("url", ["http://there", "https://u:p@there:443/x", " http://[::1]:5000 "])
def test_valid_addresses(url: str) -> None:
    settings = SessionSettings()
    settings.set(LINEAGE_URL.key, Given(url))
    assert settings.current()[LINEAGE_URL] == url.strip()


def _reported(notices: list[str], url: str = "http://there") -> Any:
    settings = SessionSettings()
    settings.set(LINEAGE_URL.key, Given(url))
    stop = threading.Event()
    return reported_lineage(
        "job", {}, settings.current(), lambda: {"tables": {}}, stop, notices.append, bounded=True
    )

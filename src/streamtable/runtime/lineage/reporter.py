"""Send the lineage events of a job to an OpenLineage server while the job runs."""

from __future__ import annotations

import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

from streamtable.connector_api.preflight import Notice
from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import Settings
from streamtable.core.secrets import without_secrets
from streamtable.core.settings.reporting import LINEAGE_API_KEY, LINEAGE_NAMESPACE, LINEAGE_URL
from streamtable.runtime.lineage.flows import Flow

if TYPE_CHECKING:
    from openlineage.client import OpenLineageClient
    from openlineage.client.event_v2 import RunState

    from streamtable.runtime.lineage.events import JobRun

#: Interval of RUNNING events, in seconds.
_INTERVAL_S = 60.0

#: Timeout of one request, in seconds.
_REQUEST_S = 5.0

#: The longest wait for the last events at the end of a job, in seconds.
_END_S = 10.0

Tables = Mapping[str, Mapping[str, Any]]


@contextmanager
def reported_lineage(
    name: str,
    flows: Mapping[str, Flow],
    settings: Settings,
    metrics: Callable[[], Mapping[str, Tables]],
    stop: threading.Event,
    notice: Notice,
    *,
    bounded: bool,
) -> Iterator[None]:
    """Report the run of a job as the block runs, if the settings name a server.

    The events are START at the begin; RUNNING every minute; at the end COMPLETE, ABORT after a stop
    request, or FAIL with the error. A server that cannot be reached is reported once and ends
    nothing.

    Args:
        name: name of the job.
        flows: by the names of the queries.
        settings: the session's.
        metrics: `JobMetrics.values`.
        stop: set when a stop is requested.
        notice: takes one line for the user.
        bounded: whether the run ends with its input.

    Raises:
        StreamtableError: RESOURCE_UNAVAILABLE if the client of OpenLineage is not installed.
    """
    url = settings.get(LINEAGE_URL)
    if url is None:
        yield
        return
    if find_spec("openlineage") is None:
        raise StreamtableError(
            Condition.RESOURCE_UNAVAILABLE,
            what=f"the client of '{LINEAGE_URL.key}'",
            reason="package openlineage-python is not installed",
            hint="pip install 'streamtable[openlineage]'",
        )
    from openlineage.client.event_v2 import RunState

    from streamtable.runtime.lineage.events import JobRun

    run = JobRun(settings[LINEAGE_NAMESPACE], name, flows, bounded)
    with _Sender(_client(url, settings), run, metrics, url, notice) as sender:
        try:
            yield
        except BaseException as error:
            sender.end(RunState.FAIL, _line_of(error))
            raise
        sender.end(RunState.ABORT if stop.is_set() else RunState.COMPLETE)


def _client(url: str, settings: Settings) -> OpenLineageClient:
    from openlineage.client import OpenLineageClient

    transport: dict[str, Any] = {"type": "http", "url": url, "timeout": _REQUEST_S}
    if (key := settings.get(LINEAGE_API_KEY)) is not None:
        transport["auth"] = {"type": "api_key", "apiKey": key}
    return OpenLineageClient(config={"transport": transport})


class _Sender:
    """Sends events from a thread of its own, so that a slow server does not delay the job."""

    def __init__(
        self,
        client: OpenLineageClient,
        run: JobRun,
        metrics: Callable[[], Mapping[str, Tables]],
        url: str,
        notice: Notice,
    ) -> None:
        self._client = client
        self._run = run
        self._metrics = metrics
        self._place = _without_login(url)
        self._notice = notice
        self._reported = False
        self._last: queue.SimpleQueue[tuple[RunState, str | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._send, name="streamtable-lineage", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def end(self, state: RunState, error: str | None = None) -> None:
        """Send the last events."""
        self._last.put((state, error))

    def __exit__(self, *_: object) -> None:
        self._thread.join(_END_S)
        if self._thread.is_alive():
            self._report(f"no answer within {_END_S:.0f} s")

    def _send(self) -> None:
        from openlineage.client.event_v2 import RunState

        state, error = RunState.START, None
        while True:
            self._emit(state, error)
            if state not in (RunState.START, RunState.RUNNING):
                return
            try:
                state, error = self._last.get(timeout=_INTERVAL_S)
            except queue.Empty:
                state = RunState.RUNNING

    def _emit(self, state: RunState, error: str | None) -> None:
        try:
            for event in self._run.events(state, self._metrics()["tables"], error):
                self._client.emit(event)
        except Exception as failed:
            self._report(_without_login(_line_of(failed)))

    def _report(self, reason: str) -> None:
        if not self._reported:
            self._reported = True
            with suppress(Exception):
                self._notice(f"lineage events did not reach {self._place}: {reason}")


def _without_login(text: str) -> str:
    """Return a text whose addresses have no login; a client may write a password in another way."""
    return re.sub(r"//[^/\s]*@", "//", text)


def _line_of(error: BaseException) -> str:
    """Return the first line of an error; its type if it has no text."""
    lines = str(error).splitlines()
    return without_secrets(lines[0] if lines else type(error).__name__)

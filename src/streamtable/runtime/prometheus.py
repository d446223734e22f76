"""A job's metrics for Prometheus: its text format, served over HTTP at `/metrics`."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.runtime.metrics import JobMetrics

#: The version of the text format.
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_PREFIX = "streamtable_"


def exposition(metrics: JobMetrics) -> str:
    """All metrics as Prometheus reads them: `streamtable_numRecordsIn{table="t"} 5`."""
    by_name: dict[str, list[str]] = {}
    found = metrics.values()
    for kind, owners in (("table", found["tables"]), ("query", found["queries"])):
        for owner, values in owners.items():
            for name, labels, value in _samples(values):
                label = _labels({kind: owner, **labels})
                by_name.setdefault(name, []).append(f"{_PREFIX}{name}{label} {value}")
    lines = []
    for name, samples in sorted(by_name.items()):
        lines += [f"# TYPE {_PREFIX}{name} {_type(name)}", *samples]
    return "\n".join([*lines, ""])


def _samples(values: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, str], float]]:
    for name, value in values.items():
        if name == "operators":
            for i, operator in enumerate(value):
                labels = {"operator": f"{i}-{operator['name']}"}
                yield "operatorStateRows", labels, operator["stateRows"]
                yield "operatorStateBytes", labels, operator["stateBytes"]
        elif name == "watermark" and value is not None:
            moment = datetime.fromisoformat(value.replace("Z", "+00:00"))
            yield "watermark", {}, round(moment.timestamp() * 1_000)
        elif value is not None:
            yield name, {}, value


def _type(name: str) -> str:
    total = name.startswith("num") or name.endswith(("Errors", "Dropped", "Lost", "Letters"))
    return "counter" if total and not name.endswith("PerSecond") else "gauge"


def _labels(labels: Mapping[str, str]) -> str:
    texts = (f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return "{" + ",".join(texts) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


@contextmanager
def serve(metrics: JobMetrics, host: str, port: int) -> Iterator[int]:
    """Answers at `http://host:port/metrics` while the block lasts; gives the port, chosen if 0.

    Raises:
        StreamtableError: PORT_TAKEN.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] not in ("/", "/metrics"):
                self.send_error(404)
                return
            body = exposition(metrics).encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Requests are not worth a line each."""

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise StreamtableError(
            Condition.PORT_TAKEN,
            host=host,
            port=port,
            reason=error.strerror,
            hint="give another --metrics-port",
        ) from error
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()

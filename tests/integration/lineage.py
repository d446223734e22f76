"""A server that receives lineage events over HTTP, as OpenLineage defines."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Backend:
    """Address of the server, and the events and keys that the server received."""

    address: str
    events: list[dict[str, Any]] = field(default_factory=list)
    keys: set[str | None] = field(default_factory=set)

    def of(self, job: str) -> list[str]:
        """Return the states of a job, in order."""
        return [event["eventType"] for event in self.events if event["job"]["name"] == job]


@contextmanager
def lineage_backend() -> Iterator[Backend]:
    """Run the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/api/v1/lineage"
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.keys.add(self.headers["Authorization"])
            kept.events.append(json.loads(body))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept = Backend(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield kept
    server.shutdown()
    thread.join()
    server.server_close()

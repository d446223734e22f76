"""A minimal schema registry, for answers that a real registry gives only when it fails."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable

Answer = tuple[int, Any]


class RegistryDouble:
    """Serve the answers that a test sets.

    Attributes:
        schemas: id -> answer of `/schemas/ids/<id>`.
        subjects: path -> answer.
        failures: answers that take precedence, each for one request.
        asked: method, path and headers of every request.
        bodies: body of every request.
    """

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self.schemas: dict[int, dict[str, Any]] = {}
        self.subjects: dict[str, dict[str, Any]] = {}
        self.failures: list[Answer] = []
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        self.bodies: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._answer))
        self._scheme = "https" if context else "http"
        if context:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True
        )

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_port}"

    def add(self, schema: str, type_: str | None = None) -> int:
        """Give the schema an id. A schema without a type is an Avro schema."""
        known = len(self.schemas) + 1
        self.schemas[known] = {"schema": schema} | ({"schemaType": type_} if type_ else {})
        return known

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, method: str, path: str, headers: dict[str, str], body: str) -> Answer:
        self.asked.append((method, path, headers))
        self.bodies.append(body)
        if self.failures:
            return self.failures.pop(0)
        if method == "POST" and path.endswith("/versions"):
            given = json.loads(body)
            return 200, {"id": self.add(given["schema"], given.get("schemaType"))}
        found = self.subjects.get(path)
        if path.startswith("/schemas/ids/"):
            found = self.schemas.get(int(path.rpartition("/")[2]))
        return (200, found) if found else (404, {"error_code": 40403, "message": "no such schema"})


def _handler(answer: Callable[..., Answer]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._do("")

        def do_POST(self) -> None:
            self._do(self.rfile.read(int(self.headers["Content-Length"])).decode())

        def _do(self, body: str) -> None:
            status, found = answer(self.command, self.path, dict(self.headers), body)
            data = found if isinstance(found, bytes) else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler

"""HTTP server of a job's page. It only reads, and answers only requests with its token."""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs, urlsplit

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.secrets import masked, without_secrets
from streamtable.runtime.socket_server import stop_at_once

#: Longest wait for a request of an open connection, in seconds.
_TIMEOUT_S = 10

_NONCE = "{{nonce}}"

_REFUSED = "the token is missing or wrong: use the address that the job printed at its start\n"


@dataclass(frozen=True)
class UiAddress:
    """Where a job serves its page; port 0 selects a free port."""

    host: str
    port: int


@dataclass(frozen=True)
class Pages:
    """What the server answers.

    Attributes:
        status: JSON values of the job's status.
        rows: JSON values of rows, after the number of a row.
        metrics: text for Prometheus, and its content type.
        token: token of every request.
    """

    status: Callable[[], Any]
    rows: Callable[[int], Any]
    metrics: Callable[[], tuple[bytes, str]]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)


@contextmanager
def serve_pages(pages: Pages, host: str, port: int) -> Iterator[str]:
    """Serve the pages while the block runs; yield the address with the token.

    Args:
        pages: the answers.
        host: address to listen at.
        port: port; 0 selects a free one.

    Raises:
        StreamtableError: PORT_TAKEN.
    """
    try:
        server = _Server(host, port, pages)
    except OSError as error:
        raise StreamtableError(
            Condition.PORT_TAKEN,
            host=host,
            port=port,
            reason=error.strerror or error,
            hint="use another --ui port or --ui-host",
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="streamtable-ui", daemon=True)
    thread.start()
    try:
        name = socket.gethostname() if host in ("0.0.0.0", "::", "") else host  # noqa: S104
        shown = f"[{name}]" if ":" in name else name
        yield f"http://{shown}:{server.server_port}/?token={pages.token}"
    finally:
        stop_at_once(server)
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # A client that is gone must not delay the end of the job.
    block_on_close = False

    def __init__(self, host: str, port: int, pages: Pages) -> None:
        if ":" in host:
            self.address_family = socket.AF_INET6
        self.pages = pages
        super().__init__((host, port), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore clients that close a connection before the answer."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "streamtable"
    sys_version = ""
    timeout = _TIMEOUT_S

    def do_GET(self) -> None:
        """Answer a request."""
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        if not self._allowed(query.get("token", [""])[0]):
            self._answer(_REFUSED.encode(), "text/plain; charset=utf-8", HTTPStatus.UNAUTHORIZED)
            return
        pages = self.server.pages
        match url.path:
            case "/":
                nonce = secrets.token_urlsafe(16)
                page = _page().replace(_NONCE, nonce).encode()
                self._answer(page, "text/html; charset=utf-8", nonce=nonce)
            case "/api/status":
                self._json(pages.status())
            case "/api/rows":
                after = query.get("after", ["0"])[0]
                self._json(pages.rows(int(after) if after.isdecimal() else 0))
            case "/metrics":
                self._answer(*pages.metrics())
            case _:
                self._answer(b"not found\n", "text/plain; charset=utf-8", HTTPStatus.NOT_FOUND)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - of the base class
        """Log nothing: the request line has the token."""

    def _allowed(self, given: str) -> bool:
        scheme, _, bearer = self.headers.get("Authorization", "").partition(" ")
        token = bearer if scheme.lower() == "bearer" else given
        return hmac.compare_digest(token.encode(), self.server.pages.token.encode())

    def _json(self, values: Any) -> None:
        text = json.dumps(masked(values), default=lambda value: without_secrets(str(value)))
        self._answer(text.encode(), "application/json")

    def _answer(
        self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, nonce: str = ""
    ) -> None:
        own = (
            f"script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self';"
            " img-src data:; "
        )
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header(
            "Content-Security-Policy",
            f"default-src 'none'; {own if nonce else ''}base-uri 'none'; form-action 'none';"
            " frame-ancestors 'none'",
        )
        if status is HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", "Bearer")
        self.end_headers()
        self.wfile.write(body)


@cache
def _page() -> str:
    return (files(__package__) / "page.html").read_text(encoding="utf-8")

"""Servers of Python's `socketserver`: metrics, the page of a job, PySpark's accumulators."""

from __future__ import annotations

import socket
from contextlib import suppress
from socketserver import TCPServer


def stop_at_once(server: TCPServer) -> None:
    """Stop a server whose `serve_forever` runs in another thread.

    `shutdown` alone takes up to half a second: the server looks for the request after a connection,
    or when its interval is over. When its socket is shut down, it looks at once.
    """
    with suppress(OSError):  # some systems refuse it for a socket that only listens
        server.socket.shutdown(socket.SHUT_RDWR)
    server.shutdown()

"""A MariaDB server for tests, on a free loopback port and in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pymysql

from streamtable.devbroker.broker import free_port

if TYPE_CHECKING:
    from collections.abc import Sequence

USER, PASSWORD = "cdc", "cdc-pass-7391"
_INSTALLER = Path(__file__).parents[1] / "tools" / "install-mariadb.sh"
_GRANTS = "SELECT, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT"
_STARTS_WITHIN = 120


class MariaDb:
    """A server whose binlog has rows in the format that the connector needs.

    Args:
        folder: empty folder for the server's data and log.
        settings: further options of the server.
    """

    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        subprocess.run(["sh", str(_INSTALLER)], check=True)
        self.folder = folder
        self.port = free_port()
        self._settings = settings or {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> MariaDb:
        data = self.folder / "data"
        subprocess.run(
            [
                _program("mariadb-install-db"),
                "--no-defaults",
                f"--user={_user()}",
                f"--datadir={data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        self.start()
        self.run(f"CREATE USER {USER}@'%' IDENTIFIED BY '{PASSWORD}'")
        self.run(f"GRANT {_GRANTS} ON *.* TO {USER}@'%'")
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start the server on its data and wait until it answers."""
        options = {
            "datadir": str(self.folder / "data"),
            "socket": self._socket,
            "pid-file": str(self.folder / "pid"),
            "port": str(self.port),
            "bind-address": "127.0.0.1",
            "user": _user(),
            "server-id": "1",
            "log-bin": "binlog",
            "binlog_format": "ROW",
            "binlog_row_image": "FULL",
            "binlog_row_metadata": "FULL",
            "gtid_strict_mode": "ON",
            "innodb_buffer_pool_size": "64M",
            "sync_binlog": "0",
            "skip-name-resolve": "1",
            **self._settings,
        }
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    _program("mariadbd"),
                    "--no-defaults",
                    *(f"--{k}={v}" for k, v in options.items()),
                ],
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + _STARTS_WITHIN
        while True:
            try:
                self.connect().close()
            except pymysql.err.OperationalError:
                if time.monotonic() > until or self._process.poll() is not None:
                    log_text = (self.folder / "log").read_text(errors="replace")
                    raise RuntimeError(log_text[-2000:]) from None
                time.sleep(0.1)
            else:
                return

    def kill(self) -> None:
        """Kill the server, as in a crash."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @property
    def _socket(self) -> str:
        return f"/tmp/streamtable-{self.port}.sock"  # noqa: S108 - a socket's path has to be short

    def connect(self, database: str | None = None) -> Any:
        """Open a connection as the administrator, in autocommit mode."""
        return pymysql.connect(
            unix_socket=self._socket,
            user="root",
            database=database,
            autocommit=True,
            charset="utf8mb4",
            ssl_disabled=True,  # loads the certificates of the machine otherwise: 0.1 s
        )

    def run(self, *statements: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run statements as the administrator and return the rows of the last statement."""
        connection = self.connect()
        try:
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement, values or None)
                return list(cursor.fetchall())
        finally:
            connection.close()


def _program(name: str) -> str:
    return shutil.which(name) or f"/usr/sbin/{name}"


def _user() -> str:
    return pwd.getpwuid(os.geteuid()).pw_name

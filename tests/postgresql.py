"""A PostgreSQL server for tests, on a free loopback port and in a temporary folder."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from streamtable.devbroker.broker import free_port

USER, PASSWORD = "jdbc", "jdbc-pass-5127"
DATABASE = "shop"
_INSTALLER = Path(__file__).parents[1] / "tools" / "install-postgresql.sh"
_STARTS_WITHIN = 120


class PostgreSql:
    """A server with one database, owned by a user with a password.

    PostgreSQL refuses to run as root. Therefore root runs it as the user of the package.
    """

    def __init__(self) -> None:
        subprocess.run(["sh", str(_INSTALLER)], check=True)
        self.port = free_port()
        # Not below pytest's folder: only the owner of that folder may enter it.
        self.folder = Path(tempfile.mkdtemp(prefix="streamtable-pg-"))
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PostgreSql:
        if _owner():
            shutil.chown(self.folder, _owner(), _owner())
        _as_owner(
            [
                _program("initdb"),
                f"--pgdata={self.folder / 'data'}",
                "--username=admin",
                "--auth-local=trust",
                "--auth-host=scram-sha-256",
                "--encoding=UTF8",
                "--no-locale",
                "--no-sync",
            ]
        )
        self.start()
        self.run(f"CREATE USER {USER} PASSWORD '{PASSWORD}'", database="postgres")
        self.run(f"CREATE DATABASE {DATABASE} OWNER {USER}", database="postgres")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """The JDBC URL of the database."""
        return f"jdbc:postgresql://127.0.0.1:{self.port}/{DATABASE}"

    def start(self) -> None:
        """Start the server on its data and wait until it answers."""
        log = self.folder / "log"
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                [
                    _program("postgres"),
                    *("-D", str(self.folder / "data"), "-p", str(self.port)),
                    *("-c", "listen_addresses=127.0.0.1"),
                    *("-c", f"unix_socket_directories={self.folder}"),
                    *("-c", "fsync=off", "-c", "shared_buffers=32MB"),
                ],
                stdout=out,
                stderr=out,
                user=_owner(),
                cwd="/",
            )
        until = time.monotonic() + _STARTS_WITHIN
        while self._psql("SELECT 1", "postgres").returncode:
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError(log.read_text(errors="replace")[-2000:])
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop the server at once, and close its connections."""
        if self._process is not None:
            self._process.send_signal(3)  # SIGQUIT: without a checkpoint, as after a crash
            self._process.wait()
            self._process = None

    def run(self, *statements: str, database: str = DATABASE) -> list[tuple[str | None, ...]]:
        """Run statements as the administrator and return the rows of the last one as texts."""
        rows: list[tuple[str | None, ...]] = []
        for statement in statements:
            done = self._psql(statement, database)
            if done.returncode:
                raise RuntimeError(done.stderr)
            lines = done.stdout.splitlines()
            rows = [tuple(_value(v) for v in line.split("\x1f")) for line in lines]
        return rows

    def _psql(self, statement: str, database: str) -> subprocess.CompletedProcess[str]:
        command = [_program("psql"), "-X", "-q", "-A", "-t", "-F", "\x1f", "-P", "null=\\N"]
        command += ["-h", str(self.folder), "-p", str(self.port), "-U", "admin", "-d", database]
        return subprocess.run(
            [*command, "-c", statement], capture_output=True, text=True, check=False
        )


def _value(text: str) -> str | None:
    return None if text == "\\N" else text


def _as_owner(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=_owner(), cwd="/")


def _owner() -> str | None:
    """Return the user that runs the server; None for the current user."""
    return "postgres" if pwd.getpwuid(os.geteuid()).pw_name == "root" else None


def _program(name: str) -> str:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(name) or next(
        (str(f / name) for f in folders if (f / name).exists()), None
    )
    if found is None:
        message = f"{name} of PostgreSQL is not installed"
        raise RuntimeError(message)
    return found

"""Connection settings of a MySQL or MariaDB server; names from Flink CDC's *MySQL* page."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from streamtable.core.secrets import MASK, hide


@dataclass(frozen=True)
class MySqlSettings:
    """A server and a user. Equal values reach the same server in the same way.

    Attributes:
        hostname: name or address.
        username: needs SELECT, REPLICATION SLAVE and REPLICATION CLIENT.
        password: never part of a text; `repr` masks it.
        port: the port of the server.
        server_ids: first and last server id, inclusive, for reading binlogs; None for random ids.
            The number of ids limits the number of tasks that read in parallel.
        server_time_zone: the time zone in which the server shows TIMESTAMP; None for the server's
            own.
        connect_timeout: the longest wait for a connection.
        connect_max_retries: the number of retries after a failed connection.
        jdbc: pairs of a JDBC property and its value, checked against `JDBC_PROPERTIES`.
    """

    hostname: str
    username: str
    password: str = field(repr=False)
    port: int = 3306
    server_ids: tuple[int, int] | None = None
    server_time_zone: str | None = None
    connect_timeout: timedelta = timedelta(seconds=30)
    connect_max_retries: int = 3
    jdbc: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        hide(self.password)

    def __setstate__(self, state: dict[str, object]) -> None:
        """Mask the password of a copy in another process, too."""
        self.__dict__.update(state)
        hide(self.password)

    @property
    def server(self) -> str:
        """`host:port`, for messages."""
        return f"{self.hostname}:{self.port}"

    @property
    def readers(self) -> int | None:
        """How many binlog readers may run in parallel; None for any number."""
        return None if self.server_ids is None else self.server_ids[1] - self.server_ids[0] + 1

    def __str__(self) -> str:
        return f"{self.username}:{MASK}@{self.server}"

"""Credentials: a target of `profiles.yml` with `type: streamtable`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dbt.adapters.contracts.connection import Credentials
from dbt.adapters.streamtable.refusals import fail

from streamtable.core.secrets import MASK, hide, is_secret


@dataclass
class StreamtableCredentials(Credentials):
    """A target.

    Attributes:
        database: accepted and only displayed; streamtable has one catalog.
        schema: accepted and only displayed; the catalog has one database.
        bootstrap_servers: Kafka brokers of all tables, `host:port,...`.
        checkpoints: directory with a checkpoint per model; relative to the project.
        settings: session settings of all jobs and reads.
        properties: properties of Kafka's clients, without the prefix `properties.`.
        variables: values of `${name}` in options and queries.
        start_timeout: longest wait for the start or the stop of a job, in seconds.
    """

    database: str = "default_catalog"
    schema: str = "default_database"
    bootstrap_servers: str = ""
    checkpoints: str = "checkpoints"
    settings: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    start_timeout: float = 300.0

    def __post_init__(self) -> None:
        if not self.bootstrap_servers:
            fail("the profile has no `bootstrap_servers`", "add host:port of a Kafka broker")
        if "://" in self.checkpoints:
            fail("`checkpoints` of the profile is a URL", "give a directory of this machine")
        for given in (self.settings, self.properties, self.variables):
            for key, value in given.items():
                if is_secret(key):
                    hide(text_of(value))

    @property
    def type(self) -> str:
        """Name of the adapter in `profiles.yml`."""
        return "streamtable"

    @property
    def unique_field(self) -> str:
        """Identify the target in dbt's statistics, which hash the value."""
        return self.bootstrap_servers

    def _connection_keys(self) -> tuple[str, ...]:
        return (
            "bootstrap_servers",
            "checkpoints",
            "settings",
            "properties",
            "variables",
            "database",
            "schema",
        )

    def connection_info(self, *, with_aliases: bool = False) -> Iterable[tuple[str, Any]]:
        """Yield the keys that `dbt debug` displays, secrets masked."""
        for key, value in super().connection_info(with_aliases=with_aliases):
            yield key, masked(value) if isinstance(value, dict) else value


def text_of(value: object) -> str:
    """Return a YAML value as SET and WITH take it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def masked(given: Mapping[str, Any]) -> dict[str, str]:
    """Return a mapping with its secrets masked."""
    return {key: MASK if is_secret(key) else text_of(value) for key, value in given.items()}

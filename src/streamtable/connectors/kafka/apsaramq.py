"""ApsaraMQ for Kafka: what `aliyun.kafka.*` says of an instance, and what follows for a client.

The service's *Endpoints and protocols* page gives each port of its brokers one protocol. An
AccessKey opens the service's own network API, by which topics are made there, and is no login of a
Kafka client: that is a SASL user of the instance. We call no such API; what needs it is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.options import TEXT, Option, Settings

ACCESS_KEY = Option(
    "aliyun.kafka.accessKeyId",
    TEXT,
    doc="AccessKey id for ApsaraMQ's own API, which is not called: no login of a Kafka client.",
)
ACCESS_SECRET = Option(
    "aliyun.kafka.accessKeySecret", TEXT, doc="The AccessKey's secret, of the same use."
)
INSTANCE = Option(
    "aliyun.kafka.instanceId",
    TEXT,
    doc="Instance of ApsaraMQ: its brokers' ports set `properties.security.protocol` and"
    " `properties.sasl.mechanism`, and its topics must be there.",
)
ENDPOINT = Option("aliyun.kafka.endpoint", TEXT, doc="Address of the API of its region.")
REGION = Option("aliyun.kafka.regionId", TEXT, doc="Region of the instance.")

#: All five belong together.
OPTIONS: tuple[Option[Any], ...] = (ACCESS_KEY, ACCESS_SECRET, INSTANCE, ENDPOINT, REGION)

#: Port of a broker -> what it speaks.
_PROTOCOLS = {9092: "PLAINTEXT", 9093: "SASL_SSL", 9094: "SASL_PLAINTEXT", 9095: "SASL_SSL"}

_PROTOCOL, _MECHANISM, _LOGIN = "security.protocol", "sasl.mechanism", "sasl.jaas.config"


@dataclass(frozen=True)
class Instance:
    """Where the topics of a table live, for messages."""

    id: str
    endpoint: str
    region: str

    def cannot_create(self, topic: str) -> StreamtableError:
        """NOT_YET: ApsaraMQ makes topics by its API alone."""
        return StreamtableError(
            Condition.NOT_YET,
            what=f"the creation of topic '{topic}' by ApsaraMQ's API at {self.endpoint}",
            hint=f"create it in the console of {self.region}, in instance {self.id}",
        )


def instance(settings: Settings) -> Instance | None:
    """The instance, where a table names one."""
    if not settings.has(INSTANCE):
        return None
    return Instance(settings[INSTANCE], settings[ENDPOINT], settings[REGION])


def complete(settings: Settings, table: str) -> None:
    """All of the options or none, and a login where the brokers' port asks for one.

    Raises:
        StreamtableError: OPTION_CONFLICT.
    """
    given = [option for option in OPTIONS if settings.has(option)]
    lacking = [option.key for option in OPTIONS if not settings.has(option)]
    if given and lacking:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(given[0]),
            reason=f"{table} sets '{given[0].key}' without '{lacking[0]}'",
            hint="give all of aliyun.kafka.*, or none",
        )
    if not given:
        return
    client = settings.passthrough
    protocol = client.get(_PROTOCOL) or _protocol(
        settings.given["properties.bootstrap.servers"].text
    )
    if protocol.startswith("SASL") and _LOGIN not in client:
        raise StreamtableError(
            Condition.OPTION_CONFLICT,
            at=settings.at(INSTANCE),
            reason=(
                f"{table} comes to ApsaraMQ by {protocol} without 'properties.{_LOGIN}', and the"
                " AccessKey is no login there"
            ),
            hint="give the login of a SASL user of the instance",
        )


def client_defaults(servers: str) -> Mapping[str, str]:
    """Client settings that an instance's brokers ask for; what the script sets goes before them."""
    protocol = _protocol(servers)
    login = {_MECHANISM: "PLAIN"} if protocol.startswith("SASL") else {}
    return {_PROTOCOL: protocol, **login}


def _protocol(servers: str) -> str:
    """That of the first broker's port; Kafka's default for a port that the service does not use."""
    port = servers.split(",")[0].rpartition(":")[2].strip()
    return _PROTOCOLS.get(int(port) if port.isdecimal() else 0, "PLAINTEXT")

"""ApsaraMQ for Kafka: the options `aliyun.kafka.*` and the client settings of an instance.

The service's *Endpoints and protocols* page assigns one protocol to each port of the brokers. An
AccessKey is a credential of the service's own network API, which creates topics. It is not a login
of a Kafka client; a client logs in as a SASL user of the instance. This module does not call the
API. If a job needs the API, it reports what the user must do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamtable.core.errors import Condition, StreamtableError
from streamtable.core.option_kinds import TEXT
from streamtable.core.options import Option, Settings

ACCESS_KEY = Option(
    "aliyun.kafka.accessKeyId",
    TEXT,
    doc="AccessKey ID for the ApsaraMQ API. The API is not called, and the AccessKey is not a"
    " Kafka login.",
)
ACCESS_SECRET = Option(
    "aliyun.kafka.accessKeySecret", TEXT, doc="AccessKey secret for the ApsaraMQ API."
)
INSTANCE = Option(
    "aliyun.kafka.instanceId",
    TEXT,
    doc="ApsaraMQ instance. The ports of its brokers set `properties.security.protocol` and"
    " `properties.sasl.mechanism`. Its topics must exist.",
)
ENDPOINT = Option("aliyun.kafka.endpoint", TEXT, doc="Endpoint of the API in its region.")
REGION = Option("aliyun.kafka.regionId", TEXT, doc="Region of the instance.")

#: Options that must all be set together.
OPTIONS: tuple[Option[Any], ...] = (ACCESS_KEY, ACCESS_SECRET, INSTANCE, ENDPOINT, REGION)

#: Port of a broker -> protocol.
_PROTOCOLS = {9092: "PLAINTEXT", 9093: "SASL_SSL", 9094: "SASL_PLAINTEXT", 9095: "SASL_SSL"}

_PROTOCOL, _MECHANISM, _LOGIN = "security.protocol", "sasl.mechanism", "sasl.jaas.config"


@dataclass(frozen=True)
class Instance:
    """The instance that has the topics of a table, for messages."""

    id: str
    endpoint: str
    region: str

    def cannot_create(self, topic: str) -> StreamtableError:
        """Return NOT_YET: only the API of ApsaraMQ creates topics."""
        return StreamtableError(
            Condition.NOT_YET,
            what=f"the creation of topic '{topic}' by ApsaraMQ's API at {self.endpoint}",
            hint=f"create it in the console of {self.region}, in instance {self.id}",
        )


def instance(settings: Settings) -> Instance | None:
    """Return the instance, if the table names one."""
    if not settings.has(INSTANCE):
        return None
    return Instance(settings[INSTANCE], settings[ENDPOINT], settings[REGION])


def complete(settings: Settings, table: str) -> None:
    """Check that all options or none are set, with a login if the brokers' port requires one.

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
                f"{table} connects to ApsaraMQ with {protocol} without 'properties.{_LOGIN}',"
                " but the AccessKey is not a login"
            ),
            hint="give the login of a SASL user of the instance",
        )


def client_defaults(servers: str) -> Mapping[str, str]:
    """Return the default client settings of an instance; settings of the script override them."""
    protocol = _protocol(servers)
    login = {_MECHANISM: "PLAIN"} if protocol.startswith("SASL") else {}
    return {_PROTOCOL: protocol, **login}


def _protocol(servers: str) -> str:
    """Return the protocol of the first broker's port; Kafka's default for an unknown port."""
    port = servers.split(",")[0].rpartition(":")[2].strip()
    return _PROTOCOLS.get(int(port) if port.isdecimal() else 0, "PLAINTEXT")

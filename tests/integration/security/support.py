"""A broker whose listeners require a login, its certificates, and properties of its clients."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from streamtable.devbroker.broker import Broker
from streamtable.jvm.install.tools import java_tool

#: Passwords that no log, plan, error or checkpoint may hold.
PASSWORD = "Zug-nach-Norden-77"  # noqa: S105 - must not show
STORE_PASSWORD = "Kiste-voller-Holz-31"  # noqa: S105 - must not show

_PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
_SCRAMS = {
    "SCRAM-SHA-256": ScramMechanism.SCRAM_SHA_256,
    "SCRAM-SHA-512": ScramMechanism.SCRAM_SHA_512,
}

LISTENERS = {
    "LOGIN": "SASL_PLAINTEXT",
    "TLS": "SSL",
    "BOTH": "SASL_SSL",
}

Properties = dict[str, str]


@dataclass(frozen=True)
class Certificates:
    """Key stores (PKCS12) of broker, client and stranger; certificates (PEM) of the first two."""

    directory: Path

    @classmethod
    def make(cls, directory: Path) -> Certificates:
        directory.mkdir(parents=True)
        made = cls(directory)
        for name in ("broker", "client", "stranger"):
            keys = ("-keyalg", "EC", "-dname", f"CN={name}", "-ext", "san=ip:127.0.0.1")
            made._keytool("-genkeypair", name, *keys, "-validity", "2")
        for name in ("broker", "client"):
            made._keytool("-exportcert", name, "-rfc", "-file", str(made.certificate(name)))
        return made

    def store(self, name: str) -> Path:
        return self.directory / f"{name}.p12"

    def certificate(self, name: str) -> Path:
        return self.directory / f"{name}.pem"

    def trust(self, name: str) -> Properties:
        """Return the properties of a truststore with the certificate of `name`."""
        return {
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self.certificate(name)),
        }

    def own(self, name: str) -> Properties:
        """Return the properties of a keystore with the key of `name`."""
        return {
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(self.store(name)),
            "ssl.keystore.password": STORE_PASSWORD,
            "ssl.key.password": STORE_PASSWORD,
        }

    def _keytool(self, command: str, name: str, *more: str) -> None:
        tool = java_tool("java").resolve().with_name("keytool")
        store = ("-keystore", str(self.store(name)), "-storepass", STORE_PASSWORD)
        alias = ("-alias", name, "-storetype", "PKCS12")
        subprocess.run([tool, command, *alias, *store, *more], check=True, capture_output=True)


@dataclass(frozen=True)
class SecuredBroker:
    """A broker that requires logins at its further listeners, with users and ACLs.

    The users are `plain`, `scram` and, by certificate, `client`. They have no rights at first.
    Clients of the open listener may do everything.
    """

    broker: Broker
    certificates: Certificates

    @classmethod
    def of(cls, directory: Path) -> SecuredBroker:
        certificates = Certificates.make(directory / "certificates")
        users = f'user_plain="{PASSWORD}"'
        tls = {**certificates.own("broker"), **certificates.trust("client")}
        settings = {
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:ANONYMOUS",
            "listener.name.login.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512",
            "listener.name.both.sasl.enabled.mechanisms": "PLAIN",
            **{f"listener.name.{name}.{k}": v for name in ("tls", "both") for k, v in tls.items()},
            "listener.name.tls.ssl.client.auth": "required",
            **{
                f"listener.name.{name}.plain.sasl.jaas.config": f"{_PLAIN} required {users};"
                for name in ("login", "both")
            },
            **{
                f"listener.name.login.{name.lower()}.sasl.jaas.config": f"{_SCRAM} required;"
                for name in _SCRAMS
            },
        }
        return cls(Broker(directory / "kafka", config=settings, listeners=LISTENERS), certificates)

    @cached_property
    def admin(self) -> AdminClient:
        """An admin client with all rights."""
        return AdminClient({"bootstrap.servers": self.broker.bootstrap_servers})

    def add_users(self) -> None:
        changes = [
            UserScramCredentialUpsertion(
                "scram", ScramCredentialInfo(mechanism, 4096), PASSWORD.encode()
            )
            for mechanism in _SCRAMS.values()
        ]
        # A user has one credential for each mechanism, and each credential needs its own request.
        for change in changes:
            self.admin.alter_user_scram_credentials([change])["scram"].result(30)

    def allow(self, user: str, kind: ResourceType, prefix: str, *operations: AclOperation) -> None:
        """Allow a user the operations on all resources whose names begin with the prefix."""
        pattern, allow = ResourcePatternType.PREFIXED, AclPermissionType.ALLOW
        bindings = [
            AclBinding(kind, prefix, pattern, user, "*", operation, allow)
            for operation in operations
        ]
        for done in self.admin.create_acls(bindings).values():
            done.result(30)

    def allow_all(self, user: str, prefix: str) -> None:
        """Give a user all rights that a job needs, on names that begin with the prefix."""
        read, write, create = AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE
        self.allow(user, ResourceType.TOPIC, prefix, read, write, create)
        self.allow(user, ResourceType.GROUP, prefix, read)
        self.allow(user, ResourceType.TRANSACTIONAL_ID, prefix, write)

    def client(self, way: str, *, password: str = PASSWORD) -> Properties:
        """Return the properties of a client with a kind of login.

        The kinds are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, SSL and SASL_SSL. The properties of PLAIN
        name the class of the login as scripts for Flink's SQL jar do.
        """
        if way == "SSL":
            keys = {**self.certificates.own("client"), **self.certificates.trust("broker")}
            return {
                "bootstrap.servers": self.broker.address("TLS"),
                "security.protocol": "SSL",
                **keys,
            }
        module, user = (_SCRAM, "scram") if way in _SCRAMS else (_PLAIN, "plain")
        if way == "PLAIN":
            module = f"org.apache.flink.kafka.shaded.{module}"
        login = {
            "sasl.mechanism": way if way in _SCRAMS else "PLAIN",
            "sasl.jaas.config": f'{module} required username="{user}" password="{password}";',
        }
        if way == "SASL_SSL":
            return {
                "bootstrap.servers": self.broker.address("BOTH"),
                "security.protocol": "SASL_SSL",
                **login,
                **self.certificates.trust("broker"),
            }
        return {
            "bootstrap.servers": self.broker.address("LOGIN"),
            "security.protocol": "SASL_PLAINTEXT",
            **login,
        }


def options(properties: Mapping[str, str]) -> str:
    """Return the properties as options of a WITH clause."""
    return ", ".join(f"'properties.{key}' = '{value}'" for key, value in properties.items())

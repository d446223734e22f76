"""Jobs on a broker that requires logins: all kinds of login, failed logins and missing rights."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AclOperation, NewTopic, ResourceType
from tests.integration.security.support import PASSWORD, Properties, SecuredBroker, options

from streamtable.cli.main import cli
from streamtable.core.errors import Condition, StreamtableError
from streamtable.testing.jobs import BoundedRun
from streamtable.testing.topics import produce, records

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAYS = {
    "PLAIN": "plain",
    "SCRAM-SHA-256": "scram",
    "SCRAM-SHA-512": "scram",
    "SSL": "CN=client",
    "SASL_SSL": "plain",
}

READ, WRITE, CREATE = AclOperation.READ, AclOperation.WRITE, AclOperation.CREATE
TOPIC, GROUP, ID = ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID


def _script(number: int, prefix: str, properties: Properties, more: str = "") -> str:
    """Return a job with a group, dead letters and an exactly-once sink. Names have the prefix."""
    client = options(properties)
    return f"""
CREATE TABLE s{number} (k INT, v INT) WITH (
  'connector' = 'kafka', 'topic' = '{prefix}-in', {client},
  'properties.group.id' = '{prefix}-group', 'scan.startup.mode' = 'earliest-offset',
  'format' = 'json', 'scan.dead-letter.topic' = '{prefix}-dead'
);
CREATE TABLE o{number} (k INT, n INT, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{prefix}-out', {client},
  'key.format' = 'json', 'value.format' = 'json',
  'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{prefix}-tx' {more}
);
INSERT INTO o{number} SELECT k, v FROM s{number};
"""


def _create(secured: SecuredBroker, *topics: str) -> None:
    for done in secured.admin.create_topics([NewTopic(t, 1) for t in topics]).values():
        done.result(30)


def _values(secured: SecuredBroker, topic: str) -> list[bytes | None]:
    """Return the values of the committed records of a topic with one partition."""
    return [record.value() for record in records(secured.broker.bootstrap_servers, topic)]


def test_all_login_methods(spark: SparkSession, secured: SecuredBroker, tmp_path: Path) -> None:
    """Each login works for sources, transactions, dead letters, group commits, lag and admin."""
    prefixes = {way: f"{way.lower()}-{uuid.uuid4().hex[:8]}" for way in WAYS}
    script = ""
    for number, (way, user) in enumerate(WAYS.items()):
        prefix = prefixes[way]
        secured.allow_all(f"User:{user}", prefix)
        _create(secured, f"{prefix}-in")
        produce(
            secured.broker.bootstrap_servers,
            f"{prefix}-in",
            [(None, b'{"k":1,"v":1}'), (None, b"{"), (None, b'{"k":2,"v":2}')],
        )
        script += _script(number, prefix, secured.client(way))
    job = BoundedRun(spark, script, tmp_path / "c")
    job()
    values = job.metrics.values()["tables"]
    for number, prefix in enumerate(prefixes.values()):
        assert _values(secured, f"{prefix}-out") == [b'{"k":1,"n":1}', b'{"k":2,"n":2}'], prefix
        assert _values(secured, f"{prefix}-dead") == [b"{"], prefix
        assert values[f"s{number}"]["pendingRecords"] == 0
        assert values[f"s{number}"]["deadLetters"] == 1
    assert [line for line in job.notices if "were not updated" in line] == []
    group = f"{prefixes['SASL_SSL']}-group"
    settings = {"bootstrap.servers": secured.broker.bootstrap_servers, "group.id": group}
    consumer = Consumer(settings)
    (found,) = consumer.committed([TopicPartition(f"{prefixes['SASL_SSL']}-in", 0)], timeout=30)
    consumer.close()
    assert found.offset == 3
    for number, (way, prefix) in enumerate(prefixes.items()):
        file = tmp_path / f"{way}.sql"
        file.write_text(_script(number, prefix, secured.client(way)))
        read = CliRunner().invoke(cli, ["read", str(file), f"o{number}", "--format", "csv"])
        assert read.exit_code == 0, read.output
        assert sorted(read.stdout.split()) == ["1,1", "2,2", "k,n"], way


@pytest.mark.usefixtures("spark")
def test_read_with_a_wrong_password(secured: SecuredBroker, tmp_path: Path) -> None:
    file = tmp_path / "job.sql"
    file.write_text(_script(0, f"t-{uuid.uuid4().hex[:8]}", _wrong_scram(secured)))
    read = CliRunner().invoke(cli, ["read", str(file), "o0"])
    assert read.exit_code != 0
    assert read.exception is not None
    assert "LOGIN_FAILED" in f"{read.output}{read.exception}"
    assert _OTHER not in f"{read.output}{read.exception}"


_OTHER = "other-than-that"


def _wrong_plain(secured: SecuredBroker) -> Properties:
    return secured.client("PLAIN", password=_OTHER)


def _wrong_scram(secured: SecuredBroker) -> Properties:
    return secured.client("SCRAM-SHA-512", password=_OTHER)


def _untrusted_broker(secured: SecuredBroker) -> Properties:
    return {**secured.client("SASL_SSL"), **secured.certificates.trust("client")}


def _untrusted_client(secured: SecuredBroker) -> Properties:
    return {**secured.client("SSL"), **secured.certificates.own("stranger")}


def _no_certificate(secured: SecuredBroker) -> Properties:
    own = secured.certificates.own("client")
    return {k: v for k, v in secured.client("SSL").items() if k not in own}


def _no_such_store(secured: SecuredBroker) -> Properties:
    return {**secured.client("SSL"), "ssl.keystore.location": "/no/such/store.p12"}


def _wrong_store_password(secured: SecuredBroker) -> Properties:
    return {**secured.client("SSL"), "ssl.keystore.password": _OTHER}


@pytest.mark.parametrize(
    ("client", "reason"),
    [
        (_wrong_plain, "Authentication failed: Invalid username or password"),
        (_wrong_scram, "Authentication failed during authentication due to invalid credentials"),
        (_untrusted_broker, "unable to find valid certification path"),
        (_untrusted_client, "Received fatal alert: bad_certificate"),
        (_no_certificate, "Received fatal alert: bad_certificate"),
        (_no_such_store, "/no/such/store.p12"),
        (_wrong_store_password, "UnrecoverableKeyException"),
    ],
)
def test_a_login_that_fails(
    spark: SparkSession,
    secured: SecuredBroker,
    tmp_path: Path,
    client: Callable[[SecuredBroker], Properties],
    reason: str,
) -> None:
    """The job fails with the cause before it creates anything, and the error has no password."""
    prefix = f"refused-{uuid.uuid4().hex[:8]}"
    _create(secured, f"{prefix}-in")
    error = _refused(spark, _script(0, prefix, client(secured)), tmp_path)
    assert error.condition is Condition.LOGIN_FAILED
    assert reason in str(error)
    assert PASSWORD not in str(error)
    assert _OTHER not in str(error)
    assert f"{prefix}-out" not in secured.admin.list_topics(timeout=30).topics


def _refused(spark: SparkSession, script: str, tmp_path: Path) -> StreamtableError:
    begun = time.monotonic()
    with pytest.raises(StreamtableError) as refused:
        BoundedRun(spark, script, tmp_path / "c")()
    assert time.monotonic() - begun < 50
    assert not (tmp_path / "c" / "o0").exists()
    return refused.value


#: The rights that a job needs: name -> kind of resource, suffix of its name, operations.
_RIGHTS = {
    "in": (TOPIC, "-in", (READ,)),
    "out": (TOPIC, "-out", (READ, WRITE, CREATE)),
    "dead": (TOPIC, "-dead", (WRITE, CREATE)),
    "group": (GROUP, "-group", (READ,)),
    "tx": (ID, "-tx", (WRITE,)),
    "tx group": (GROUP, "-tx", (READ,)),
}


@pytest.mark.parametrize(
    ("changed", "there", "reason"),
    [
        ({"in": ()}, (), "the user lacks DESCRIBE of topic '{}-in'"),
        ({"in": (AclOperation.DESCRIBE,)}, (), "the user lacks READ of topic '{}-in'"),
        ({"out": (READ,)}, ("out",), "the user lacks WRITE of topic '{}-out'"),
        ({"out": (READ, WRITE)}, (), "the user lacks CREATE of topic '{}-out'"),
        ({"dead": (READ,)}, ("dead",), "the user lacks WRITE of topic '{}-dead'"),
        ({"group": ()}, (), "GroupAuthorizationException"),
        ({"tx": ()}, (), "TransactionalIdAuthorizationException"),
        ({"tx group": ()}, (), "GroupAuthorizationException"),
    ],
    ids=["see", "read", "write", "create", "dead letters", "group", "id", "group of the id"],
)
def test_a_right_that_is_missing(
    spark: SparkSession,
    secured: SecuredBroker,
    tmp_path: Path,
    changed: dict[str, tuple[AclOperation, ...]],
    there: tuple[str, ...],
    reason: str,
) -> None:
    prefix = f"acl-{uuid.uuid4().hex[:8]}"
    _create(secured, f"{prefix}-in", *(f"{prefix}-{name}" for name in there))
    for name, (kind, suffix, operations) in _RIGHTS.items():
        granted = changed.get(name, operations)
        if granted:
            secured.allow("User:plain", kind, f"{prefix}{suffix}", *granted)
    before = _topics(secured, prefix)
    error = _refused(spark, _script(0, prefix, secured.client("PLAIN")), tmp_path)
    assert error.condition is Condition.ACCESS_DENIED
    assert reason.format(prefix) in str(error)
    assert _topics(secured, prefix) == before


def _topics(secured: SecuredBroker, prefix: str) -> set[str]:
    """Return the topics of a test. The broker creates its own topics when it first needs them."""
    return {t for t in secured.admin.list_topics(timeout=30).topics if t.startswith(prefix)}

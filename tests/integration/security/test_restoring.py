"""Missing rights and topic settings that prevent a rollback of the sink topic, with ACLs."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AclOperation, NewTopic, ResourceType
from tests.integration.security.support import SecuredBroker, options

from streamtable.jvm.bridge import Bridge
from streamtable.operators.context import LoweringContext
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.endpoints import sink_facts
from streamtable.runtime.preflight.rollback import target_rollback_obstacles
from streamtable.session import Session, fixed_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

READ, WRITE, ASK = AclOperation.READ, AclOperation.WRITE, AclOperation.DESCRIBE_CONFIGS
CHANGE = AclOperation.ALTER_CONFIGS
_ADJUST = "execution.real-time.adjust-sinks"


def _script(topic: str, client: str, column: str) -> str:
    return f"""
CREATE TABLE o (k INT, v INT{column}, PRIMARY KEY (k) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{topic}', {client},
  'key.format' = 'json', 'value.format' = 'json'
);
INSERT INTO o SELECT k, v{", t" if column else ""} FROM o WHERE v > 1;
"""


def _obstacles(
    spark: SparkSession,
    secured: SecuredBroker,
    folder: Path,
    topic: str,
    given: dict[str, str],
    column: str = "",
    *,
    shared: bool = False,
) -> dict[str, str]:
    settings = fixed_settings({"execution.checkpointing.interval": "12 s", **given})
    session = Session(settings=settings)
    session.load(_script(topic, options(secured.client("PLAIN")), column), "job.sql")
    plans = {"o": session.plans[0]}
    context = LoweringContext(spark, Bridge(spark), settings.current())
    checkpoint = open_checkpoint(str(folder / "c"), plans)
    try:
        if shared:
            (folder / "c" / "o" / "sinks").mkdir(parents=True)
            (folder / "c" / "o" / "sinks" / "shared").touch()
        facts = sink_facts(plans, checkpoint.id_of, checkpoint.query_directory)
        return target_rollback_obstacles(plans, facts, context)
    finally:
        checkpoint.close()


@pytest.mark.parametrize(
    ("rights", "config", "shared", "column", "reason"),
    [
        ((WRITE,), {}, False, "", "the user lacks READ of topic '{}'"),
        ((READ, WRITE), {}, False, "", "the user lacks DESCRIBE_CONFIGS of topic '{}'"),
        (
            (READ, WRITE, ASK),
            {"cleanup.policy": "compact"},
            False,
            "",
            (
                "topic '{}' may be compacted too early: it needs 'min.compaction.lag.ms' ="
                " '120000' or more; 'execution.real-time.adjust-sinks' = 'true' sets it"
            ),
        ),
        (
            (READ, WRITE, ASK),
            {"cleanup.policy": "compact", "min.compaction.lag.ms": "120000"},
            False,
            ", t TIMESTAMP_LTZ(3) METADATA FROM 'timestamp'",
            "brokers compact by the timestamps that o writes",
        ),
        (
            (READ, WRITE, ASK),
            {"cleanup.policy": "compact", "min.compaction.lag.ms": "120000"},
            True,
            "",
            "topic '{}' has another writer",
        ),
        (
            (READ, WRITE, ASK),
            {"cleanup.policy": "compact", "min.compaction.lag.ms": "120000"},
            False,
            "",
            None,
        ),
        ((READ, WRITE, ASK), {"cleanup.policy": "delete"}, False, "", None),
    ],
)
def test_obstacles_to_a_sink_rollback(
    spark: SparkSession,
    secured: SecuredBroker,
    tmp_path: Path,
    rights: tuple[AclOperation, ...],
    config: dict[str, str],
    shared: bool,
    column: str,
    reason: str | None,
) -> None:
    topic = f"restoring-{uuid.uuid4().hex[:8]}"
    secured.admin.create_topics([NewTopic(topic, 1, config=config)])[topic].result(30)
    secured.allow("User:plain", ResourceType.TOPIC, topic, *rights)
    found = _obstacles(spark, secured, tmp_path, topic, {_ADJUST: "false"}, column, shared=shared)
    assert found == ({} if reason is None else {"o": reason.format(topic)})


@pytest.mark.parametrize("may_change", [True, False])
def test_adjusting_a_topic_needs_alter_configs(
    spark: SparkSession, secured: SecuredBroker, tmp_path: Path, may_change: bool
) -> None:
    topic = f"restoring-{uuid.uuid4().hex[:8]}"
    compacted = NewTopic(topic, 1, config={"cleanup.policy": "compact"})
    secured.admin.create_topics([compacted])[topic].result(30)
    rights = (READ, WRITE, ASK, *((CHANGE,) if may_change else ()))
    secured.allow("User:plain", ResourceType.TOPIC, topic, *rights)
    found = _obstacles(spark, secured, tmp_path, topic, {})
    assert found == (
        {} if may_change else {"o": f"the user lacks ALTER_CONFIGS of topic '{topic}'"}
    )

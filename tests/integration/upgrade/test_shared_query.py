"""An INSERT of a shared query is changed: it is rebuilt in a query of its own, the others go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.upgrade.support import Jobs, events

from streamtable.core.errors import Condition, StreamtableError

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


def _set(column: str) -> str:
    return (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO copies SELECT id FROM t;"
        f" INSERT INTO sums SELECT id, g, {column} FROM t; END;"
    )


@pytest.mark.soak
def test_a_changed_insert_leaves_its_query(
    spark: SparkSession, broker: Broker, topic: Topics, tmp_path: Path
) -> None:
    source = topic("upgrade", partitions=2)
    jobs = Jobs(spark, broker.bootstrap_servers, source, tmp_path / "c", "exactly-once")
    jobs.send(events(0, 40))
    jobs.run(_set("v"))
    jobs.send(events(40, 60))
    jobs.upgrade(_set("v + 1"))
    assert jobs.folded("sums") == {
        e["id"]: {"g": e["id"], "n": e["g"], "s": e["v"] + 1} for e in events(0, 40)
    }
    with pytest.raises(StreamtableError, match="shared its query with other INSERTs") as refused:
        jobs.upgrade(_set("v"), rollback=True)
    assert refused.value.condition is Condition.CHECKPOINT_NOT_UPGRADED
    jobs.run(_set("v + 1"))
    assert {path.name for path in (tmp_path / "c").iterdir() if path.is_dir()} >= {
        "statement-set",
        "sums@2",
    }
    assert jobs.folded("sums") == {
        e["id"]: {"g": e["id"], "n": e["g"], "s": e["v"] + 1} for e in events(0, 60)
    }
    assert jobs.copied() == dict.fromkeys(range(60), 1)

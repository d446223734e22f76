"""Functions in Java on the executors of a cluster, which get the jars from the driver."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from tests import quick_jvm
from tests.integration.faults.cluster import Cluster
from tests.integration.functions.test_java_functions import JOB
from tests.integration.jobs.support import run, write

from streamtable.jvm.install.class_archive import java_options
from streamtable.testing.topics import produce_json, records

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import Topics

    from streamtable.devbroker.broker import Broker


@pytest.mark.soak
def test_executors_call_functions(
    broker: Broker, topic: Topics, tmp_path: Path, add_jars: str
) -> None:
    servers = broker.bootstrap_servers
    people, greeted = topic("people"), topic("greeted", config={"cleanup.policy": "compact"})
    produce_json(servers, people, [{"id": i, "name": f"n{i}"} for i in range(3)])
    script = write(tmp_path / "job.sql", add_jars + JOB)
    options = ["--checkpoint", str(tmp_path / "checkpoint"), "--bounded"]
    for name, value in {"people": people, "greeted": greeted, "servers": servers}.items():
        options += ["--var", f"{name}={value}"]
    java = f"spark.executor.extraJavaOptions={quick_jvm.OPTIONS} {java_options()}"
    with Cluster(tmp_path / "spark", ["127.0.0.2"]) as cluster:
        options += ["--master", cluster.url, "--set", "spark.executor.memory=512m", "--set", java]
        code, _, err = run("run", script, *options)
        assert code == 0, err
        assert list((tmp_path / "spark" / "worker-0").glob("app-*/0/functions.jar"))
    greetings = {json.loads(record.value())["greeting"] for record in records(servers, greeted)}
    assert greetings == {f"String n{i}" for i in range(3)}

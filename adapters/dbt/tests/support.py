"""dbt projects in folders of their own, and the orders that they read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from streamtable.core.process import Process
from streamtable.devbroker.broker import Broker
from streamtable.runtime.status.found import jobs_below

ORDERS = (
    {"order_id": 1, "region": "eu", "amount": 10},
    {"order_id": 2, "region": "us", "amount": 20},
    {"order_id": 3, "region": "eu", "amount": 5},
    {"order_id": 4, "region": None, "amount": 1},
)

#: A login that the broker, which asks for none, does not look at.
PASSWORD = "open-sesame-42"
_LOGIN = f"org.apache.kafka.common.security.plain.PlainLoginModule required password='{PASSWORD}';"

SOURCES = """
version: 2
sources:
  - name: shop
    config:
      meta:
        with: {format: json}
    tables:
      - name: orders
        config:
          meta:
            with: {scan.startup.mode: earliest-offset}
        columns:
          - {name: order_id, data_type: BIGINT, data_tests: [unique, not_null]}
          - {name: region, data_type: STRING}
          - {name: amount, data_type: "DECIMAL(10, 2)"}
"""


@dataclass(frozen=True)
class Project:
    """A dbt project in a folder."""

    root: Path

    def write(self, **files: str) -> None:
        """Write files; `__` in a name is `/`, and the last `_` begins the suffix."""
        for name, text in files.items():
            stem, _, suffix = name.replace("__", "/").rpartition("_")
            path = self.root / f"{stem}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def dbt(self, *arguments: str) -> tuple[int, str]:
        """Run dbt in the folder; give its exit code and its output."""
        command = [str(Path(sys.executable).with_name("dbt")), *arguments]
        done = subprocess.run(
            command,
            cwd=self.root,
            env={**os.environ, "DBT_PROFILES_DIR": ".", "DBT_USE_COLORS": "false"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return done.returncode, done.stdout

    def results(self) -> dict[str, tuple[str, str]]:
        """Give status and message of each node of the last command."""
        found = json.loads((self.root / "target" / "run_results.json").read_text())["results"]
        return {
            each["unique_id"].split(".", 2)[2]: (each["status"], each["message"]) for each in found
        }

    def kill_jobs(self) -> None:
        """End the jobs that the project has started."""
        for job in jobs_below(self.root / "checkpoints"):
            found = Process.of(job.holder) if job.holder else None
            if found is not None:
                found.stop(20)


def new_project(root: Path, broker: Broker) -> Project:
    """Write a project without models."""
    project = Project(root)
    project.write(
        dbt_project_yml="name: shop\nversion: '1.0'\nprofile: shop\n"
        "flags: {send_anonymous_usage_stats: false}\n",
        profiles_yml=f"""
shop:
  target: dev
  outputs:
    dev:
      type: streamtable
      bootstrap_servers: {broker.bootstrap_servers}
      checkpoints: checkpoints
      settings: {{parallelism.default: 1}}
      properties: {{sasl.jaas.config: "{_LOGIN}"}}
      variables: {{least: 3}}
      threads: 2
""",
        models__sources_yml=SOURCES,
    )
    return project


def send(broker: Broker, orders: Sequence[dict[str, object]]) -> None:
    """Write orders into the topic `orders`, which is created."""
    servers = {"bootstrap.servers": broker.bootstrap_servers}
    admin = AdminClient(servers)
    admin.create_topics([NewTopic("orders")])["orders"].result(timeout=30)
    producer = Producer(servers)
    for order in orders:
        producer.produce("orders", json.dumps(order))
    assert producer.flush(30) == 0

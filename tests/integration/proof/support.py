"""A job with several queries for proofs, its input, and `streamtable prove` on it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result

from streamtable.cli.main import cli
from streamtable.core.checkpoint_path import numbered
from streamtable.testing.histories import random_history
from streamtable.testing.topics import produce_changes, produce_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.conftest import Topics
    from tests.integration.jobs.support import Cli

    from streamtable.devbroker.broker import Broker

_UPSERT = "'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json'"

SCRIPT = f"""
SET 'execution.mode' = '${{mode}}';
CREATE TABLE orders (id INT, shop INT, amount INT, price DOUBLE, PRIMARY KEY (id) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{orders}}', 'properties.bootstrap.servers' = '${{servers}}');
CREATE TABLE shops (shop INT, name STRING, PRIMARY KEY (shop) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{shops}}', 'properties.bootstrap.servers' = '${{servers}}');
CREATE TABLE clicks (shop INT, n INT) WITH ('connector' = 'kafka', 'format' = 'json',
  'scan.startup.mode' = 'earliest-offset',
  'topic' = '${{clicks}}', 'properties.bootstrap.servers' = '${{servers}}');

CREATE TABLE totals (shop INT, orders BIGINT, amount INT, price DOUBLE,
  PRIMARY KEY (shop) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{prefix}}-totals', 'properties.bootstrap.servers' = '${{servers}}'
  ${{guarantee}});
CREATE TABLE named (id INT, name STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{prefix}}-named', 'properties.bootstrap.servers' = '${{servers}}'
  ${{guarantee}});
CREATE TABLE best (shop INT, id INT, amount INT, place BIGINT,
  PRIMARY KEY (shop, place) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{prefix}}-best', 'properties.bootstrap.servers' = '${{servers}}'
  ${{guarantee}});
CREATE TABLE seen (shop INT, n INT) WITH ('connector' = 'kafka', 'format' = 'json',
  'topic' = '${{prefix}}-seen', 'properties.bootstrap.servers' = '${{servers}}' ${{guarantee}});
CREATE TABLE counts (clicks BIGINT, shop INT, n INT, least INT, most INT,
  PRIMARY KEY (shop) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{prefix}}-counts', 'properties.bootstrap.servers' = '${{servers}}'
  ${{guarantee}});
CREATE TABLE newest (n INT, shop INT, PRIMARY KEY (shop) NOT ENFORCED)
WITH ({_UPSERT}, 'topic' = '${{prefix}}-newest', 'properties.bootstrap.servers' = '${{servers}}'
  ${{guarantee}});
"""

INSERTS = {
    "totals": """INSERT INTO totals SELECT shop, COUNT(*), SUM(amount), SUM(price) FROM orders
WHERE shop IS NOT NULL GROUP BY shop;""",
    "odd totals": """INSERT INTO totals SELECT shop, COUNT(*), SUM(amount), SUM(price) FROM orders
WHERE MOD(shop, 2) = 1 GROUP BY shop;""",
    "even totals": """INSERT INTO totals SELECT shop, COUNT(*), SUM(amount), SUM(price) FROM orders
WHERE MOD(shop, 2) = 0 GROUP BY shop;""",
    "named": """INSERT INTO named SELECT id, name, amount
FROM orders LEFT JOIN shops ON orders.shop = shops.shop;""",
    "best": """INSERT INTO best SELECT shop, id, amount, place FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY shop ORDER BY amount DESC, id) AS place FROM orders
  WHERE shop IS NOT NULL) WHERE place <= 3;""",
    "seen": """INSERT INTO seen SELECT shop, n FROM clicks WHERE n > 2
UNION ALL SELECT shop, -n FROM clicks WHERE n <= 2;""",
    "counts": """INSERT INTO counts
SELECT COUNT(*), shop, SUM(n), MIN(n) FILTER (WHERE n > 1), MAX(n) FROM clicks GROUP BY shop;""",
    "newest": "INSERT INTO newest SELECT n, shop FROM clicks WHERE n <> 3;",
}
TABLES = ("totals", "named", "best", "seen")

#: Options of a sink with transactions.
EXACTLY_ONCE = (
    ", 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '{prefix}'"
)


@dataclass
class ProvedJob:
    """The script with its topics, and commands on it."""

    folder: Path
    servers: str
    variables: dict[str, str]
    #: A checkpoint elsewhere than in the folder.
    uri: str | None = None

    @classmethod
    def make(
        cls,
        folder: Path,
        broker: Broker,
        topic: Topics,
        *,
        mode: str,
        exactly_once: bool = False,
        tables: Sequence[str] = TABLES,
    ) -> ProvedJob:
        """Create the source topics, and write the script with these INSERTs."""
        names = {name: topic(name, partitions=2) for name in ("orders", "shops", "clicks")}
        prefix = names["orders"].replace("orders", "out")
        guarantee = EXACTLY_ONCE.format(prefix=prefix) if exactly_once else ""
        inserts = (INSERTS[table] for table in tables)
        (folder / "job.sql").write_text("\n".join([SCRIPT, *inserts]))
        servers = broker.bootstrap_servers
        more = {"servers": servers, "prefix": prefix, "mode": mode, "guarantee": guarantee}
        return cls(folder, servers, {**names, **more})

    @property
    def checkpoint(self) -> Path:
        """The checkpoint of the job."""
        return self.folder / "checkpoint"

    @property
    def arguments(self) -> list[str]:
        """The script and its variables, as arguments of a command."""
        given = [f"--var={name}={value}" for name, value in self.variables.items()]
        return [str(self.folder / "job.sql"), *given]

    def topic(self, table: str) -> str:
        """Return the topic of a sink."""
        return f"{self.variables['prefix']}-{table}"

    def feed(self, seed: int, changes: int) -> None:
        """Send changes to all source topics."""
        dice = random.Random(seed)

        def order(source: random.Random) -> dict[str, Any]:
            amount = source.randrange(100)
            return {
                "shop": source.choice([None, 1, 2, 3, 4]),
                "amount": amount,
                "price": amount / 7,
            }

        history = random_history(seed, changes, 40, order)
        produce_changes(self.servers, self.variables["orders"], "id", history)
        shops = random_history(seed, 20, 5, lambda source: {"name": f"shop {source.randrange(9)}"})
        produce_changes(self.servers, self.variables["shops"], "shop", shops)
        clicks = [{"shop": dice.randrange(5), "n": dice.randrange(6)} for _ in range(changes)]
        produce_json(self.servers, self.variables["clicks"], clicks)

    def wait_for_commit(self, running: Cli) -> None:
        """Wait until each query of a running job has committed a batch."""

        def committed() -> bool:
            logs = list(self.checkpoint.glob("*/commits"))
            return bool(logs) and all(map(numbered, logs))

        running.until(committed)

    def prove(self, *options: str) -> Result:
        """Run `streamtable prove`."""
        place = self.uri or str(self.checkpoint)
        given = ["prove", *self.arguments, "--checkpoint", place, *options]
        return CliRunner().invoke(cli, given)

    def results(self, *options: str) -> dict[str, dict[str, Any]]:
        """Run `streamtable prove --json`; return the result of each query."""
        result = self.prove("--json", *options)
        found = [json.loads(line) for line in result.stdout.splitlines()]
        assert found, result.output
        same = all(one["result"] == "equal" for one in found)
        assert result.exit_code == (0 if same else 1), result.output
        return {one["query"]: one for one in found}

    def capsules(self, folder: Path, *options: str) -> dict[str, Path]:
        """Run `streamtable prove --capsule`; return the file of each query that differs."""
        result = self.prove("--capsule", str(folder), *options)
        assert result.exit_code == 1, result.output
        assert folder.is_dir(), result.output
        return {file.name.partition("-batch-")[0]: file for file in folder.iterdir()}


def replay(file: Path, *options: str) -> Result:
    """Run `streamtable replay`."""
    return CliRunner().invoke(cli, ["replay", str(file), *options])

"""A script for `streamtable why`, and a helper that runs the command on a script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner

from streamtable.cli.main import cli

if TYPE_CHECKING:
    from click.testing import Result

UPSERT = """
  'connector' = 'upsert-kafka', 'key.format' = 'json', 'value.format' = 'json',
  'properties.bootstrap.servers' = '${servers}',"""
SCRIPT = f"""
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE sales (id INT, customer STRING, amount DECIMAL(10, 2)) WITH (
  'connector' = 'kafka', 'topic' = 'why-sales', 'format' = 'json',
  'properties.bootstrap.servers' = '${{servers}}', 'scan.startup.mode' = 'earliest-offset');
CREATE TABLE orders (id INT, customer STRING, amount INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  {UPSERT} 'topic' = 'why-orders');
CREATE TABLE customers (name STRING, country STRING, PRIMARY KEY (name) NOT ENFORCED) WITH (
  {UPSERT} 'topic' = 'why-customers');
CREATE TABLE totals (
  customer STRING, total DECIMAL(38, 2), n BIGINT, PRIMARY KEY (customer) NOT ENFORCED
) WITH ({UPSERT} 'topic' = 'why-totals');
CREATE TABLE current_totals WITH ('topic' = 'why-current') LIKE totals (OVERWRITING OPTIONS);
CREATE TABLE placed (id INT, country STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  {UPSERT} 'topic' = 'why-placed');
CREATE TABLE largest (customer STRING, id INT, PRIMARY KEY (customer, id) NOT ENFORCED) WITH (
  {UPSERT} 'topic' = 'why-largest');
CREATE TABLE ranked (customer STRING, n BIGINT, id INT, PRIMARY KEY (customer, n) NOT ENFORCED)
WITH ({UPSERT} 'topic' = 'why-ranked');
CREATE TABLE log (customer STRING) WITH (
  'connector' = 'kafka', 'topic' = 'why-log', 'format' = 'json',
  'properties.bootstrap.servers' = '${{servers}}');

INSERT INTO totals
SELECT UPPER(customer), SUM(amount), COUNT(*) FROM sales
WHERE amount > 10 AND customer <> 'Eve' GROUP BY UPPER(customer);
INSERT INTO current_totals
SELECT customer, SUM(amount), COUNT(*) FROM orders GROUP BY customer HAVING COUNT(*) < 3;
INSERT INTO placed SELECT o.id, c.country FROM orders AS o JOIN customers AS c
ON o.customer = c.name;
INSERT INTO largest SELECT customer, id FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC) AS n FROM sales
) WHERE n <= 2;
INSERT INTO ranked SELECT customer, n, id FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY amount DESC) AS n FROM sales
) WHERE n <= 2;
INSERT INTO log SELECT customer FROM sales;
"""


class Why:
    """Run `streamtable why` on a script."""

    def __init__(
        self,
        file: Path,
        servers: str,
        script: str = SCRIPT,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self._file = file
        given = variables or {"servers": servers}
        self._variables = [f"--var={name}={value}" for name, value in given.items()]
        file.write_text(script)

    def run(self, table: str, key: dict[str, Any] | str, *arguments: str) -> Result:
        text = key if isinstance(key, str) else json.dumps(key)
        parts = ["why", str(self._file), *self._variables, "--table", table]
        return CliRunner().invoke(cli, [*parts, "--key", text, *arguments])

    def text(self, table: str, key: dict[str, Any], *arguments: str) -> list[str]:
        result = self.run(table, key, *arguments)
        assert result.exit_code == 0, result.output
        return result.stdout.splitlines()

    def query(self, table: str, key: dict[str, Any], *arguments: str) -> dict[str, Any]:
        """Return the answer of the only INSERT."""
        result = self.run(table, key, "--json", *arguments)
        assert result.exit_code == 0, result.output
        found = json.loads(result.stdout)
        assert (found["table"], found["key"]) == (table, key)
        (query,) = found["queries"]
        assert isinstance(query, dict)
        return query

"""Scripts of the comparison with Flink in `benchmarks/adopt.py`, and their input."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

#: A record: key, value.
Record = tuple[bytes | None, bytes | None]

SOURCES = """
CREATE TABLE orders (
  id BIGINT, customer INT, product STRING, amount DECIMAL(10, 2), price DOUBLE, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'scan.startup.mode' = 'earliest-offset',
  'properties.bootstrap.servers' = '${servers}', 'properties.group.id' = 'flink',
  'format' = 'json'
);
CREATE TABLE people (id INT, name STRING, city STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'people',
  'properties.bootstrap.servers' = '${servers}', 'properties.group.id' = 'flink',
  'key.format' = 'json', 'value.format' = 'json'
);
"""


@dataclass(frozen=True)
class Script:
    """A script with one INSERT.

    Attributes:
        name: name of its sink table and topic.
        columns: columns of the sink table.
        key: its primary key.
        query: the query.
        format: format of key and value.
        options: further options of the sink table.
    """

    name: str
    columns: str
    key: str
    query: str
    format: str = "json"
    options: str = ""

    @property
    def sink(self) -> str:
        """The statement that creates the sink table."""
        return f"""
CREATE TABLE {self.name} ({self.columns}, PRIMARY KEY ({self.key}) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = '{self.name}',
  'properties.bootstrap.servers' = '${{servers}}',
  'key.format' = '{self.format}', 'value.format' = '{self.format}'{self.options}
);
"""

    @property
    def insert(self) -> str:
        """The INSERT."""
        return f"INSERT INTO {self.name} {self.query};"

    @property
    def text(self) -> str:
        """The whole script."""
        return SOURCES + self.sink + self.insert


SCRIPTS = (
    Script(
        "counts",
        "customer INT, n BIGINT, newest TIMESTAMP(3)",
        "customer",
        "SELECT customer, COUNT(*), MAX(ts) FROM orders GROUP BY customer",
    ),
    Script(
        "sums",
        "product STRING, amount DECIMAL(38, 2), price DOUBLE, average DOUBLE",
        "product",
        "SELECT product, SUM(amount), SUM(price), AVG(price) FROM orders GROUP BY product",
    ),
    Script(
        "top_three",
        "customer INT, place BIGINT, id BIGINT, amount DECIMAL(10, 2)",
        "customer, place",
        "SELECT customer, place, id, amount FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY"
        " customer ORDER BY amount DESC, id) AS place FROM orders) WHERE place <= 3",
    ),
    Script(
        "latest",
        "customer INT, id BIGINT, ts TIMESTAMP(3), price DOUBLE",
        "customer",
        "SELECT customer, id, ts, price FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY customer"
        " ORDER BY ts DESC) AS place FROM orders) WHERE place = 1",
        "avro",
    ),
    Script(
        "joined",
        "id BIGINT, name STRING, city STRING, amount DECIMAL(10, 2)",
        "id",
        "SELECT o.id, p.name, p.city, o.amount FROM orders AS o JOIN people AS p"
        " ON o.customer = p.id",
        "avro",
    ),
    Script(
        "cities",
        "city STRING, n BIGINT",
        "city",
        "SELECT city, COUNT(*) FROM people GROUP BY city",
        "csv",
    ),
    Script(
        "outer_sums",
        "city STRING, n BIGINT, amount DECIMAL(38, 2)",
        "city",
        "SELECT p.city, COUNT(o.id), SUM(o.amount) FROM people AS p LEFT JOIN orders AS o"
        " ON p.id = o.customer GROUP BY p.city",
    ),
    Script(
        "minutes",
        "begin_ts TIMESTAMP(3), end_ts TIMESTAMP(3), product STRING, n BIGINT,"
        " amount DECIMAL(38, 2)",
        "begin_ts, end_ts, product",
        "SELECT window_start, window_end, product, COUNT(*), SUM(amount)"
        " FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE))"
        " GROUP BY window_start, window_end, product",
    ),
    Script(
        "hops",
        "begin_ts TIMESTAMP(3), end_ts TIMESTAMP(3), customers BIGINT, highest DOUBLE",
        "begin_ts, end_ts",
        "SELECT window_start, window_end, COUNT(DISTINCT customer), MAX(price)"
        " FROM TABLE(HOP(TABLE orders, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))"
        " GROUP BY window_start, window_end",
        "csv",
    ),
    Script(
        "distinct_customers",
        "product STRING, customers BIGINT, many BIGINT, lowest DECIMAL(10, 2)",
        "product",
        "SELECT product, COUNT(DISTINCT customer), COUNT(*) FILTER (WHERE amount > 500),"
        " MIN(amount) FROM orders GROUP BY product",
        "avro",
    ),
    Script(
        "renamed",
        "id INT, name STRING, place STRING",
        "id",
        "SELECT id, UPPER(name), city FROM people WHERE city <> 'Oslo'",
        options=", 'value.fields-include' = 'EXCEPT_KEY'",
    ),
    Script(
        "kinds",
        "id BIGINT, a_date DATE, a_time TIME(0), a_flag BOOLEAN, a_float FLOAT, some_bytes BYTES,"
        " a_row ROW<c INT, p STRING>, an_array ARRAY<STRING>, a_map MAP<STRING, INT>,"
        " a_null STRING",
        "id",
        "SELECT id, CAST(ts AS DATE), CAST(ts AS TIME(0)), amount > 500, CAST(price AS FLOAT),"
        " CAST(product AS BYTES), ROW(customer, product), ARRAY[product, 'x'],"
        " MAP[product, customer], CAST(NULL AS STRING) FROM orders WHERE id < 2000",
    ),
)


def orders(first: int, count: int, seed: int) -> Iterator[Record]:
    """Yield orders from a number on, with increasing times, each time once."""
    chosen = random.Random(seed)
    begin = datetime(2026, 3, 1, 9)
    for number in range(first, first + count):
        row = {
            "id": number,
            "customer": chosen.randrange(200),
            "product": f"product-{chosen.randrange(30)}",
            "amount": round(chosen.random() * 1_000, 2),
            "price": chosen.random() * 10 ** chosen.randrange(-8, 12),
            "ts": str(begin + timedelta(milliseconds=200 * number + chosen.randrange(100))),
        }
        yield None, json.dumps(row).encode()


def people(count: int, seed: int) -> Iterator[Record]:
    """Yield upserts and deletes of 250 people."""
    chosen = random.Random(seed)
    cities = ("Bern", "Lima", "Oslo", "Rome", 'Nara, "Japan"')
    for number in range(count):
        key = {"id": chosen.randrange(250)}
        row: Mapping[str, object] = {
            **key,
            "name": f"name {number}",
            "city": chosen.choice(cities),
        }
        value = None if chosen.random() < 0.2 else json.dumps(row).encode()
        yield json.dumps(key, separators=(",", ":")).encode(), value

-- Rows with what a table of a database has for them as they come.
CREATE TEMPORARY TABLE clicks (a BIGINT, b STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka',
  'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json'
);
CREATE TEMPORARY TABLE people (
  id BIGINT, name STRING, country STRING, unread INT, big AS UPPER(name),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:postgresql://admin:secret-1@localhost/shop?password=secret-2',
  'table-name' = 'public.people',
  'username' = 'me',
  'password' = 'secret-3',
  'lookup.cache' = 'PARTIAL',
  'lookup.partial-cache.max-rows' = '1000'
);
-- A key, a constant that is part of it, and a condition over both sides.
INSERT INTO events
SELECT /*+ LOOKUP('table' = 'h', 'retry-predicate' = 'lookup_miss', 'async' = 'false',
  'retry-strategy' = 'fixed_delay', 'fixed-delay' = '10s', 'max-attempts' = '3') */
c.a, h.big FROM clicks AS c
LEFT JOIN people FOR SYSTEM_TIME AS OF c.p AS h
  ON c.a = h.id AND h.country = 'de' AND h.name <> c.b;
-- A view over the table filters what was found. Nothing of the table is read.
CREATE TEMPORARY VIEW named AS SELECT id AS person, name FROM people WHERE name <> '';
INSERT INTO events
SELECT c.a, c.b FROM clicks AS c
JOIN named FOR SYSTEM_TIME AS OF c.p AS n ON n.person = c.a + 1;
-- Updates find one row at most, by the primary key, so that they stay updates.
CREATE TEMPORARY TABLE orders (id BIGINT, b STRING, amount BIGINT, p AS PROCTIME(),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json',
  'value.format' = 'json'
);
CREATE TEMPORARY TABLE copied (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:sqlite:/data/copies.db',
  'table-name' = 'copied'
);
INSERT INTO copied
SELECT o.id, h.name FROM orders AS o
LEFT JOIN people FOR SYSTEM_TIME AS OF o.p AS h ON o.amount = h.id;
INSERT INTO copied
SELECT o.id, h.name FROM orders AS o
JOIN people FOR SYSTEM_TIME AS OF o.p AS h ON o.amount = h.id;
-- Several rows of the table may have one country: an update becomes a delete and an insert.
INSERT INTO per_region
SELECT h.name, COUNT(*), COUNT(h.id) FROM orders AS o
JOIN people FOR SYSTEM_TIME AS OF o.p AS h ON o.b = h.country GROUP BY h.name;
-- A scan of the table has its rows once.
INSERT INTO copied SELECT id, name FROM people WHERE country = 'de';

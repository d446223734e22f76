-- Rows with what a table that does not change has for them as they come.
CREATE TEMPORARY TABLE clicks (a BIGINT, b STRING, p AS PROCTIME()) WITH (
  'connector' = 'kafka',
  'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'json'
);
CREATE TEMPORARY VIEW regions (code, region, unread) AS
SELECT * FROM (VALUES ('a', 'Asia', 1), ('e', 'Europe', 2)) AS r (x, y, z) WHERE z > 0;
INSERT INTO events
SELECT c.a, r.region FROM clicks AS c
JOIN regions FOR SYSTEM_TIME AS OF c.p AS r ON c.b = r.code AND c.a > CHAR_LENGTH(r.region);
INSERT INTO per_region
SELECT r.region, COUNT(*), COUNT(r.code) FROM (SELECT * FROM clicks WHERE a > 1) AS c
LEFT JOIN regions FOR SYSTEM_TIME AS OF c.p AS r ON UPPER(c.b) = r.code
GROUP BY r.region;
-- Rows that are taken back find what they have found: one at most, so that kinds stay.
CREATE TEMPORARY TABLE orders (id BIGINT, b STRING, amount INT, p AS PROCTIME(),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json',
  'value.format' = 'json'
);
CREATE TEMPORARY TABLE named (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'named',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json',
  'value.format' = 'json'
);
INSERT INTO named
SELECT o.id, r.region FROM orders AS o
LEFT JOIN regions FOR SYSTEM_TIME AS OF o.p AS r ON o.b = r.code AND o.amount > r.unread;
-- The filter above a left lookup knows an update of which only one half finds something.
INSERT INTO named
SELECT o.id, r.region FROM (SELECT * FROM orders WHERE amount > 3) AS o
JOIN regions FOR SYSTEM_TIME AS OF o.p AS r ON o.b = r.code;
-- Where the key decides what is found, no row before is asked for.
INSERT INTO named
SELECT o.id, r.region FROM orders AS o
JOIN regions FOR SYSTEM_TIME AS OF o.p AS r ON o.id = r.unread;
-- Several rows may be found: updates are deletes and inserts.
INSERT INTO named
SELECT o.id, r.region FROM orders AS o
JOIN regions FOR SYSTEM_TIME AS OF o.p AS r ON o.amount < r.unread;

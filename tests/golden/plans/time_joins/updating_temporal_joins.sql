-- Left rows are updated and deleted: by key, by change events, by a join, by a temporal join.
CREATE TABLE orders (
  id BIGINT, product BIGINT, customer BIGINT, quantity INT, at TIMESTAMP_LTZ(3),
  WATERMARK FOR at AS at - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'orders',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE order_changes (
  id BIGINT, product BIGINT, quantity INT, at TIMESTAMP_LTZ(3),
  WATERMARK FOR at AS at - INTERVAL '5' SECOND, PRIMARY KEY (id, product) NOT ENFORCED
) WITH (
  'connector' = 'kafka', 'topic' = 'order_changes',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'debezium-json'
);
CREATE TABLE products (
  id BIGINT, price INT, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR at AS at, PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'products',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE customers (
  id BIGINT, region STRING, at TIMESTAMP_LTZ(3) METADATA FROM 'timestamp',
  WATERMARK FOR at AS at, PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'customers',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE priced (
  id BIGINT, product BIGINT, price INT, PRIMARY KEY (id, product) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'priced',
  'properties.bootstrap.servers' = 'localhost:9092', 'key.format' = 'json', 'value.format' = 'json'
);
-- The key of the orders does not contain the join key: rows move between tasks.
INSERT INTO users_copy
SELECT o.id, o.quantity * p.price FROM orders AS o
JOIN products FOR SYSTEM_TIME AS OF o.at AS p ON o.product = p.id;
-- The key contains the join key, and change events need no normalizer.
INSERT INTO priced
SELECT o.id, o.product, p.price FROM order_changes AS o
LEFT JOIN products FOR SYSTEM_TIME AS OF o.at AS p ON o.product = p.id;
-- A second join and an aggregate over the first join; the state of all of them expires.
SET 'table.exec.state.ttl' = '2 d';
INSERT INTO per_region
SELECT c.region, COUNT(*), SUM(o.quantity * p.price) FROM orders AS o
LEFT JOIN products FOR SYSTEM_TIME AS OF o.at AS p ON o.product = p.id AND p.price > 0
JOIN customers FOR SYSTEM_TIME AS OF o.at AS c ON o.customer = c.id
GROUP BY c.region;

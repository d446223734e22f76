CREATE TABLE orders (id BIGINT, customer BIGINT, amount DECIMAL(10, 2), p AS PROCTIME()) WITH (
  'connector' = 'kafka',
  'topic' = 'orders',
  'properties.bootstrap.servers' = '${servers}',
  'scan.startup.mode' = 'earliest-offset',
  'format' = 'json'
);

CREATE TABLE customers (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:sqlite:${db}',
  'table-name' = 'customers',
  'lookup.cache' = 'PARTIAL',
  'lookup.partial-cache.max-rows' = '10000',
  'lookup.partial-cache.expire-after-write' = '1 min'
);

CREATE TABLE totals (
  name STRING, orders BIGINT, amount DECIMAL(38, 2), PRIMARY KEY (name) NOT ENFORCED
) WITH (
  'connector' = 'jdbc',
  'url' = 'jdbc:sqlite:${db}',
  'table-name' = 'totals'
);

INSERT INTO totals
SELECT c.name, COUNT(*), SUM(o.amount) FROM orders AS o
JOIN customers FOR SYSTEM_TIME AS OF o.p AS c ON o.customer = c.id
GROUP BY c.name;

CREATE TABLE orders (
  id INT,
  customer STRING,
  amount DECIMAL(10, 2),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'ods_orders',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json',
  'value.format' = 'json'
);

CREATE TABLE totals (
  customer STRING,
  orders BIGINT,
  amount DECIMAL(38, 2),
  PRIMARY KEY (customer) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = 'totals',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json',
  'value.format' = 'json'
);

INSERT INTO totals
SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer;

CREATE TABLE orders (
  order_id BIGINT,
  customer INT,
  amount INT
) WITH (
  'connector' = 'datagen',
  'rows-per-second' = '10',
  'fields.customer.min' = '1',
  'fields.customer.max' = '20',
  'fields.amount.min' = '1',
  'fields.amount.max' = '100'
);

CREATE TABLE totals (
  customer INT,
  orders BIGINT,
  amount BIGINT,
  PRIMARY KEY (customer) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka',
  'topic' = '@NAME@',
  'properties.bootstrap.servers' = '${servers}',
  'key.format' = 'json',
  'value.format' = 'json'
);

INSERT INTO totals
SELECT customer, COUNT(*), SUM(CAST(amount AS BIGINT)) FROM orders GROUP BY customer;

CREATE TABLE orders (
  id BIGINT, region STRING, amount DECIMAL(10, 2), db STRING METADATA FROM 'value.source.database' VIRTUAL
) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'debezium-json');
INSERT INTO per_region SELECT region, COUNT(*), COUNT(DISTINCT db) FROM orders GROUP BY region;

SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE orders (id BIGINT, region STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'maxwell-json');
INSERT INTO per_region SELECT region, COUNT(*), MAX(id) FROM orders GROUP BY region;

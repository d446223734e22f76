SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE orders (id BIGINT, score INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'canal-json');
INSERT INTO users_copy SELECT id, score FROM orders;

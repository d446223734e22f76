CREATE TABLE changes (region STRING, n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'changes', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'debezium-json');
CREATE TABLE copied (id BIGINT, score INT) WITH (
  'connector' = 'kafka', 'topic' = 'copied', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'maxwell-json');
INSERT INTO changes SELECT region, COUNT(*) FROM users GROUP BY region;
INSERT INTO copied SELECT id, score FROM users WHERE score > 3;

-- The windows of a user leave a join in any order: the later one must be written last.
CREATE TABLE clicks (
  id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'kafka', 'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE latest (
  id BIGINT, n BIGINT, window_end TIMESTAMP(3), PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'latest',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE VIEW counts AS
SELECT id, window_start, window_end, window_time, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY id, window_start, window_end, window_time;

INSERT INTO latest
SELECT e.id, c.n, c.window_end FROM counts AS c JOIN events AS e ON c.id = e.id;

INSERT INTO latest
SELECT u.id, c.n, c.window_end FROM users AS u JOIN counts AS c ON c.id = u.id;

INSERT INTO latest
SELECT c.id, c.n, c.window_end FROM counts AS c JOIN clicks AS e
ON c.id = e.id AND e.ts BETWEEN c.window_time - INTERVAL '1' MINUTE AND c.window_time;

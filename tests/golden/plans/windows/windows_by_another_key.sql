-- Two windows of a user may have the same sink key: the later one must be written last.
CREATE TABLE clicks (
  id INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'kafka', 'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE latest (
  id INT, window_end TIMESTAMP(3), n BIGINT, PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'latest',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE TABLE ends (
  id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'ends',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json'
);
CREATE VIEW counts AS
SELECT id, window_start, window_end, COUNT(*) AS n
FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY id, window_start, window_end;

INSERT INTO latest SELECT id, window_end, n FROM counts;
INSERT INTO ends SELECT id, LAST_VALUE(n) FROM counts GROUP BY id;

CREATE TABLE moves (id INT, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (id) NOT ENFORCED) WITH (
  'connector' = 'kafka', 'topic' = 'moves', 'properties.bootstrap.servers' = 'localhost:9092',
  'format' = 'debezium-json');
CREATE TABLE moved (id INT, s TIMESTAMP(3), e TIMESTAMP(3), v INT,
  PRIMARY KEY (id, s, e) NOT ENFORCED) WITH (
  'connector' = 'upsert-kafka', 'topic' = 'moved',
  'properties.bootstrap.servers' = 'localhost:9092',
  'key.format' = 'json', 'value.format' = 'json');

-- An update may move a row to another window: it is a delete and an insert, which replace no row.
INSERT INTO moved SELECT id, window_start, window_end, v
FROM TABLE(TUMBLE(TABLE moves, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE window_start > TIMESTAMP '2026-01-01 00:00:00';

-- A row has several windows, so a filter cannot pair the rows of an update.
INSERT INTO moved SELECT id, window_start, window_end, v
FROM TABLE(HOP(TABLE moves, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
WHERE v > 5;

-- A join keeps every row, because none of them replaces another one.
INSERT INTO moved SELECT CAST(m.id AS INT), m.s, m.e, u.score
FROM (SELECT CAST(id AS BIGINT) AS id, window_start AS s, window_end AS e
  FROM TABLE(CUMULATE(TABLE moves, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))
) AS m JOIN users AS u ON m.id = u.id;

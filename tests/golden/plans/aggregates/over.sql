CREATE TABLE running (
  user_id BIGINT, n BIGINT, total BIGINT, before BIGINT, viewtime TIMESTAMP(6)
) WITH (
  'connector' = 'kafka', 'topic' = 'running',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE per_window (s TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'per_window',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

-- Several calls of one window are one operator, which takes rows of a moment in Kafka's order.
INSERT INTO running
SELECT user_id, COUNT(*) OVER w, SUM(page_id) OVER w, LAG(page_id, 2) OVER w, viewtime
FROM pageviews
WINDOW w AS (PARTITION BY user_id ORDER BY viewtime);

-- A frame of rows, its time looked back from; expressions are computed below.
INSERT INTO running
SELECT user_id, COUNT(DISTINCT page_id % 10) OVER (w ROWS 3 PRECEDING),
  SUM(page_id) OVER (w ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) + 1, 0, viewtime
FROM pageviews WINDOW w AS (PARTITION BY UPPER(user_region) ORDER BY viewtime);

INSERT INTO running
SELECT user_id, MAX(page_id) OVER (
  ORDER BY viewtime RANGE BETWEEN INTERVAL '1:30' MINUTE TO SECOND PRECEDING AND CURRENT ROW
), 0, 0, viewtime FROM pageviews;

-- Without a limit, a numbering numbers every row.
INSERT INTO running
SELECT user_id, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY viewtime), 0, 0, viewtime
FROM pageviews;

-- The time stays one: windows may follow, and windows may come before.
INSERT INTO per_window
SELECT window_start, SUM(n) FROM TABLE(TUMBLE((
  SELECT viewtime, COUNT(*) OVER (PARTITION BY user_id ORDER BY viewtime) AS n FROM pageviews
), DESCRIPTOR(viewtime), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;

INSERT INTO per_window
SELECT window_start, SUM(COUNT(*)) OVER (ORDER BY window_time ROWS 9 PRECEDING)
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end, window_time;

-- The first row of each is told once, the last one whenever there is a later one.
INSERT INTO running
SELECT user_id, page_id, 0, rn, viewtime FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY user_id ORDER BY viewtime) AS rn FROM pageviews
) WHERE rn = 1;

INSERT INTO per_region
SELECT user_region, 1, page_id FROM (
  SELECT p.*, ROW_NUMBER() OVER (PARTITION BY p.user_region ORDER BY p.viewtime DESC) AS rn
  FROM pageviews AS p
) AS x WHERE x.rn = 1;

-- Another order than time's: rows come anywhere in it, and go.
INSERT INTO users_copy
SELECT id, SUM(score) OVER (PARTITION BY region ORDER BY score) FROM users;

INSERT INTO users_copy SELECT id, CAST(rn AS INT) FROM (
  SELECT id, ROW_NUMBER() OVER (ORDER BY score) AS rn FROM users
);

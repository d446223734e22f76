CREATE TABLE runs (
  user_id BIGINT, first_page BIGINT, last_page BIGINT, pages BIGINT, ended TIMESTAMP(3)
) WITH (
  'connector' = 'kafka', 'topic' = 'runs',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE runs_per_window (s TIMESTAMP(3), n BIGINT) WITH (
  'connector' = 'kafka', 'topic' = 'runs_per_window',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);
CREATE TABLE clicks (user_id BIGINT, page_id BIGINT, p AS PROCTIME()) WITH (
  'connector' = 'kafka', 'topic' = 'clicks',
  'properties.bootstrap.servers' = 'localhost:9092', 'format' = 'json'
);

-- A condition over one row is computed below; the others are evaluated in the operator.
INSERT INTO runs
SELECT * FROM pageviews MATCH_RECOGNIZE (
  PARTITION BY user_id
  ORDER BY viewtime, page_id DESC
  MEASURES A.page_id AS first_page, LAST(C.page_id) AS last_page,
    COUNT(B.page_id) + 2 AS pages, MATCH_ROWTIME() AS ended
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST C
  PATTERN (A B+? C{2,3}?) WITHIN INTERVAL '1' HOUR
  DEFINE
    A AS A.page_id > 10,
    B AS B.page_id < LAST(B.page_id, 1) OR LAST(B.page_id, 1) IS NULL,
    C AS C.page_id > A.page_id AND SUM(B.page_id) < 100
) AS m;

-- Unread measures are not computed; the time of a match may be windowed.
INSERT INTO runs_per_window
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((
  SELECT t, n FROM pageviews MATCH_RECOGNIZE (
    PARTITION BY user_region
    ORDER BY viewtime
    MEASURES MATCH_ROWTIME(viewtime) AS t, SUM(page_id * 2) AS n
    PATTERN (A+ B)
    DEFINE B AS user_region IS NULL
  )
), DESCRIPTOR(t), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end;

INSERT INTO runs
SELECT user_id, f, l, 0, CAST(NULL AS TIMESTAMP(3)) FROM clicks MATCH_RECOGNIZE (
  PARTITION BY user_id
  ORDER BY p
  MEASURES FIRST(page_id) AS f, LAST(page_id) AS l
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B) WITHIN INTERVAL '5' MINUTE
  DEFINE B AS B.page_id = A.page_id + 1
);

-- Rows of a table have positions, which break ties: the first row to arrive, or the last one by event time.
INSERT INTO users_copy SELECT user_id, CAST(page_id AS INT) FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, user_id ORDER BY viewtime DESC) AS n
  FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR))
) WHERE n = 1;
INSERT INTO events SELECT page_id, user_region FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY page_id) AS n
  FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR))
) WHERE n <= 3;

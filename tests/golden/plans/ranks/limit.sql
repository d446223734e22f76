-- The first rows of append-only input are final; an append-only sink takes them.
INSERT INTO events SELECT user_id, user_region FROM pageviews LIMIT 3;
INSERT INTO users_copy
SELECT user_id, CAST(MAX(page_id) AS INT) FROM (SELECT * FROM pageviews LIMIT 10 OFFSET 2) GROUP BY user_id;

-- Results of windows are append-only, too.
INSERT INTO events
SELECT user_id, CAST(window_end AS STRING)
FROM TABLE(TUMBLE(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' HOUR))
GROUP BY user_id, window_start, window_end
LIMIT 1;

INSERT INTO events SELECT user_id, user_region FROM pageviews ORDER BY page_id LIMIT 0;

-- The rows of a changing table may be replaced.
INSERT INTO users_copy SELECT id, score FROM users LIMIT 3;

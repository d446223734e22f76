INSERT INTO users_copy
SELECT user_id, 1 FROM pageviews
UNION ALL
SELECT id, 2 FROM events;

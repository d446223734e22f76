-- The size is no multiple of the slide, so there are no shared slices.
INSERT INTO users_copy SELECT user_id, CAST(COUNT(*) AS INT) FROM pageviews
GROUP BY user_id, HOP(viewtime, INTERVAL '4' MINUTE, INTERVAL '10' MINUTE);
-- Rows in gaps are in no window.
INSERT INTO users_copy SELECT user_id, CAST(COUNT(*) AS INT) FROM pageviews
GROUP BY user_id, HOP(viewtime, INTERVAL '10' MINUTE, INTERVAL '4' MINUTE);

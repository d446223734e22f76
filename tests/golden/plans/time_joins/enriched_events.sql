-- Several events have one sink key: the last one of a batch must win, not the greatest one.
INSERT INTO users_copy
SELECT v.user_id, CAST(p.n AS INT) FROM pageviews AS v JOIN per_region AS p ON v.user_region = p.region;

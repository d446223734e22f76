SELECT u.*, tags, u.id FROM users AS u LEFT JOIN carts AS c USING (id) WHERE u.score > 1;

-- Its windows wait as those of an INSERT do.
SELECT window_start, window_end, COUNT(*) FROM TABLE(SESSION(TABLE pageviews, DESCRIPTOR(viewtime), INTERVAL '1' MINUTE))
GROUP BY window_start, window_end;

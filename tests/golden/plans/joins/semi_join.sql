-- The subquery keeps nothing but the values it is asked for.
INSERT INTO users_copy SELECT id, score FROM users WHERE id IN (SELECT user_id FROM pageviews WHERE page_id > 7);

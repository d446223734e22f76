INSERT INTO users_copy SELECT id, 1 FROM (SELECT id FROM users UNION SELECT user_id FROM pageviews);

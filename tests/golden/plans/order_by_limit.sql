INSERT INTO users_copy SELECT id, score FROM users ORDER BY score DESC, 1 LIMIT 5 OFFSET 2;

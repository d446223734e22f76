INSERT INTO users_copy SELECT id, score FROM users WHERE EXISTS (SELECT * FROM per_region WHERE n > 4);

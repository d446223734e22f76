INSERT INTO users_copy SELECT id, score FROM users WHERE id > 10;

INSERT INTO users_copy SELECT id, score FROM users WHERE region NOT IN (SELECT region FROM carts);

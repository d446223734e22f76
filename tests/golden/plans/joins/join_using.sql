INSERT INTO users_copy SELECT id, u.score + c.score FROM users AS u JOIN users_copy AS c USING (id);

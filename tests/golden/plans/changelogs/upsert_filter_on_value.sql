-- Whether the old row had passed is known only from the old row.
INSERT INTO users_copy SELECT id, score FROM users WHERE score > 10;

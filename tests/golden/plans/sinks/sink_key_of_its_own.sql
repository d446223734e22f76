-- Several users have a score; the last one to come is seen.
INSERT INTO users_copy SELECT score, CAST(id AS INT) FROM users;

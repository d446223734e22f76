-- One row of each side under a join key; filters and unread columns stay below the join.
INSERT INTO users_copy
SELECT c.id, u.score FROM users AS u, users_copy AS c WHERE u.id = c.id AND u.region = 'north' AND c.score > u.score;

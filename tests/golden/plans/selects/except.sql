-- One count per side and value decides.
INSERT INTO users_copy SELECT id, 1 FROM (SELECT id FROM users EXCEPT SELECT user_id FROM pageviews);

INSERT INTO users_copy SELECT user_id, 1 FROM pageviews;

INSERT INTO events
SELECT user_id, UPPER(user_region) FROM pageviews WHERE page_id BETWEEN 1 AND 10;

-- Two inputs that only grow, joined, only grow.
INSERT INTO events
SELECT p.page_id, q.user_region FROM pageviews AS p JOIN pageviews AS q ON p.user_id = q.page_id;

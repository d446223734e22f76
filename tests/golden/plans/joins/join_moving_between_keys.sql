-- A user that changes its region moves to another task: Materialize puts its changes in order.
INSERT INTO users_copy
SELECT u.id, CAST(p.n AS INT) FROM users AS u LEFT JOIN per_region AS p ON u.region = p.region AND p.n > u.score;

-- The inner join emits the versions of a user from the tasks of their regions, in any order, so
-- Materialize puts the changes of the outer join in order.
INSERT INTO users_copy
SELECT u.id, CAST(x.n AS INT) FROM users AS u
JOIN (SELECT o.id, p.n FROM users AS o JOIN per_region AS p ON o.region = p.region) AS x ON u.id = x.id;

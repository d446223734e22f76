-- A user that changes its region leaves one partition for another: Materialize.
INSERT INTO users_copy
SELECT id, score FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC NULLS LAST, id) AS rn FROM users
) WHERE rn <= 3;

-- The place is a key, so one row replaces the other; the score is asked about after the first three.
INSERT INTO places
SELECT region, rn, score FROM (
  SELECT region, score, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC) AS rn FROM users
) WHERE rn <= 3 AND score > 0;

-- The limit is that of rn, and other columns are computed from it, directly or in a view.
INSERT INTO places
SELECT region, place, score FROM (
  SELECT region, score, rn, rn AS place FROM (
    SELECT region, score, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC) AS rn FROM users
  )
) WHERE rn <= 3;

CREATE VIEW ranked AS
SELECT *, rn * 2 AS twice FROM (
  SELECT region, score, ROW_NUMBER() OVER (PARTITION BY region ORDER BY score DESC) AS rn FROM users
);

INSERT INTO places SELECT region, twice, score FROM ranked WHERE rn <= 3;

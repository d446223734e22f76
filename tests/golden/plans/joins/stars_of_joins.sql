-- A star's column whose name is taken gets a number: region, region0, and so on.
CREATE VIEW users_of_regions AS SELECT * FROM users AS u JOIN per_region AS p ON u.region = p.region;

INSERT INTO users_copy SELECT id, CAST(n AS INT) FROM users_of_regions WHERE region0 <> 'x';

INSERT INTO users_copy
WITH pairs AS (SELECT * FROM users AS u JOIN users AS v ON u.region = v.region)
SELECT id0, MAX(score0) FROM pairs WHERE id < id0 GROUP BY id0;

INSERT INTO users_copy
SELECT id, CAST(n AS INT) FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY p.region ORDER BY u.score DESC) AS rn
  FROM users AS u JOIN per_region AS p ON u.region = p.region
) WHERE rn = 1;

-- Fields keep the names that they had before columns got numbers: checkpoints have these names.
INSERT INTO users_copy (id)
SELECT id FROM (
  SELECT * FROM users AS u JOIN per_region AS p ON u.region = p.region
  UNION
  SELECT DISTINCT * FROM users AS u JOIN per_region AS p ON u.region = p.region
);

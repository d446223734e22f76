-- One row per region is kept, and the region is its key.
INSERT INTO per_region
SELECT user_region, page_id, user_id FROM (
  SELECT *, ROW_NUMBER() OVER (PARTITION BY user_region ORDER BY viewtime DESC) AS rn FROM pageviews
) WHERE rn = 1;

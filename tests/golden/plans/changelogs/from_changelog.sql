INSERT INTO per_region SELECT user_region, COUNT(*), MAX(page_id) FROM FROM_CHANGELOG(
  input => (SELECT *, CAST(page_id AS STRING) AS op FROM pageviews),
  op_mapping => MAP['1, 2', 'INSERT', '3', 'DELETE']) GROUP BY user_region;

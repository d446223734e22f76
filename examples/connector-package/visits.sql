CREATE TABLE visits (shop STRING, visitors INT) WITH (
  'connector' = 'lines', 'directory' = '${directory}', 'format' = 'psv', 'psv.null-literal' = '?'
);
CREATE TABLE visitors_per_shop (shop STRING, visitors INT) WITH ('connector' = 'print');
INSERT INTO visitors_per_shop SELECT shop, SUM(visitors) FROM visits GROUP BY shop;

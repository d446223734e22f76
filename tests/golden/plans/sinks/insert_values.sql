INSERT INTO events VALUES (1, 'a'), (CAST(2 AS TINYINT), NULL), (3, UPPER('ccc'));

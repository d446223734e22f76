INSERT INTO events SELECT 1 + 1, 'a' || 'b' WHERE 1 < 2;
INSERT INTO events SELECT 5, note FROM (SELECT 'x' AS note) UNION ALL SELECT id, note FROM events;

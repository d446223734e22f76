INSERT INTO events /*+ OPTIONS('topic' = 'other-events') */
SELECT /*+ BROADCAST(b) */ a.id, b.note
FROM events /*+ OPTIONS('topic' = 'events;more', 'scan.startup.mode' = 'earliest-offset') */ AS a
JOIN events AS b ON a.id = b.id;

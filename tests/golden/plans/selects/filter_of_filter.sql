-- Both filters judge updates as a whole, or the upper one would see halves of them.
INSERT INTO users_copy SELECT id, score FROM (SELECT * FROM users WHERE score > 10) WHERE region <> 'north';

CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace');
CREATE TABLE totals (name TEXT PRIMARY KEY, orders INTEGER, amount NUMERIC);

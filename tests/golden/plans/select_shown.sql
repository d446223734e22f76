SELECT u.*, tags, u.id FROM users AS u LEFT JOIN carts AS c USING (id) WHERE u.score > 1;

-- A comment; with a semicolon.
ALTER TABLE orders ADD COLUMN user TEXT;
INSERT INTO orders (id, item, user) VALUES ('0', 'a first; order', 'ann');

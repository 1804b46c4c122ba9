-- When a todo or a goal was done; null while it is open, and for every other type.
ALTER TABLE memories ADD COLUMN done_at INTEGER;

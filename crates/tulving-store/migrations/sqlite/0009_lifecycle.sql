-- From when rules count: when one moved the memory to where it stands, or when somebody brought it back.
ALTER TABLE memories ADD COLUMN ruled_at INTEGER;

-- How often a memory that waits could not be embedded: those that fail every time come last, and hold up nobody.
ALTER TABLE unembedded ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE unembedded_next ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;

CREATE INDEX unembedded_in_turn ON unembedded (attempts, memory);
CREATE INDEX unembedded_next_in_turn ON unembedded_next (attempts, memory);

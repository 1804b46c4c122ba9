-- How often a language model was to be asked and was not, since too much waited for it.
ALTER TABLE spending ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0);

-- Vectors of sentences, which model answers, and what waits to be embedded.

-- Each sentence is a scale (f32, little-endian) and one signed byte for each dimension of the whole vector.
ALTER TABLE vectors ADD COLUMN sentences BLOB NOT NULL DEFAULT x'';

-- `meta` names the model whose vectors answer (`model`; there is none before the first vector) and the one that shall, while
-- its vectors are being made (`next_model`). Where there are vectors already, the model that made most of them answers.
INSERT INTO meta (name, value)
    SELECT 'model', model FROM vectors GROUP BY model ORDER BY count(*) DESC, model LIMIT 1;

-- The memories that wait for the model that answers: not forgotten, quarantined or archived, and with a chunk that has no
-- vector of it. Kept by every write that may change it, so that counting and finding them reads these rows alone; a memory
-- that is saved with its vectors touches nothing here. Empty while there is no such model.
CREATE TABLE unembedded (
    memory INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE
) STRICT;

-- The same for the model that shall answer. Both are tables of their own, so that a change of model moves few rows.
CREATE TABLE unembedded_next (
    memory INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE
) STRICT;

INSERT INTO unembedded (memory)
    SELECT m.row FROM memories m
    WHERE m.forgotten_at IS NULL AND m.quarantined_at IS NULL AND m.state <> 'archived'
        AND EXISTS (SELECT 1 FROM meta WHERE name = 'model')
        AND EXISTS (SELECT 1 FROM chunks c WHERE c.memory = m.row AND NOT EXISTS (
            SELECT 1 FROM vectors v WHERE v.memory = c.memory AND v.ordinal = c.ordinal
                AND v.model = (SELECT value FROM meta WHERE name = 'model')));

-- One word more for `kind`. The numbers are kept, and the newest entry with them.
DROP TRIGGER changes_keep_the_newest;
ALTER TABLE changes RENAME TO changes_before;

CREATE TABLE changes (
    seq      INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL CHECK (kind = 'saved' OR kind = 'revised' OR kind = 'moved' OR kind = 'erased' OR
        kind = 'embedded' OR kind = 'linked' OR kind = 'unlinked'),
    memory   BLOB NOT NULL CHECK (length(memory) = 16),
    space    BLOB NOT NULL CHECK (length(space) = 16),
    owner    BLOB NOT NULL CHECK (length(owner) = 16),
    boundary TEXT NOT NULL CHECK (boundary = 'private' OR boundary = 'hub' OR boundary = 'team' OR boundary = 'org')
) STRICT;

INSERT INTO changes (seq, at, kind, memory, space, owner, boundary)
    SELECT seq, at, kind, memory, space, owner, boundary FROM changes_before ORDER BY seq;

DROP TABLE changes_before;

CREATE TRIGGER changes_keep_the_newest BEFORE DELETE ON changes WHEN old.seq = (SELECT max(seq) FROM changes)
BEGIN
    SELECT RAISE(ABORT, 'the newest entry of the change log stays');
END;

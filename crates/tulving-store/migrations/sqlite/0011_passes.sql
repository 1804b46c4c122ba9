-- What background work did, so that it can be shown and undone. Ids and facts, never content.
CREATE TABLE passes (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    kind       TEXT NOT NULL,
    space      BLOB NOT NULL CHECK (length(space) = 16),
    by         BLOB NOT NULL CHECK (length(by) = 16),
    private_to BLOB CHECK (length(private_to) = 16),
    began_at   INTEGER NOT NULL,
    ended_at   INTEGER,
    outcome    TEXT NOT NULL CHECK (outcome = 'begun' OR outcome = 'done' OR outcome = 'nothing' OR
        outcome = 'failed' OR outcome = 'undone'),
    model      TEXT,
    note       TEXT,
    acts       TEXT NOT NULL
) STRICT;

CREATE INDEX passes_space ON passes (space, id);

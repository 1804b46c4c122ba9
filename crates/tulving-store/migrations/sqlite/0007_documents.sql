-- What of an edition nobody gave, as bits in the order of `Derivable`. What is here already counts as given.
ALTER TABLE memories ADD COLUMN auto INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN language TEXT;
ALTER TABLE memories ADD COLUMN attachment_name TEXT;
ALTER TABLE memories ADD COLUMN attachment_trouble TEXT;

-- A file is known by its bytes, and not by what was read from it.
DROP INDEX memories_content;
CREATE UNIQUE INDEX memories_content ON memories (space, boundary, audience, content_hash)
    WHERE key IS NULL AND source_path IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
    AND attachment_name IS NULL;
CREATE UNIQUE INDEX memories_attachment ON memories (space, boundary, audience, attachment_hash)
    WHERE key IS NULL AND source_path IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
    AND attachment_name IS NOT NULL;
CREATE INDEX memories_by_attachment ON memories (attachment_key) WHERE attachment_key IS NOT NULL;

-- The files that were imported, as they were then. Derived: without a row, a file is read again.
CREATE TABLE imported (
    row      INTEGER PRIMARY KEY,
    space    BLOB NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    owner    BLOB NOT NULL CHECK (length(owner) = 16),
    path     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    digest   BLOB NOT NULL CHECK (length(digest) = 32),
    settled  INTEGER NOT NULL CHECK (settled = 0 OR settled = 1),
    memory   INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    UNIQUE (space, owner, path)
) STRICT;

CREATE INDEX imported_memory ON imported (memory);

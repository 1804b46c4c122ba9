-- The files whose entries are mirrored, as they were when they last were. Derived: without a row, a file is read again.
CREATE TABLE mirrored (
    row      INTEGER PRIMARY KEY,
    space    BLOB NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    path     TEXT NOT NULL,
    size     INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    inode    INTEGER NOT NULL,
    digest   BLOB NOT NULL CHECK (length(digest) = 32),
    settled  INTEGER NOT NULL CHECK (settled = 0 OR settled = 1),
    UNIQUE (space, path)
) STRICT;

-- Each entry of a file has one mirror.
DELETE FROM memories WHERE mirror_line IS NOT NULL AND row NOT IN (
    SELECT min(row) FROM memories WHERE mirror_line IS NOT NULL
    GROUP BY space, source_path, content_hash, mirror_occurrence);
CREATE UNIQUE INDEX memories_mirrors ON memories (space, source_path, content_hash, mirror_occurrence)
    WHERE mirror_line IS NOT NULL;

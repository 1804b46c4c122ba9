-- The files of a memory beyond `memories.source_path`, in the order of `row`: files that say the same are one memory.
CREATE TABLE source_paths (
    row    INTEGER PRIMARY KEY,
    memory INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    path   TEXT NOT NULL,
    UNIQUE (memory, path)
) STRICT;

CREATE INDEX source_paths_by_path ON source_paths (path);

-- Whether a memory with a path was also saved without one.
ALTER TABLE memories ADD COLUMN also_without_path INTEGER NOT NULL DEFAULT 0
    CHECK (also_without_path = 0 OR also_without_path = 1);
-- 0, or a number of its own for a memory that repeats the content of another: until now those with a path could. They stay as
-- they are until their content changes; no new ones come but with a dump.
ALTER TABLE memories ADD COLUMN apart INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_sums ADD COLUMN source_paths INTEGER NOT NULL DEFAULT 0;

UPDATE memories SET apart = row
    WHERE key IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL AND attachment_name IS NULL
    AND row NOT IN (SELECT min(row) FROM memories
        WHERE key IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
        AND attachment_name IS NULL GROUP BY space, boundary, audience, content_hash);
UPDATE memories SET apart = row
    WHERE key IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
    AND attachment_name IS NOT NULL
    AND row NOT IN (SELECT min(row) FROM memories
        WHERE key IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
        AND attachment_name IS NOT NULL GROUP BY space, boundary, audience, attachment_hash);

-- What is said is unique with and without a path.
DROP INDEX memories_content;
CREATE UNIQUE INDEX memories_content ON memories (space, boundary, audience, content_hash, apart)
    WHERE key IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL AND attachment_name IS NULL;
DROP INDEX memories_attachment;
CREATE UNIQUE INDEX memories_attachment ON memories (space, boundary, audience, attachment_hash, apart)
    WHERE key IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
    AND attachment_name IS NOT NULL;

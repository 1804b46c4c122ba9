-- Lists of one type, and of pinned memories, read only the rows that they return.
CREATE INDEX memories_by_type ON memories (space, type, importance, id) WHERE forgotten_at IS NULL;
CREATE INDEX memories_by_type_and_age ON memories (space, type, created_at, id) WHERE forgotten_at IS NULL;
CREATE INDEX memories_pinned ON memories (space, type, importance, id) WHERE pinned = 1;

-- The memories of each tag. Derived from `memories.tags` by triggers.
CREATE TABLE tags (
    id   INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE memory_tags (
    tag    INTEGER NOT NULL,
    memory INTEGER NOT NULL,
    PRIMARY KEY (tag, memory)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tags_of_new AFTER INSERT ON memories WHEN new.tags <> '[]' BEGIN
    INSERT OR IGNORE INTO tags (name) SELECT value FROM json_each(new.tags);
    INSERT OR IGNORE INTO memory_tags (tag, memory)
        SELECT t.id, new.row FROM json_each(new.tags) j CROSS JOIN tags t ON t.name = j.value;
END;
CREATE TRIGGER tags_of_changed AFTER UPDATE OF tags ON memories WHEN new.tags <> old.tags BEGIN
    DELETE FROM memory_tags WHERE memory = old.row
        AND tag IN (SELECT t.id FROM json_each(old.tags) j CROSS JOIN tags t ON t.name = j.value);
    INSERT OR IGNORE INTO tags (name) SELECT value FROM json_each(new.tags);
    INSERT OR IGNORE INTO memory_tags (tag, memory)
        SELECT t.id, new.row FROM json_each(new.tags) j CROSS JOIN tags t ON t.name = j.value;
    DELETE FROM tags WHERE name IN (SELECT value FROM json_each(old.tags))
        AND NOT EXISTS (SELECT 1 FROM memory_tags WHERE tag = tags.id);
END;
CREATE TRIGGER tags_of_erased AFTER DELETE ON memories WHEN old.tags <> '[]' BEGIN
    DELETE FROM memory_tags WHERE memory = old.row
        AND tag IN (SELECT t.id FROM json_each(old.tags) j CROSS JOIN tags t ON t.name = j.value);
    DELETE FROM tags WHERE name IN (SELECT value FROM json_each(old.tags))
        AND NOT EXISTS (SELECT 1 FROM memory_tags WHERE tag = tags.id);
END;

INSERT OR IGNORE INTO tags (name) SELECT j.value FROM memories m CROSS JOIN json_each(m.tags) j;
INSERT OR IGNORE INTO memory_tags (tag, memory)
    SELECT t.id, m.row FROM memories m CROSS JOIN json_each(m.tags) j CROSS JOIN tags t ON t.name = j.value;

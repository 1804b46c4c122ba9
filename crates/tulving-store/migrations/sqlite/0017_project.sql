-- The project that a memory is about. Memories from before have none.
ALTER TABLE memories ADD COLUMN project TEXT;
CREATE INDEX memories_by_project ON memories (project) WHERE project IS NOT NULL;

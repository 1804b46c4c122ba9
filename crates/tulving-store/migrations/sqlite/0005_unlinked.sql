-- The memories that were saved before they could be compared with others: once they are embedded, they are linked to what
-- says nearly the same. What a load took in is never among them, because its links are lines of the dump.
CREATE TABLE unlinked (
    memory INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE
) STRICT;

INSERT INTO unlinked (memory)
    SELECT m.row FROM memories m WHERE NOT EXISTS (SELECT 1 FROM vectors v WHERE v.memory = m.row);

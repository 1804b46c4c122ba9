-- The memories of other systems that were taken in, and which memory stands for each: what it is called there and what it
-- said, as digests, and the version that the memory had then. Derived: without a row, the memory is known by its id.
CREATE TABLE adopted (
    row     INTEGER PRIMARY KEY,
    space   BLOB NOT NULL REFERENCES spaces (id) ON DELETE CASCADE,
    owner   BLOB NOT NULL CHECK (length(owner) = 16),
    system  TEXT NOT NULL CHECK (system = 'max' OR system = 'spacebot' OR system = 'groups' OR system = 'maven' OR
        system = 'memax' OR system = 'mcp' OR system = 'chat'),
    name    BLOB NOT NULL CHECK (length(name) = 32),
    says    BLOB NOT NULL CHECK (length(says) = 32),
    version INTEGER NOT NULL CHECK (version > 0),
    memory  INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    UNIQUE (space, owner, system, name)
) STRICT;

CREATE INDEX adopted_memory ON adopted (memory);

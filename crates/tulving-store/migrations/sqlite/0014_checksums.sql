-- Checksums, which a deep look compares. They are filled and kept by the program: of the row of each memory, and sums over
-- the rows that belong to it.
CREATE TABLE memory_sums (
    memory       INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE,
    itself       INTEGER NOT NULL,
    chunks       INTEGER NOT NULL DEFAULT 0,
    vectors      INTEGER NOT NULL DEFAULT 0,
    versions     INTEGER NOT NULL DEFAULT 0,
    associations INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Of other tables, the sum over all rows.
CREATE TABLE table_sums (
    name TEXT PRIMARY KEY,
    sum  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

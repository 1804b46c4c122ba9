-- Requests that are done once, under the keys that their makers gave them. `answer` is NULL until there is one. `kept` is 0
-- where something was erased since the request was begun: the answer may tell of it, so it is empty and stays so. It stands
-- before the answer, which may be long, so that looking for it reads no answers.
CREATE TABLE claims (
    row         INTEGER PRIMARY KEY,
    principal   BLOB NOT NULL CHECK (length(principal) = 16),
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32),
    at          INTEGER NOT NULL,
    kept        INTEGER NOT NULL CHECK (kept = 0 OR kept = 1),
    answer      TEXT,
    UNIQUE (principal, key)
) STRICT;

CREATE INDEX claims_by_age ON claims (at);

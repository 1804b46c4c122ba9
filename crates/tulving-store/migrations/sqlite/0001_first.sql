-- The first schema. Times are microseconds since 1970 in UTC, ids are 16 bytes, words are those of the vocabularies.
-- They are checked by OR, because SQLite would build an index for each IN at each insert.
-- What a dump pages through has an integer `row`, which never changes while the row lives.

CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE orgs (
    row  INTEGER PRIMARY KEY,
    id   BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    name TEXT NOT NULL
) STRICT;

CREATE TABLE teams (
    row  INTEGER PRIMARY KEY,
    id   BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    org  BLOB NOT NULL REFERENCES orgs (id),
    name TEXT NOT NULL,
    UNIQUE (org, name)
) STRICT;

CREATE TABLE principals (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind = 'person' OR kind = 'agent'),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE spaces (
    row         INTEGER PRIMARY KEY,
    id          BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    team        BLOB NOT NULL REFERENCES teams (id),
    name        TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind = 'hub' OR kind = 'group'),
    created_at  INTEGER NOT NULL,
    next_number INTEGER NOT NULL DEFAULT 1 CHECK (next_number > 0),
    next_turn   INTEGER NOT NULL DEFAULT 1 CHECK (next_turn > 0),
    UNIQUE (team, name)
) STRICT;

-- `of` is the id of a space, a team or an org, as `realm` says.
CREATE TABLE members (
    row       INTEGER PRIMARY KEY,
    principal BLOB NOT NULL REFERENCES principals (id),
    realm     TEXT NOT NULL CHECK (realm = 'space' OR realm = 'team' OR realm = 'org'),
    of        BLOB NOT NULL CHECK (length(of) = 16),
    role      TEXT NOT NULL CHECK (role = 'reader' OR role = 'writer' OR role = 'admin'),
    UNIQUE (principal, realm, of)
) STRICT;

CREATE INDEX members_of ON members (realm, of);

CREATE TABLE tokens (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    label      TEXT NOT NULL,
    principal  BLOB NOT NULL REFERENCES principals (id),
    role       TEXT NOT NULL CHECK (role = 'reader' OR role = 'writer' OR role = 'admin'),
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;

CREATE TABLE token_spaces (
    token   INTEGER NOT NULL REFERENCES tokens (row) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    space   BLOB NOT NULL REFERENCES spaces (id),
    PRIMARY KEY (token, ordinal)
) STRICT, WITHOUT ROWID;

-- The tokens that were revoked before a restore brought other content: known or not, they stay revoked.
CREATE TABLE revocations (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What filters look at comes first and the content last: a long content spills onto pages of its own, and a row is read
-- only as far as it is asked for. `audience` is who a key or path must be unique among.
CREATE TABLE memories (
    row                   INTEGER PRIMARY KEY,
    id                    BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    number                INTEGER CHECK (number > 0),
    space                 BLOB NOT NULL REFERENCES spaces (id),
    owner                 BLOB NOT NULL REFERENCES principals (id),
    boundary              TEXT NOT NULL CHECK (boundary = 'private' OR boundary = 'hub' OR boundary = 'team' OR
        boundary = 'org'),
    audience              BLOB NOT NULL GENERATED ALWAYS AS (CASE boundary WHEN 'private' THEN owner ELSE x'' END) VIRTUAL,
    state                 TEXT NOT NULL CHECK (state = 'processing' OR state = 'active' OR state = 'cooling' OR
        state = 'archived'),
    forgotten_at          INTEGER,
    quarantined_at        INTEGER,
    pinned                INTEGER NOT NULL CHECK (pinned = 0 OR pinned = 1),
    type                  TEXT NOT NULL CHECK (type = 'fact' OR type = 'preference' OR type = 'decision' OR
        type = 'identity' OR type = 'event' OR type = 'observation' OR type = 'goal' OR type = 'todo' OR
        type = 'project' OR type = 'person' OR type = 'routine'),
    kind                  TEXT NOT NULL CHECK (kind = 'semantic' OR kind = 'episodic' OR kind = 'procedural' OR
        kind = 'rationale'),
    stability             TEXT NOT NULL CHECK (stability = 'stable' OR stability = 'evolving' OR
        stability = 'volatile'),
    importance            REAL NOT NULL CHECK (importance BETWEEN 0.0 AND 1.0),
    content_type          TEXT NOT NULL CHECK (content_type = 'text' OR content_type = 'markdown' OR
        content_type = 'code' OR content_type = 'chat' OR content_type = 'transcript' OR content_type = 'file' OR
        content_type = 'structured' OR content_type = 'link'),
    content_hash          BLOB NOT NULL CHECK (length(content_hash) = 32),
    author                TEXT NOT NULL CHECK (author = 'user' OR author = 'auto'),
    origin                TEXT NOT NULL CHECK (origin = 'cli' OR origin = 'import' OR origin = 'hook' OR
        origin = 'web' OR origin = 'api' OR origin = 'sdk' OR origin = 'mcp' OR origin = 'extraction'),
    trust                 TEXT NOT NULL CHECK (trust = 'own' OR trust = 'shared' OR trust = 'untrusted'),
    created_at            INTEGER NOT NULL,
    updated_at            INTEGER NOT NULL,
    version               INTEGER NOT NULL CHECK (version > 0),
    version_act           TEXT NOT NULL CHECK (version_act = 'created' OR version_act = 'updated' OR
        version_act = 'reverted'),
    updated_by            BLOB NOT NULL CHECK (length(updated_by) = 16),
    updated_agent         TEXT,
    occurred_at           INTEGER,
    valid_from            INTEGER,
    valid_until           INTEGER,
    expires_at            INTEGER,
    source_agent          TEXT,
    assisted_by_agent     TEXT,
    pass                  BLOB CHECK (length(pass) = 16),
    mirror_line           INTEGER,
    mirror_occurrence     INTEGER,
    attachment_key        TEXT,
    attachment_media_type TEXT,
    attachment_size       INTEGER,
    attachment_hash       TEXT,
    position              INTEGER,
    conversation          TEXT,
    speaker               TEXT,
    key                   TEXT,
    source_path           TEXT,
    title                 TEXT,
    tags                  TEXT NOT NULL CHECK (json_valid(tags)),
    source_note           TEXT,
    summary               TEXT,
    content               TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX memories_number ON memories (space, number) WHERE number IS NOT NULL;

CREATE UNIQUE INDEX memories_key ON memories (space, audience, key)
    WHERE key IS NOT NULL AND forgotten_at IS NULL AND mirror_line IS NULL;

CREATE UNIQUE INDEX memories_source_path ON memories (space, audience, source_path)
    WHERE source_path IS NOT NULL AND forgotten_at IS NULL AND mirror_line IS NULL;

CREATE UNIQUE INDEX memories_content ON memories (space, boundary, audience, content_hash)
    WHERE key IS NULL AND source_path IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL;

CREATE INDEX memories_in_space ON memories (space, created_at, id);
CREATE INDEX memories_by_importance ON memories (space, importance, id);
CREATE INDEX memories_by_age ON memories (created_at, id);
CREATE INDEX memories_by_key ON memories (key) WHERE key IS NOT NULL;
CREATE INDEX memories_by_path ON memories (source_path) WHERE source_path IS NOT NULL;
CREATE INDEX memories_by_conversation ON memories (conversation, position) WHERE conversation IS NOT NULL;

-- Only memories that were recalled have a row, so that counting does not rewrite contents.
CREATE TABLE usage (
    memory       INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE,
    accessed_at  INTEGER NOT NULL,
    access_count INTEGER NOT NULL CHECK (access_count >= 0)
) STRICT;

-- Past versions only; the current one is the memory itself.
CREATE TABLE versions (
    row      INTEGER PRIMARY KEY,
    memory   INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    version  INTEGER NOT NULL CHECK (version > 0),
    act      TEXT NOT NULL CHECK (act = 'created' OR act = 'updated' OR act = 'reverted'),
    at       INTEGER NOT NULL,
    by       BLOB NOT NULL CHECK (length(by) = 16),
    agent    TEXT,
    boundary TEXT NOT NULL CHECK (boundary = 'private' OR boundary = 'hub' OR boundary = 'team' OR boundary = 'org'),
    edition  TEXT NOT NULL CHECK (json_valid(edition)),
    UNIQUE (memory, version)
) STRICT;

CREATE TABLE chunks (
    memory       INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    ordinal      INTEGER NOT NULL,
    start        INTEGER NOT NULL,
    end          INTEGER NOT NULL,
    heading_path TEXT NOT NULL CHECK (json_valid(heading_path)),
    PRIMARY KEY (memory, ordinal)
) STRICT, WITHOUT ROWID;

-- Apart from the chunks, because while the model changes a chunk has a vector of each; and with a rowid, because a vector
-- does not fit into a page of a table without one.
CREATE TABLE vectors (
    row     INTEGER PRIMARY KEY,
    memory  INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    model   TEXT NOT NULL,
    vector  BLOB NOT NULL,
    UNIQUE (memory, ordinal, model),
    FOREIGN KEY (memory, ordinal) REFERENCES chunks (memory, ordinal) ON DELETE CASCADE
) STRICT;

CREATE TABLE associations (
    row        INTEGER PRIMARY KEY,
    source     INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    target     INTEGER NOT NULL REFERENCES memories (row) ON DELETE CASCADE,
    relation   TEXT NOT NULL CHECK (relation = 'related_to' OR relation = 'updates' OR relation = 'contradicts' OR
        relation = 'caused_by' OR relation = 'result_of' OR relation = 'part_of'),
    weight     REAL NOT NULL CHECK (weight BETWEEN 0.0 AND 1.0),
    linked_by  TEXT NOT NULL CHECK (linked_by = 'caller' OR linked_by = 'auto'),
    created_at INTEGER NOT NULL,
    UNIQUE (source, target, relation),
    CHECK (source <> target)
) STRICT;

CREATE INDEX associations_target ON associations (target, relation);

CREATE TABLE turns (
    row       INTEGER PRIMARY KEY,
    id        BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    space     BLOB NOT NULL REFERENCES spaces (id),
    logged_by BLOB NOT NULL CHECK (length(logged_by) = 16),
    channel   TEXT,
    position  INTEGER NOT NULL,
    role      TEXT NOT NULL CHECK (role = 'user' OR role = 'assistant' OR role = 'system'),
    speaker   TEXT,
    source    TEXT NOT NULL,
    at        INTEGER NOT NULL,
    content   TEXT NOT NULL,
    UNIQUE (space, position)
) STRICT;

CREATE TABLE jobs (
    id           BLOB PRIMARY KEY CHECK (length(id) = 16),
    kind         TEXT NOT NULL,
    payload      TEXT NOT NULL CHECK (json_valid(payload)),
    state        TEXT NOT NULL CHECK (state = 'waiting' OR state = 'running' OR state = 'done' OR state = 'dead'),
    due_at       INTEGER NOT NULL,
    lease_holder TEXT,
    lease_until  INTEGER,
    attempts     INTEGER NOT NULL,
    max_attempts INTEGER NOT NULL,
    last_error   TEXT,
    created_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_due ON jobs (state, due_at, id);

-- `ids` is the 16 bytes of each memory, one after the other.
CREATE TABLE listings (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    principal  BLOB NOT NULL CHECK (length(principal) = 16),
    expires_at INTEGER NOT NULL,
    ids        BLOB NOT NULL
) STRICT;

CREATE TABLE audit (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    at         INTEGER NOT NULL,
    by         BLOB NOT NULL CHECK (length(by) = 16),
    agent      TEXT,
    act        TEXT NOT NULL,
    space      BLOB CHECK (length(space) = 16),
    memory     BLOB CHECK (length(memory) = 16),
    private_to BLOB CHECK (length(private_to) = 16),
    reason     TEXT,
    detail     TEXT
) STRICT;

CREATE INDEX audit_at ON audit (at, row);
CREATE INDEX audit_memory ON audit (memory) WHERE memory IS NOT NULL;

-- A number is never given twice, because the newest entry stays whatever is trimmed. (AUTOINCREMENT would promise the same
-- and write one page more at every change.)
CREATE TABLE changes (
    seq      INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    kind     TEXT NOT NULL CHECK (kind = 'saved' OR kind = 'revised' OR kind = 'moved' OR kind = 'erased' OR
        kind = 'linked' OR kind = 'unlinked'),
    memory   BLOB NOT NULL CHECK (length(memory) = 16),
    space    BLOB NOT NULL CHECK (length(space) = 16),
    owner    BLOB NOT NULL CHECK (length(owner) = 16),
    boundary TEXT NOT NULL CHECK (boundary = 'private' OR boundary = 'hub' OR boundary = 'team' OR boundary = 'org')
) STRICT;

CREATE TRIGGER changes_keep_the_newest BEFORE DELETE ON changes WHEN old.seq = (SELECT max(seq) FROM changes)
BEGIN
    SELECT RAISE(ABORT, 'the newest entry of the change log stays');
END;

-- The baseline: schema 14, the oldest that is opened. Times are microseconds since 1970 in UTC, ids are 16 bytes, words are
-- those of the vocabularies. They are checked by OR, because SQLite would build an index for each IN at each insert.
-- Every table that a dump reads in pages has an integer `row`, which never changes while the row lives.
--
-- The text of each statement is, to the letter, the one that homes of schema 14 have, because a check-up compares them. So
-- columns that were added later stand where SQLite puts them, without a line of their own.

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

-- Columns of filters come first and the content last: a long content spills onto pages of its own, and a row is read only as
-- far as it is asked for. A key or path is unique within an `audience`. Of the added columns:
--   auto      the fields of an edition that rules filled in, as bits in the order of `Derivable`
--   ruled_at  the time from which rules count: a rule moved the memory then, or somebody brought it back
--   done_at   the time when a todo or a goal was done; null while it is open, and for every other type
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
, auto INTEGER NOT NULL DEFAULT 0, language TEXT, attachment_name TEXT, attachment_trouble TEXT, ruled_at INTEGER, done_at INTEGER) STRICT;

CREATE UNIQUE INDEX memories_number ON memories (space, number) WHERE number IS NOT NULL;

CREATE UNIQUE INDEX memories_key ON memories (space, audience, key)
    WHERE key IS NOT NULL AND forgotten_at IS NULL AND mirror_line IS NULL;

CREATE UNIQUE INDEX memories_source_path ON memories (space, audience, source_path)
    WHERE source_path IS NOT NULL AND forgotten_at IS NULL AND mirror_line IS NULL;

-- A file is known by its bytes, and not by the text that was read from it.
CREATE UNIQUE INDEX memories_content ON memories (space, boundary, audience, content_hash)
    WHERE key IS NULL AND source_path IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
    AND attachment_name IS NULL;
CREATE UNIQUE INDEX memories_attachment ON memories (space, boundary, audience, attachment_hash)
    WHERE key IS NULL AND source_path IS NULL AND conversation IS NULL AND forgotten_at IS NULL AND mirror_line IS NULL
    AND attachment_name IS NOT NULL;

-- Each entry of a file has one mirror.
CREATE UNIQUE INDEX memories_mirrors ON memories (space, source_path, content_hash, mirror_occurrence)
    WHERE mirror_line IS NOT NULL;

CREATE INDEX memories_in_space ON memories (space, created_at, id);
CREATE INDEX memories_by_importance ON memories (space, importance, id);
CREATE INDEX memories_by_age ON memories (created_at, id);
CREATE INDEX memories_by_key ON memories (key) WHERE key IS NOT NULL;
CREATE INDEX memories_by_path ON memories (source_path) WHERE source_path IS NOT NULL;
CREATE INDEX memories_by_attachment ON memories (attachment_key) WHERE attachment_key IS NOT NULL;
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
-- does not fit into a page of a table without one. In `sentences`, each sentence is a scale (f32, little-endian) and one signed
-- byte for each dimension of the whole vector.
--
-- `meta` names the model whose vectors answer (`model`; there is none before the first vector) and the one that shall, while
-- its vectors are being made (`next_model`).
CREATE TABLE vectors (
    row     INTEGER PRIMARY KEY,
    memory  INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    model   TEXT NOT NULL,
    vector  BLOB NOT NULL, sentences BLOB NOT NULL DEFAULT x'',
    UNIQUE (memory, ordinal, model),
    FOREIGN KEY (memory, ordinal) REFERENCES chunks (memory, ordinal) ON DELETE CASCADE
) STRICT;

-- The memories that wait for the model that answers: not forgotten, quarantined or archived, and with a chunk that has no
-- vector of it. Kept by every write that may change it, so that counting and finding them reads these rows alone; a memory
-- that is saved with its vectors touches nothing here. Empty while there is no such model. `attempts` counts how often a memory
-- could not be embedded: those that fail every time come last, and hold up no other.
CREATE TABLE unembedded (
    memory INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE
, attempts INTEGER NOT NULL DEFAULT 0) STRICT;

-- The same for the model that shall answer. Both are tables of their own, so that a change of model moves few rows.
CREATE TABLE unembedded_next (
    memory INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE
, attempts INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE INDEX unembedded_in_turn ON unembedded (attempts, memory);
CREATE INDEX unembedded_next_in_turn ON unembedded_next (attempts, memory);

-- The memories that were saved before they could be compared with others: once they are embedded, they are linked to those that
-- say nearly the same. Memories of a load are never among them, because their links are lines of the dump.
CREATE TABLE unlinked (
    memory INTEGER PRIMARY KEY REFERENCES memories (row) ON DELETE CASCADE
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
        kind = 'embedded' OR kind = 'linked' OR kind = 'unlinked'),
    memory   BLOB NOT NULL CHECK (length(memory) = 16),
    space    BLOB NOT NULL CHECK (length(space) = 16),
    owner    BLOB NOT NULL CHECK (length(owner) = 16),
    boundary TEXT NOT NULL CHECK (boundary = 'private' OR boundary = 'hub' OR boundary = 'team' OR boundary = 'org')
) STRICT;

CREATE TRIGGER changes_keep_the_newest BEFORE DELETE ON changes WHEN old.seq = (SELECT max(seq) FROM changes)
BEGIN
    SELECT RAISE(ABORT, 'the newest entry of the change log stays');
END;

-- Requests that are done once, under the keys that their makers gave them. `answer` is NULL until there is one. `kept` is 0
-- if something was erased since the request was begun: the answer could repeat it, so it is empty and stays so. The column
-- stands before the answer, which may be long, so that a search for it reads no answers.
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

-- The files whose entries are mirrored, as they were the last time. Derived: without a row, a file is read again.
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

-- The memories of other systems that were imported, each with its memory here: its name there and its text, as digests, and
-- the version that the memory had then. Derived: without a row, the memory is known by its id.
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

-- The cost of the language model by day (UTC), service, model and purpose. `dropped` counts the questions that were not asked,
-- because too many waited.
CREATE TABLE spending (
    row        INTEGER PRIMARY KEY,
    day        TEXT NOT NULL CHECK (length(day) = 10),
    provider   TEXT NOT NULL,
    model      TEXT NOT NULL,
    pass       TEXT NOT NULL,
    calls      INTEGER NOT NULL CHECK (calls >= 0),
    failures   INTEGER NOT NULL CHECK (failures >= 0),
    tokens_in  INTEGER NOT NULL CHECK (tokens_in >= 0),
    tokens_out INTEGER NOT NULL CHECK (tokens_out >= 0), dropped INTEGER NOT NULL DEFAULT 0 CHECK (dropped >= 0),
    UNIQUE (day, provider, model, pass)
) STRICT;

-- The acts of background work, so that they can be shown and undone. Ids and facts, never content.
CREATE TABLE passes (
    row        INTEGER PRIMARY KEY,
    id         BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
    kind       TEXT NOT NULL,
    space      BLOB NOT NULL CHECK (length(space) = 16),
    by         BLOB NOT NULL CHECK (length(by) = 16),
    private_to BLOB CHECK (length(private_to) = 16),
    began_at   INTEGER NOT NULL,
    ended_at   INTEGER,
    outcome    TEXT NOT NULL CHECK (outcome = 'begun' OR outcome = 'done' OR outcome = 'nothing' OR
        outcome = 'failed' OR outcome = 'undone'),
    model      TEXT,
    note       TEXT,
    acts       TEXT NOT NULL
) STRICT;

CREATE INDEX passes_space ON passes (space, id);

-- Checksums, which a deep check-up compares. The program fills and keeps them: of the row of each memory, and sums over the
-- rows that belong to it.
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

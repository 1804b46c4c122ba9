-- What the language model has cost, by day (UTC), service, model and purpose.
CREATE TABLE spending (
    row        INTEGER PRIMARY KEY,
    day        TEXT NOT NULL CHECK (length(day) = 10),
    provider   TEXT NOT NULL,
    model      TEXT NOT NULL,
    pass       TEXT NOT NULL,
    calls      INTEGER NOT NULL CHECK (calls >= 0),
    failures   INTEGER NOT NULL CHECK (failures >= 0),
    tokens_in  INTEGER NOT NULL CHECK (tokens_in >= 0),
    tokens_out INTEGER NOT NULL CHECK (tokens_out >= 0),
    UNIQUE (day, provider, model, pass)
) STRICT;

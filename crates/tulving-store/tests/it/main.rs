//! The SQLite store with real files. The rules for every store are in the contract suite of the test kit.

// Stores and memories for the other modules.
mod made;

// Small disks, which can be full.
mod disk;

// A store with every kind of row in it, and the checks for it.
mod fixture;

// The contract of every store.
mod contract;

// Opening: first runs, races, foreign files.
mod open;

// Files that are removed or cut while a store has them open.
mod detached;

// Copies of the whole store and back, while it is in use.
mod backup;

// Backups of the whole home: files and attachments too, kills, hostile archives.
mod whole;

// Restores during writes, and what they must not bring back.
mod restore;

// Unfinished copies, and where copies may go.
mod drafts;

// Backends in processes of their own.
mod plugin;

// Attachments by their hash: a folder, and the errors of a bucket.
mod objects;

// Erased text is gone from every file.
mod erase;

// Dump and load between homes.
mod transfer;

// The data of other memory systems: detection, conversion, and damaged, locked or hostile files.
mod foreign;

// Many connections and processes: pulse, busy waits, readers.
mod sharing;

// Vectors: their blobs, waiting memories, removal.
mod vectors;

// The search index: the same answers however content came in, files, damage, several users of a folder.
mod index;

// The files that people can read: paths, appends, replacements, listings, pledges, the pulse.
mod workspace;

// Files that memories refer to and that are missing.
mod presence;

// The table of tags.
mod tags;

// The findings of the check-up.
mod check;

// Files of every schema since the baseline open and answer.
mod upgrade;

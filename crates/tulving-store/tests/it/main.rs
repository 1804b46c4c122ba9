//! The SQLite store with real files. What every store must do is in the contract suite of the test kit.

// What the other modules make their stores and memories with.
mod made;

// Small disks, which can be full.
mod disk;

// A store with every kind of row in it, and what must be found there.
mod fixture;

// The contract that every store keeps.
mod contract;

// Opening: first runs, races, files that are not ours.
mod open;

// Files that are removed or cut while a store has them open.
mod detached;

// Copies of the whole store and back, while it is in use.
mod backup;

// Backups of the whole home: files and attachments too, kills, hostile archives.
mod whole;

// Restores beside writers, and what they must not bring back.
mod restore;

// Unfinished copies, and where copies may go.
mod drafts;

// Backends that are programs of their own, as processes.
mod plugin;

// Attachments by their hash: a folder, and what is heard of a bucket.
mod objects;

// What is erased is gone from every file.
mod erase;

// Dump and load between homes.
mod transfer;

// What other memories have kept: whose it is, what becomes what, and files that are damaged, locked or hostile.
mod foreign;

// Many connections and processes: pulse, busy waits, readers.
mod sharing;

// Vectors: their blobs, what waits for them, what is removed of them.
mod vectors;

// The search index: the same answers however content came in, files, damage, several users of a folder.
mod index;

// The files that people can read: paths, appends, replacements, listings, pledges, the pulse.
mod workspace;

// What memories speak of and is not there.
mod presence;

// What the check-up sees.
mod check;

// Files of every released schema open and answer.
mod upgrade;

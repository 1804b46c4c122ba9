//! The files that people can read, in real folders.

// The workspace of a test, and children of the test process.
mod made;

// Paths that lead out of a folder, and entries that are not files.
mod paths;

// Entries appended to files: their format, concurrent writers, and crashes.
mod append;

// Reading, and files that change meanwhile.
mod read;

// Whole files: created, replaced, removed, and their earlier texts.
mod replace;

// Listings, small and large.
mod list;

// Files that exist only together with their memory.
mod pledge;

// Change detection.
mod change_counter;

// Unusable folders and full disks.
mod refusal;

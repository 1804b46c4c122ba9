//! The files that people can read, in real folders.

// The workspace of a test, and children of the test process.
mod made;

// What leads out of a folder, and what is no file.
mod paths;

// Entries at the end of files: how they are written, by many at once, and after a crash.
mod append;

// Reading, and files that change meanwhile.
mod read;

// Whole files: made, replaced, removed, and what they said before.
mod replace;

// Listings, small and large.
mod list;

// Files that stay only with their memory.
mod pledge;

// Whether anything has changed.
mod pulse;

// Folders that may not be used, and disks that are full.
mod refusal;

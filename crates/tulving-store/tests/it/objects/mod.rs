//! Attachments by their hash: in a folder, and in a bucket as far as no service is needed for it.

// One file each, with several processes, kills, damage and disks that are full.
mod local;

// What is heard of a service that is away, slow or refuses. With a real one: the suite `clients`.
mod s3;

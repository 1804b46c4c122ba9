//! Attachments by their hash: in a folder, and in a bucket as far as that needs no service.

// One file each, with several processes, kills, damage and full disks.
mod local;

// The errors of a service that is away, slow or refuses. The suite `clients` tests with a real one.
mod s3;

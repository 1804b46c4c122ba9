//! What each verb does, one rule a test.

mod adopt;
mod archive;
mod ask;
mod directory;
mod edit;
mod embed;
mod follow;
mod forget;
mod forget_many;
mod import;
mod jobs;
mod journal;
mod links;
mod list;
mod long_term;
mod mirror;
mod near;
mod once;
mod push;
mod recall;
mod relocate;
mod save;
mod shelf;
mod transfer;
mod turns;
mod usage;

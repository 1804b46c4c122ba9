//! What each verb does, one rule a test.

mod ask;
mod directory;
mod edit;
mod embed;
mod follow;
mod forget;
mod forget_many;
mod jobs;
mod links;
mod list;
mod near;
mod once;
mod recall;
mod relocate;
mod save;
mod transfer;
mod turns;

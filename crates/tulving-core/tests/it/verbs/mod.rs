//! What each verb does, one rule a test.

mod ask;
mod directory;
mod edit;
mod forget;
mod jobs;
mod links;
mod list;
mod recall;
mod save;
mod transfer;
mod turns;

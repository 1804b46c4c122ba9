//! Reads text: its chunks, sentences, terms, dates, names and secrets, and derives a title, a summary, a form and a
//! kind from the text.
//!
//! All functions are pure: they use no store, no engine, no clock and no I/O, and return the same result each time. The
//! crate also contains the words and times that answers consist of: [`vocabulary`], [`time`] and [`preview`].
//! `tulving-core` applies these functions to memories and requests.

pub mod abbreviation;
pub mod asked_form;
pub mod chunk;
pub mod classify;
pub mod commands;
pub mod diff;
pub mod excerpt;
pub mod fold;
pub mod front;
pub mod headings;
pub mod junk;
pub mod list_question;
pub mod markdown;
pub mod normalize;
pub mod person;
pub mod preview;
pub mod private;
pub mod properties;
pub mod secrets;
pub mod sentence;
pub mod terms;
pub mod time;
pub mod visible;
pub mod vocabulary;
pub mod when;

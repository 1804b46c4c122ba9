//! Derives the fields that the caller did not give from the content: form, title, summary, tags, kind and stability.
//!
//! Uses only rules over the text itself, without a model and without a clock, so the result is the same each time. If
//! the rules are not certain, they return nothing, and the defaults of the memory type apply.

pub mod competing;
pub mod facts;
pub mod form;
mod lexicon;
mod page;
mod shown;
mod sort;
mod summary;
mod tags;
mod talk;
mod title;

pub use self::shown::{made_summary, made_title};
pub use self::sort::{RuleClassification, sorted};
pub use self::summary::summary;
pub use self::tags::tags;
pub use self::title::title;
use crate::vocabulary::{Kind, MemoryType, Stability};

/// Returns the default kind of a memory of this type.
pub fn kind_of(memory_type: MemoryType) -> Kind {
    match memory_type {
        MemoryType::Event | MemoryType::Todo => Kind::Episodic,
        MemoryType::Decision => Kind::Rationale,
        MemoryType::Routine => Kind::Procedural,
        MemoryType::Fact
        | MemoryType::Preference
        | MemoryType::Identity
        | MemoryType::Observation
        | MemoryType::Goal
        | MemoryType::Project
        | MemoryType::Person => Kind::Semantic,
    }
}

/// Returns the default stability of a memory of this type.
pub fn stability_of(memory_type: MemoryType) -> Stability {
    match memory_type {
        MemoryType::Event | MemoryType::Todo => Stability::Volatile,
        MemoryType::Observation | MemoryType::Goal | MemoryType::Project | MemoryType::Routine => {
            Stability::Evolving
        }
        MemoryType::Fact
        | MemoryType::Preference
        | MemoryType::Decision
        | MemoryType::Identity
        | MemoryType::Person => Stability::Stable,
    }
}

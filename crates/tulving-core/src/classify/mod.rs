//! Classifies a memory where the caller did not: its form, title, summary, tags, kind and stability.
//!
//! All of it is rules over the text itself: no model, no clock, the same answer each time. Where the rules are not sure they
//! return nothing, and the defaults of the type apply.

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

pub use self::shown::{shown_summary, shown_title};
pub use self::sort::{RuleClassification, sorted};
pub(crate) use self::summary::summary;
pub(crate) use self::tags::tags;
pub(crate) use self::title::title;
use crate::model::score::Importance;
use crate::model::vocabulary::{Kind, MemoryType, Stability};

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

/// Returns the default importance of a memory of this type. The types that only the max vocabulary has weigh as much as
/// facts, because the spacebot vocabulary shows them as facts.
pub fn importance_of(memory_type: MemoryType) -> Importance {
    Importance::known(match memory_type {
        MemoryType::Identity => 1.0,
        MemoryType::Decision => 0.8,
        MemoryType::Preference | MemoryType::Goal => 0.7,
        MemoryType::Fact
        | MemoryType::Event
        | MemoryType::Project
        | MemoryType::Person
        | MemoryType::Routine => 0.5,
        MemoryType::Observation => 0.4,
        MemoryType::Todo => 0.3,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn importance_by_type_is_as_the_spacebot_seed_says() {
        let seed = [
            (MemoryType::Identity, 1.0),
            (MemoryType::Decision, 0.8),
            (MemoryType::Preference, 0.7),
            (MemoryType::Goal, 0.7),
            (MemoryType::Fact, 0.5),
            (MemoryType::Event, 0.5),
            (MemoryType::Observation, 0.4),
            (MemoryType::Todo, 0.3),
        ];
        for (memory_type, importance) in seed {
            assert_eq!(importance_of(memory_type).get(), importance, "{memory_type}");
        }
    }
}

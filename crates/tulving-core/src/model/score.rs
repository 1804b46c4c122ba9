//! Numbers between zero and one: importance of a memory, weight of a link, relevance of a hit.

use serde::{Deserialize, Serialize};

use crate::model::error::{Field, Invalid};
use crate::model::vocabulary::MemoryType;

macro_rules! unit_interval {
    ($($(#[$doc:meta])* $name:ident for $field:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
        #[serde(try_from = "f64", into = "f64")]
        pub struct $name(f64);

        impl $name {
            /// Creates the value if it is a number from 0 to 1.
            pub fn new(value: f64) -> Result<Self, Invalid> {
                if (0.0..=1.0).contains(&value) {
                    Ok(Self(value))
                } else {
                    Err(Invalid::OutsideUnit { field: Field::$field, got: value })
                }
            }

            /// Returns the number, from 0 to 1.
            pub const fn get(self) -> f64 {
                self.0
            }
        }

        impl TryFrom<f64> for $name {
            type Error = Invalid;

            fn try_from(value: f64) -> Result<Self, Invalid> {
                Self::new(value)
            }
        }

        impl From<$name> for f64 {
            fn from(value: $name) -> f64 {
                value.0
            }
        }
    )+};
}

unit_interval! {
    /// The importance of a memory.
    Importance for Importance,
    /// The strength of an association.
    Weight for Weight,
    /// The relevance of a hit.
    Score for Score,
}

impl Importance {
    /// Returns the default importance of a memory of this type. Types that only the max dialect has are as important as
    /// facts, because the spacebot dialect shows them as facts.
    pub fn of(memory_type: MemoryType) -> Self {
        Self::known(match memory_type {
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

    /// Creates an importance from a constant.
    const fn known(value: f64) -> Self {
        assert!(value >= 0.0 && value <= 1.0, "an importance is between 0 and 1");
        Self(value)
    }
}

impl Weight {
    /// The weight of an association if none was given.
    pub const DEFAULT: Self = Self(0.5);
}

impl Score {
    /// Returns a score as a share of the highest possible one.
    pub fn share(score: f64, most: f64) -> Self {
        let share = score / most;
        Self(if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) })
    }

    /// Returns the score of the hit at `rank` (from 1) among `total` hits, for results without a query: 1 for the first hit,
    /// then falling evenly.
    pub fn by_rank(rank: u64, total: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^53")]
        let share = rank.saturating_sub(1) as f64 / total.max(1) as f64;
        Self((1.0 - share).clamp(0.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_belong_and_beyond_does_not() {
        assert!(Importance::new(0.0).is_ok() && Importance::new(1.0).is_ok());
        for wrong in [-0.1, 1.000_001, f64::NAN, f64::INFINITY] {
            assert!(Weight::new(wrong).is_err(), "{wrong}");
        }
    }

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
            assert_eq!(Importance::of(memory_type).get(), importance, "{memory_type}");
        }
    }

    #[test]
    fn rank_scores_fall_from_one() {
        let scores: Vec<f64> = (1..=4).map(|rank| Score::by_rank(rank, 4).get()).collect();
        assert_eq!(scores, [1.0, 0.75, 0.5, 0.25]);
    }
}

//! What a space wants done with what has aged. Set up by whoever runs the memory, never by a caller.

use std::collections::BTreeMap;

use crate::life::Life;
use crate::space::Space;
use crate::vocabulary::{Kind, MemoryType, Stability};

/// The rules of every space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// What holds where nothing else is said.
    pub usual: Policy,
    /// What holds in a space, by its name or id.
    pub spaces: BTreeMap<String, Policy>,
}

impl Rules {
    /// What holds in this space.
    pub fn of(&self, space: &Space) -> &Policy {
        let by_id = || self.spaces.get(&space.id.to_string());
        self.spaces.get(&space.name).or_else(by_id).unwrap_or(&self.usual)
    }
}

/// What holds in one space. Days that are `None` are never over.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// After how many idle days an unused memory cools.
    pub cool_after: Patience,
    /// How many days it must have been cooling before it may be archived.
    pub archive_after_days: Option<u32>,
    /// Below which importance it is archived then.
    pub archive_below: f64,
    /// What is archived after a time whatever it is worth; the first that fits counts.
    pub expire: Vec<Expiry>,
    /// How long what was forgotten softly is kept.
    pub keep_forgotten_days: Option<u32>,
    /// How long the audit is kept.
    pub keep_audit_days: Option<u32>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            cool_after: Patience::default(),
            archive_after_days: Some(30),
            archive_below: 0.1,
            expire: Vec::new(),
            keep_forgotten_days: None,
            keep_audit_days: None,
        }
    }
}

/// Idle days, by how soon a memory is expected to go stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Of what rarely changes.
    pub stable: Option<u32>,
    /// Of what changes now and then.
    pub evolving: Option<u32>,
    /// Of what is short-lived.
    pub volatile: Option<u32>,
}

impl Default for Patience {
    fn default() -> Self {
        Self { stable: Some(365), evolving: Some(120), volatile: Some(21) }
    }
}

impl Patience {
    /// Idle days after which a memory cools that was used so often: a used one gets longer, each use adding less than the
    /// one before. `None` is never.
    pub fn days(&self, stability: Stability, uses: u64) -> Option<f64> {
        let unused = match stability {
            Stability::Stable => self.stable,
            Stability::Evolving => self.evolving,
            Stability::Volatile => self.volatile,
        };
        #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53 in any store that is used")]
        let uses = uses as f64;
        unused.map(|days| f64::from(days) * (1.0 + uses.ln_1p()))
    }
}

/// What is archived a number of days after it was last written. What is not said fits everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expiry {
    /// Of this type.
    pub memory_type: Option<MemoryType>,
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Of this stability.
    pub stability: Option<Stability>,
    /// With this tag.
    pub tag: Option<String>,
    /// After how many days.
    pub after_days: u32,
}

impl Expiry {
    /// Whether it is about such a memory.
    pub fn fits(&self, life: &Life) -> bool {
        let class = &life.class;
        // What is done has happened, so rules for events are about it too.
        let is_event = |wanted| life.standing.done_at.is_some() && wanted == MemoryType::Event;
        self.memory_type.is_none_or(|wanted| wanted == class.memory_type || is_event(wanted))
            && self.kind.is_none_or(|wanted| wanted == class.kind)
            && self.stability.is_none_or(|wanted| wanted == class.stability)
            && self.tag.as_ref().is_none_or(|wanted| life.tags.contains(wanted))
    }
}

//! The lifecycle policy of a space. The operator sets it; callers cannot change it.

use std::collections::BTreeMap;

use crate::model::life::LifecycleData;
use crate::model::space::Space;
use crate::model::vocabulary::{Kind, MemoryType, Stability};

/// The lifecycle policies of all spaces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifecyclePolicies {
    /// The default policy.
    pub usual: LifecyclePolicy,
    /// The policies of individual spaces, by name or id.
    pub spaces: BTreeMap<String, LifecyclePolicy>,
}

impl LifecyclePolicies {
    /// Returns the policy of this space.
    pub fn of(&self, space: &Space) -> &LifecyclePolicy {
        let by_id = || self.spaces.get(&space.id.to_string());
        self.spaces.get(&space.name).or_else(by_id).unwrap_or(&self.usual)
    }
}

/// The lifecycle policy of a space. `None` in a field of days means never.
#[derive(Clone, Debug, PartialEq)]
pub struct LifecyclePolicy {
    /// Idle days after which an unused memory cools.
    pub cool_after: IdleDays,
    /// Minimum number of days of cooling before a memory may be archived.
    pub archive_after_days: Option<u32>,
    /// Importance below which a cooling memory is then archived.
    pub archive_below: f64,
    /// Rules that archive memories after a given time, whatever their importance. The first matching rule applies.
    pub expire: Vec<ExpiryRule>,
    /// Number of days to retain softly forgotten memories.
    pub keep_forgotten_days: Option<u32>,
    /// Number of days to retain audit entries.
    pub keep_audit_days: Option<u32>,
}

impl Default for LifecyclePolicy {
    fn default() -> Self {
        Self {
            cool_after: IdleDays::default(),
            archive_after_days: Some(30),
            archive_below: 0.1,
            expire: Vec::new(),
            keep_forgotten_days: None,
            keep_audit_days: None,
        }
    }
}

/// Numbers of idle days, by the stability of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleDays {
    /// Number of days for memories that rarely change.
    pub stable: Option<u32>,
    /// Number of days for memories that sometimes change.
    pub evolving: Option<u32>,
    /// Number of days for short-lived memories.
    pub volatile: Option<u32>,
}

impl Default for IdleDays {
    fn default() -> Self {
        Self { stable: Some(365), evolving: Some(120), volatile: Some(21) }
    }
}

impl IdleDays {
    /// Returns the number of idle days after which a memory with this number of uses cools. Each use adds less than the
    /// previous use. `None` means never.
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

/// A rule that archives memories a number of days after their last write. A missing field matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpiryRule {
    /// The type of the memory.
    pub memory_type: Option<MemoryType>,
    /// The kind of the memory.
    pub kind: Option<Kind>,
    /// The stability of the memory.
    pub stability: Option<Stability>,
    /// A tag of the memory.
    pub tag: Option<String>,
    /// Number of days after the last write, completion or restore.
    pub after_days: u32,
}

impl ExpiryRule {
    /// Returns true if the rule applies to this memory.
    pub fn fits(&self, life: &LifecycleData) -> bool {
        let class = &life.class;
        // A completed todo is in the past, so rules for events apply to it too.
        let is_event = |wanted| life.status.done_at.is_some() && wanted == MemoryType::Event;
        self.memory_type.is_none_or(|wanted| wanted == class.memory_type || is_event(wanted))
            && self.kind.is_none_or(|wanted| wanted == class.kind)
            && self.stability.is_none_or(|wanted| wanted == class.stability)
            && self.tag.as_ref().is_none_or(|wanted| life.tags.contains(wanted))
    }
}

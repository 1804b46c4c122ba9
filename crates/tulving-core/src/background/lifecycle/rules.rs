//! The policy of a space for aged memories. Set by the operator, never by a caller.

use std::collections::BTreeMap;

use crate::model::life::Life;
use crate::model::space::Space;
use crate::model::vocabulary::{Kind, MemoryType, Stability};

/// The rules of every space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LifecyclePolicies {
    /// The default policy.
    pub usual: LifecyclePolicy,
    /// The policies of single spaces, by name or id.
    pub spaces: BTreeMap<String, LifecyclePolicy>,
}

impl LifecyclePolicies {
    /// Returns the policy of this space.
    pub fn of(&self, space: &Space) -> &LifecyclePolicy {
        let by_id = || self.spaces.get(&space.id.to_string());
        self.spaces.get(&space.name).or_else(by_id).unwrap_or(&self.usual)
    }
}

/// The policy of a space. `None` days never elapse.
#[derive(Clone, Debug, PartialEq)]
pub struct LifecyclePolicy {
    /// Idle days after which an unused memory cools.
    pub cool_after: IdleDays,
    /// Days that it must have been cooling before it may be archived.
    pub archive_after_days: Option<u32>,
    /// Importance below which it is then archived.
    pub archive_below: f64,
    /// Rules that archive memories after a time whatever their importance; the first that matches counts.
    pub expire: Vec<ExpiryRule>,
    /// Days to keep softly forgotten memories.
    pub keep_forgotten_days: Option<u32>,
    /// Days to keep the audit.
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

/// Idle days, by the stability of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdleDays {
    /// Days for memories that rarely change.
    pub stable: Option<u32>,
    /// Days for memories that change now and then.
    pub evolving: Option<u32>,
    /// Days for memories that are short-lived.
    pub volatile: Option<u32>,
}

impl Default for IdleDays {
    fn default() -> Self {
        Self { stable: Some(365), evolving: Some(120), volatile: Some(21) }
    }
}

impl IdleDays {
    /// Returns the idle days after which a memory with this number of uses cools. Each use adds less than the one before.
    /// `None` means never.
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
    /// The type.
    pub memory_type: Option<MemoryType>,
    /// The kind.
    pub kind: Option<Kind>,
    /// The stability.
    pub stability: Option<Stability>,
    /// The tag.
    pub tag: Option<String>,
    /// Number of days.
    pub after_days: u32,
}

impl ExpiryRule {
    /// Returns true if the rule applies to this memory.
    pub fn fits(&self, life: &Life) -> bool {
        let class = &life.class;
        // A completed todo has happened, so rules for events apply to it too.
        let is_event = |wanted| life.status.done_at.is_some() && wanted == MemoryType::Event;
        self.memory_type.is_none_or(|wanted| wanted == class.memory_type || is_event(wanted))
            && self.kind.is_none_or(|wanted| wanted == class.kind)
            && self.stability.is_none_or(|wanted| wanted == class.stability)
            && self.tag.as_ref().is_none_or(|wanted| life.tags.contains(wanted))
    }
}

//! Applies the lifecycle rules to one memory at a time.
//!
//! A rule moves a memory one step at a time: active, cooling, archived. Rules never move a memory that somebody
//! archived or that is quarantined. Rules never cool a pinned memory, or a todo or a goal that is not done; they
//! archive such a memory only at its own expiry time. They also revert moves made while the clock was ahead.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::rules::LifecyclePolicy;
use crate::model::life::LifecycleData;
use crate::model::memory::Status;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{MemoryType, Stability, State};
use crate::rank::decay::{self, days};

/// A step that is due, and the reason.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifecycleDecision {
    /// The step.
    pub step: LifecycleStep,
    /// The reason.
    pub why: LifecycleReason,
}

/// A step that a rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LifecycleStep {
    /// Lowers the rank of a memory in recall until the memory is used.
    Cool,
    /// Makes a memory active again.
    Revive,
    /// Hides a memory from recall.
    Archive,
    /// Permanently deletes a memory that was forgotten.
    Erase,
}

impl LifecycleStep {
    /// Returns the name of the step.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cool => "cool",
            Self::Revive => "revive",
            Self::Archive => "archive",
            Self::Erase => "erase",
        }
    }
}

/// The reason for a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LifecycleReason {
    /// The memory was idle for too long.
    Idle {
        /// Number of days without use.
        days: f64,
        /// Maximum number of days without use.
        patience: f64,
    },
    /// The memory has expired.
    Expired {
        /// The expiry time.
        at: Timestamp,
    },
    /// An expiry rule applies to the memory.
    TooOld {
        /// Days since the last write, completion or restore.
        days: f64,
        /// Number of days after which the rule archives the memory.
        after: u32,
    },
    /// The memory has been cooling for a long time, and its importance is low.
    Faded {
        /// Number of days since a rule cooled the memory, or since its last use if no rule did.
        days: f64,
        /// The importance of the memory.
        importance: f64,
        /// Importance below which the memory is archived.
        below: f64,
    },
    /// A rule moved the memory at a time that is now in the future, because the clock was ahead.
    Ahead {
        /// The recorded time of that move.
        at: Timestamp,
    },
    /// A rule archived a todo or a goal that is not done.
    Open,
    /// The memory is cooling although it was not idle for long enough.
    NotIdle {
        /// Maximum number of days without use; `None` means no limit.
        patience: Option<f64>,
    },
    /// The retention period of the forgotten memory is over.
    Kept {
        /// Number of days since the memory was forgotten.
        days: f64,
        /// Number of days that forgotten memories are retained.
        keep: u32,
    },
}

impl fmt::Display for LifecycleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle { days, patience } => {
                write!(f, "not used for {}; it cools after {}", counted(*days), counted(*patience))
            }
            Self::Expired { at } => write!(f, "expired on {}", at.date()),
            Self::TooOld { days, after } => {
                write!(
                    f,
                    "written or restored {} ago; such memories end after {}",
                    counted(*days),
                    counted((*after).into())
                )
            }
            Self::Faded { days, importance, below } => {
                write!(
                    f,
                    "cooling for {}, and its importance is {importance:.2}, below {below}",
                    counted(*days)
                )
            }
            Self::Ahead { at } => write!(f, "changed when the clock showed {}", at.date()),
            Self::Open => f.write_str("it is not done; open todos and goals are not archived by rules"),
            Self::NotIdle { patience: Some(patience) } => write!(f, "not idle for {}", counted(*patience)),
            Self::NotIdle { patience: None } => f.write_str("such memories do not cool"),
            Self::Kept { days, keep } => {
                write!(
                    f,
                    "forgotten {} ago; such memories are kept for {}",
                    counted(*days),
                    counted((*keep).into())
                )
            }
        }
    }
}

fn counted(days: f64) -> String {
    match days.floor() {
        1.0 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// Returns the step that is due at `now`, if any.
pub fn judge(life: &LifecycleData, policy: &LifecyclePolicy, now: Timestamp) -> Option<LifecycleDecision> {
    if let Some(at) = life.status.forgotten_at {
        return forgotten(at, policy, now);
    }
    // A creation time in the future means that the clock is behind, so no rule can be applied.
    if life.status.quarantined_at.is_some() || life.usage.created_at > now {
        return None;
    }
    let (step, why) = match life.status.state {
        State::Processing => return None,
        State::Archived => (LifecycleStep::Revive, ahead(life, now).or_else(|| undone(life, now))?),
        State::Active => match over(life, policy, now) {
            Some(why) => (LifecycleStep::Archive, why),
            None => (LifecycleStep::Cool, idle(life, policy, now)?),
        },
        State::Cooling => match (ahead(life, now), over(life, policy, now)) {
            (Some(why), _) => (LifecycleStep::Revive, why),
            (None, Some(why)) => (LifecycleStep::Archive, why),
            (None, None) => cooling(life, policy, now)?,
        },
    };
    Some(LifecycleDecision { step, why })
}

/// Returns the status after a step. Erasing leaves it unchanged.
pub fn after(status: Status, step: LifecycleStep, now: Timestamp) -> Status {
    match step {
        LifecycleStep::Cool => status.ruled(State::Cooling, now),
        LifecycleStep::Archive => status.ruled(State::Archived, now),
        // The time of an earlier restore is unknown, so the period starts again now, as if the memory had just been
        // restored.
        LifecycleStep::Revive if status.state == State::Archived => status.ruled(State::Active, now),
        LifecycleStep::Revive => status.moved(State::Active),
        LifecycleStep::Erase => status,
    }
}

fn forgotten(at: Timestamp, policy: &LifecyclePolicy, now: Timestamp) -> Option<LifecycleDecision> {
    let (keep, days) = (policy.keep_forgotten_days?, days(at, now));
    (days >= f64::from(keep)).then_some(LifecycleDecision {
        step: LifecycleStep::Erase,
        why: LifecycleReason::Kept { days, keep },
    })
}

/// Returns a reason if a rule moved the memory at a time in the future.
fn ahead(life: &LifecycleData, now: Timestamp) -> Option<LifecycleReason> {
    life.status.ruled_at.filter(|at| *at > now).map(|at| LifecycleReason::Ahead { at })
}

/// Returns a reason if a rule archived a todo or a goal that is not done, as rules of earlier versions did. An expired todo
/// or goal stays archived.
fn undone(life: &LifecycleData, now: Timestamp) -> Option<LifecycleReason> {
    let by_rule = life.status.ruled_at.is_some() && life.expires_at.is_none_or(|at| at > now);
    (by_rule && life.is_open()).then_some(LifecycleReason::Open)
}

/// Returns a reason if the lifetime of the memory is over, whatever its importance. A pinned or open memory ends only at its
/// own expiry time.
fn over(life: &LifecycleData, policy: &LifecyclePolicy, now: Timestamp) -> Option<LifecycleReason> {
    if let Some(at) = life.expires_at.filter(|at| *at <= now) {
        return Some(LifecycleReason::Expired { at });
    }
    if life.status.pinned || life.is_open() {
        return None;
    }
    let written = since(life, life.usage.updated_at);
    let (after, days) = (policy.expire.iter().find(|rule| rule.fits(life))?.after_days, days(written, now));
    (days >= f64::from(after)).then_some(LifecycleReason::TooOld { days, after })
}

/// Returns a reason if the memory was idle for too long.
fn idle(life: &LifecycleData, policy: &LifecyclePolicy, now: Timestamp) -> Option<LifecycleReason> {
    let patience = patience(life, policy)?;
    let days = days(since(life, life.usage.accessed_at.max(life.usage.updated_at)), now);
    (days >= patience).then_some(LifecycleReason::Idle { days, patience })
}

/// Returns the step for a cooling memory.
fn cooling(
    life: &LifecycleData,
    policy: &LifecyclePolicy,
    now: Timestamp,
) -> Option<(LifecycleStep, LifecycleReason)> {
    if idle(life, policy, now).is_none() {
        // The memory was cooled by hand or by another system, and a rule must not revert that.
        let ruled = life.status.ruled_at.is_some();
        return ruled.then_some((
            LifecycleStep::Revive,
            LifecycleReason::NotIdle { patience: patience(life, policy) },
        ));
    }
    let since = life.status.ruled_at.unwrap_or(life.usage.accessed_at);
    let (days, below) = (days(since, now), policy.archive_below);
    let importance = decay::importance(&life.class, &life.usage, &life.status, now);
    // A stable memory remains true even if nobody has used it for years.
    let passing = life.class.stability != Stability::Stable;
    let due = passing && days >= f64::from(policy.archive_after_days?) && importance < below;
    due.then_some((LifecycleStep::Archive, LifecycleReason::Faded { days, importance, below }))
}

/// Returns the number of idle days after which the memory cools; `None` if it never cools.
fn patience(life: &LifecycleData, policy: &LifecyclePolicy) -> Option<f64> {
    let lasting = life.status.pinned || life.class.memory_type == MemoryType::Identity || life.is_open();
    if lasting { None } else { policy.cool_after.days(life.class.stability, life.usage.access_count) }
}

/// Returns the start of the period that a rule measures: the latest of `used`, the completion and the restore. `used` is
/// the time of the last use or write.
fn since(life: &LifecycleData, used: Timestamp) -> Timestamp {
    let done = life.status.done_at.unwrap_or(used);
    used.max(done).max(brought_back(life).unwrap_or(used))
}

/// Returns the time at which an active memory was restored.
fn brought_back(life: &LifecycleData) -> Option<Timestamp> {
    life.status.ruled_at.filter(|_| life.status.state == State::Active)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::background::lifecycle::rules::{ExpiryRule, IdleDays};
    use crate::model::id::{MemoryId, PrincipalId, SpaceId, Version};
    use crate::model::memory::{Classification, Usage};
    use crate::model::score::Importance;
    use crate::model::vocabulary::{Boundary, Kind};

    fn day(n: i64) -> Timestamp {
        Timestamp::from_micros(n * 86_400_000_000)
    }

    /// Returns a fact that was saved on day 0 and never used.
    fn fact() -> LifecycleData {
        LifecycleData {
            id: MemoryId::from_bytes([1; 16]),
            space: SpaceId::DEFAULT,
            owner: PrincipalId::USER,
            boundary: Boundary::Private,
            version: Version::FIRST,
            class: Classification {
                memory_type: MemoryType::Fact,
                kind: Kind::Semantic,
                stability: Stability::Evolving,
                importance: Importance::new(0.5).expect("an importance"),
            },
            tags: vec!["api".to_owned()],
            status: Status::new(State::Active),
            usage: Usage { created_at: day(0), updated_at: day(0), accessed_at: day(0), access_count: 0 },
            expires_at: None,
        }
    }

    /// Returns the name of the step that is due on day `n`.
    fn on(life: &LifecycleData, policy: &LifecyclePolicy, n: i64) -> Option<&'static str> {
        judge(life, policy, day(n)).map(|verdict| verdict.step.as_str())
    }

    #[test]
    fn an_unused_memory_cools_and_is_archived_once_it_matters_little() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        assert_eq!((on(&life, &policy, 119), on(&life, &policy, 120)), (None, Some("cool")));
        life.status = after(life.status, LifecycleStep::Cool, day(120));
        assert_eq!(on(&life, &policy, 200), None, "0.16 is not below 0.1");
        assert_eq!(on(&life, &policy, 300), Some("archive"));
        life.status = after(life.status, LifecycleStep::Archive, day(300));
        assert_eq!(on(&life, &policy, 30_000), None);
        assert_eq!(
            judge(&fact(), &policy, day(150)).expect("due").why.to_string(),
            "not used for 150 days; it cools after 120 days"
        );
    }

    #[test]
    fn it_must_have_cooled_for_a_while_however_long_nobody_looked() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.status = after(life.status, LifecycleStep::Cool, day(5_000));
        assert_eq!((on(&life, &policy, 5_029), on(&life, &policy, 5_030)), (None, Some("archive")));
    }

    #[test]
    fn use_lengthens_the_patience_and_an_edit_begins_it_anew() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.usage.access_count = 2;
        assert_eq!((on(&life, &policy, 251), on(&life, &policy, 252)), (None, Some("cool")));
        life.usage.updated_at = day(200);
        assert_eq!(on(&life, &policy, 252), None);
        life.status = after(life.status, LifecycleStep::Cool, day(150));
        assert_eq!(on(&life, &policy, 252), Some("revive"), "it has been edited since");
    }

    #[test]
    fn what_is_stable_cools_and_is_not_archived_for_being_old() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.class.stability = Stability::Stable;
        assert_eq!(on(&life, &policy, 365), Some("cool"));
        life.status = after(life.status, LifecycleStep::Cool, day(365));
        assert_eq!(on(&life, &policy, 30_000), None);
    }

    #[test]
    fn what_lasts_never_cools() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.status.pinned = true;
        assert_eq!(on(&life, &policy, 30_000), None);
        let mut life = fact();
        life.class.memory_type = MemoryType::Identity;
        assert_eq!(on(&life, &policy, 30_000), None);
        life.status = after(life.status, LifecycleStep::Cool, day(1));
        assert_eq!(on(&life, &policy, 30_000), Some("revive"));
    }

    #[test]
    fn open_todos_and_goals_are_never_cooled_or_archived_for_their_age() {
        let rule = ExpiryRule { after_days: 10, ..ExpiryRule::default() };
        let policy = LifecyclePolicy { expire: vec![rule], ..LifecyclePolicy::default() };
        for memory_type in [MemoryType::Todo, MemoryType::Goal] {
            let mut life = fact();
            life.class = Classification { memory_type, stability: Stability::Volatile, ..life.class };
            for policy in [&policy, &LifecyclePolicy::default()] {
                assert_eq!(on(&life, policy, 30_000), None, "{memory_type}");
            }
            let mut cooled = life.clone();
            cooled.status = after(life.status, LifecycleStep::Cool, day(30));
            assert_eq!(on(&cooled, &policy, 31), Some("revive"), "rules cooled it once");
            life.expires_at = Some(day(5));
            assert_eq!((on(&life, &policy, 4), on(&life, &policy, 5)), (None, Some("archive")));
        }
    }

    #[test]
    fn what_rules_archived_while_it_was_open_comes_back_and_what_has_expired_does_not() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.class.memory_type = MemoryType::Todo;
        life.status = after(life.status, LifecycleStep::Archive, day(30));
        let verdict = judge(&life, &policy, day(40)).expect("due");
        assert_eq!(
            (verdict.step, verdict.why.to_string()),
            (
                LifecycleStep::Revive,
                "it is not done; open todos and goals are not archived by rules".to_owned()
            )
        );
        life.expires_at = Some(day(35));
        assert_eq!(on(&life, &policy, 40), None);
        life.expires_at = None;
        life.status = Status::new(State::Archived);
        assert_eq!(on(&life, &policy, 40), None, "somebody archived it");
        life.status = Status {
            done_at: Some(day(20)),
            ..after(Status::new(State::Active), LifecycleStep::Archive, day(30))
        };
        assert_eq!(on(&life, &policy, 40), None, "it was done");
    }

    #[test]
    fn a_done_todo_ages_like_an_event_from_the_day_it_was_done() {
        let rule =
            ExpiryRule { memory_type: Some(MemoryType::Event), after_days: 10, ..ExpiryRule::default() };
        let policy = LifecyclePolicy { expire: vec![rule], ..LifecyclePolicy::default() };
        let mut life = fact();
        life.class.memory_type = MemoryType::Todo;
        life.status.done_at = Some(day(100));
        assert_eq!((on(&life, &policy, 109), on(&life, &policy, 110)), (None, Some("archive")));
        assert_eq!(
            (on(&life, &LifecyclePolicy::default(), 219), on(&life, &LifecyclePolicy::default(), 220)),
            (None, Some("cool"))
        );
        let event = Classification { memory_type: MemoryType::Event, ..life.class };
        let used = Usage { accessed_at: day(100), ..life.usage };
        assert_eq!(
            decay::importance(&life.class, &life.usage, &life.status, day(150)),
            decay::importance(&event, &used, &Status::new(State::Active), day(150))
        );
    }

    #[test]
    fn each_memory_ends_by_its_own_time_and_by_the_first_rule_that_fits_it() {
        let rule = |tag: Option<&str>, after_days| ExpiryRule {
            tag: tag.map(str::to_owned),
            memory_type: Some(MemoryType::Fact),
            after_days,
            ..ExpiryRule::default()
        };
        let policy = LifecyclePolicy {
            expire: vec![rule(Some("api"), 10), rule(None, 3)],
            ..LifecyclePolicy::default()
        };
        let mut life = fact();
        assert_eq!((on(&life, &policy, 9), on(&life, &policy, 10)), (None, Some("archive")));
        life.tags.clear();
        assert_eq!(on(&life, &policy, 3), Some("archive"));
        life.class.memory_type = MemoryType::Project;
        assert_eq!(on(&life, &policy, 30), None);
        life.expires_at = Some(day(5));
        life.status.pinned = true;
        assert_eq!((on(&life, &policy, 4), on(&life, &policy, 5)), (None, Some("archive")));
    }

    #[test]
    fn what_was_brought_back_stays_for_as_long_as_what_is_new() {
        let rule = ExpiryRule { after_days: 10, ..ExpiryRule::default() };
        let policy = LifecyclePolicy { expire: vec![rule], ..LifecyclePolicy::default() };
        let mut life = fact();
        life.status = life.status.ruled(State::Active, day(500));
        assert_eq!((on(&life, &policy, 509), on(&life, &policy, 510)), (None, Some("archive")));
        assert_eq!(
            (on(&life, &LifecyclePolicy::default(), 619), on(&life, &LifecyclePolicy::default(), 620)),
            (None, Some("cool"))
        );
    }

    #[test]
    fn what_a_clock_that_ran_ahead_did_is_taken_back_and_what_somebody_did_is_not() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.status = after(life.status, LifecycleStep::Cool, day(30_000));
        assert_eq!(on(&life, &policy, 10), Some("revive"));
        life.status = after(life.status, LifecycleStep::Archive, day(30_000));
        assert_eq!(on(&life, &policy, 10), Some("revive"));
        life.status = life.status.moved(State::Active).moved(State::Archived);
        assert_eq!(on(&life, &policy, 10), None);
        let mut cooled = fact();
        cooled.status = Status::new(State::Cooling);
        assert_eq!(on(&cooled, &policy, 10), None);
    }

    #[test]
    fn what_was_forgotten_is_kept_as_long_as_was_said_and_nothing_else_happens_to_it() {
        let mut life = fact();
        life.status.forgotten_at = Some(day(10));
        life.expires_at = Some(day(20));
        assert_eq!(on(&life, &LifecyclePolicy::default(), 30_000), None);
        let policy = LifecyclePolicy { keep_forgotten_days: Some(30), ..LifecyclePolicy::default() };
        assert_eq!((on(&life, &policy, 39), on(&life, &policy, 40)), (None, Some("erase")));
        assert_eq!(on(&life, &policy, 5), None, "before it was forgotten, by a clock that was set back");
    }

    #[test]
    fn a_clock_that_is_behind_moves_nothing() {
        let policy = LifecyclePolicy::default();
        let mut life = fact();
        life.status = after(life.status, LifecycleStep::Archive, day(300));
        assert_eq!((on(&life, &policy, -1), on(&life, &policy, 299)), (None, Some("revive")));
    }

    #[test]
    fn what_waits_or_was_put_aside_is_let_be() {
        let mut life = fact();
        life.expires_at = Some(day(1));
        life.status.state = State::Processing;
        assert_eq!(on(&life, &LifecyclePolicy::default(), 30_000), None);
        life.status = Status { quarantined_at: Some(day(1)), ..Status::new(State::Active) };
        assert_eq!(on(&life, &LifecyclePolicy::default(), 30_000), None);
    }

    proptest! {
        #[test]
        fn one_step_at_a_time_never_back_and_forth(
            saved in -1_000_i64..1_000, used in -1_000_i64..1_000, uses in 0_u64..50, looks in 1_i64..200,
            volatile in 1_u32..100, pinned: bool, ends in proptest::option::of(-500_i64..2_000),
        ) {
            let cool_after = IdleDays { evolving: Some(volatile), ..IdleDays::default() };
            let policy = LifecyclePolicy { cool_after, ..LifecyclePolicy::default() };
            let mut life = fact();
            life.usage = Usage {
                created_at: day(saved), updated_at: day(saved), accessed_at: day(used.max(saved)), access_count: uses,
            };
            life.status.pinned = pinned;
            life.expires_at = ends.map(day);
            let mut states = vec![life.status.state];
            for look in 0..looks {
                let now = day(1_000 + look * 10);
                let Some(verdict) = judge(&life, &policy, now) else { continue };
                life.status = after(life.status, verdict.step, now);
                states.push(life.status.state);
                let again = judge(&life, &policy, now).map(|verdict| verdict.step);
                prop_assert!(matches!(again, None | Some(LifecycleStep::Archive)), "{again:?}");
            }
            let order = |state: &State| State::ALL.iter().position(|one| one == state);
            prop_assert!(states.windows(2).all(|pair| order(&pair[0]) < order(&pair[1])), "{states:?}");
            if pinned && ends.is_none() {
                prop_assert_eq!(states.len(), 1);
            }
        }
    }
}

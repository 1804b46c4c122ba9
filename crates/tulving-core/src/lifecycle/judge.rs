//! What the rules say of one memory at a moment.
//!
//! A rule moves a memory one step at a time: active, cooling, archived. It never touches what somebody archived, put aside
//! or pinned, leaves a todo or a goal alone until it is done, and takes back what was done by a clock that ran ahead.

use std::fmt;

use serde::Serialize;

use super::decay::{self, days};
use super::rules::Policy;
use crate::life::Life;
use crate::memory::Standing;
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, Stability, State};

/// A step that is due, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// What is done.
    pub step: Step,
    /// Why.
    pub why: Why,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// It is weighed down in recall until it is used.
    Cool,
    /// It is active again.
    Revive,
    /// It is hidden from recall.
    Archive,
    /// It was forgotten, and goes for good.
    Erase,
}

impl Step {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cool => "cool",
            Self::Revive => "revive",
            Self::Archive => "archive",
            Self::Erase => "erase",
        }
    }
}

/// Why a rule does something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Why {
    /// It was not used for longer than it may.
    Idle {
        /// For how many days.
        days: f64,
        /// How many it may.
        patience: f64,
    },
    /// It was to end by then.
    Expired {
        /// When.
        at: Timestamp,
    },
    /// What is like it ends after a time.
    TooOld {
        /// Days since it was last written.
        days: f64,
        /// After how many it ends.
        after: u32,
    },
    /// It has cooled for long, and matters little.
    Faded {
        /// For how many days it has been cooling.
        days: f64,
        /// How much it matters.
        importance: f64,
        /// Below what it is archived.
        below: f64,
    },
    /// A rule moved it at a time that is yet to come, by a clock that ran ahead.
    Ahead {
        /// When that was said to be.
        at: Timestamp,
    },
    /// It is a todo or a goal that is not done, and a rule archived it all the same.
    Open,
    /// It cools although it was not idle for so long.
    NotIdle {
        /// How many idle days it may have; `None` is any number.
        patience: Option<f64>,
    },
    /// It was forgotten longer ago than such are kept.
    Kept {
        /// How many days ago.
        days: f64,
        /// How many days they are kept.
        keep: u32,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Idle { days, patience } => {
                write!(f, "not used for {}; it cools after {}", counted(*days), counted(*patience))
            }
            Self::Expired { at } => write!(f, "expired on {}", at.date()),
            Self::TooOld { days, after } => {
                write!(
                    f,
                    "written or brought back {} ago; such memories end after {}",
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
            Self::Ahead { at } => write!(f, "moved by a clock that said {}", at.date()),
            Self::Open => f.write_str("it is not done; open todos and goals are not archived by rules"),
            Self::NotIdle { patience: Some(patience) } => write!(f, "not idle for {}", counted(*patience)),
            Self::NotIdle { patience: None } => f.write_str("such memories do not cool"),
            Self::Kept { days, keep } => {
                write!(f, "forgotten {} ago; such are kept for {}", counted(*days), counted((*keep).into()))
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

/// The step that is due at `now`, where one is.
pub fn judge(life: &Life, policy: &Policy, now: Timestamp) -> Option<Verdict> {
    if let Some(at) = life.standing.forgotten_at {
        return forgotten(at, policy, now);
    }
    // Before it was saved it is not now: the clock is behind, and nothing is to be learnt from it.
    if life.standing.quarantined_at.is_some() || life.usage.created_at > now {
        return None;
    }
    let (step, why) = match life.standing.state {
        State::Processing => return None,
        State::Archived => (Step::Revive, ahead(life, now).or_else(|| undone(life, now))?),
        State::Active => match over(life, policy, now) {
            Some(why) => (Step::Archive, why),
            None => (Step::Cool, idle(life, policy, now)?),
        },
        State::Cooling => match (ahead(life, now), over(life, policy, now)) {
            (Some(why), _) => (Step::Revive, why),
            (None, Some(why)) => (Step::Archive, why),
            (None, None) => cooling(life, policy, now)?,
        },
    };
    Some(Verdict { step, why })
}

/// How a memory stands once a step was done. Erasing leaves nothing.
pub fn after(standing: Standing, step: Step, now: Timestamp) -> Standing {
    match step {
        Step::Cool => standing.ruled(State::Cooling, now),
        Step::Archive => standing.ruled(State::Archived, now),
        // Who had brought it back before is not known any more, so it stays for as long as if somebody had just now.
        Step::Revive if standing.state == State::Archived => standing.ruled(State::Active, now),
        Step::Revive => standing.moved(State::Active),
        Step::Erase => standing,
    }
}

fn forgotten(at: Timestamp, policy: &Policy, now: Timestamp) -> Option<Verdict> {
    let (keep, days) = (policy.keep_forgotten_days?, days(at, now));
    (days >= f64::from(keep)).then_some(Verdict { step: Step::Erase, why: Why::Kept { days, keep } })
}

/// That a rule moved it at a time that is yet to come.
fn ahead(life: &Life, now: Timestamp) -> Option<Why> {
    life.standing.ruled_at.filter(|at| *at > now).map(|at| Why::Ahead { at })
}

/// That a rule archived a todo or a goal which is not done, as rules once did. One that has expired stays archived.
fn undone(life: &Life, now: Timestamp) -> Option<Why> {
    let by_rule = life.standing.ruled_at.is_some() && life.expires_at.is_none_or(|at| at > now);
    (by_rule && life.is_open()).then_some(Why::Open)
}

/// That its time is over, whatever it is worth. What is pinned or open ends only by its own time.
fn over(life: &Life, policy: &Policy, now: Timestamp) -> Option<Why> {
    if let Some(at) = life.expires_at.filter(|at| *at <= now) {
        return Some(Why::Expired { at });
    }
    if life.standing.pinned || life.is_open() {
        return None;
    }
    let written = since(life, life.usage.updated_at);
    let (after, days) = (policy.expire.iter().find(|rule| rule.fits(life))?.after_days, days(written, now));
    (days >= f64::from(after)).then_some(Why::TooOld { days, after })
}

/// That it was idle for too long.
fn idle(life: &Life, policy: &Policy, now: Timestamp) -> Option<Why> {
    let patience = patience(life, policy)?;
    let days = days(since(life, life.usage.accessed_at.max(life.usage.updated_at)), now);
    (days >= patience).then_some(Why::Idle { days, patience })
}

/// What becomes of a cooling memory.
fn cooling(life: &Life, policy: &Policy, now: Timestamp) -> Option<(Step, Why)> {
    if idle(life, policy, now).is_none() {
        // By hand or by another system: that is not for a rule to undo.
        let ruled = life.standing.ruled_at.is_some();
        return ruled.then_some((Step::Revive, Why::NotIdle { patience: patience(life, policy) }));
    }
    let since = life.standing.ruled_at.unwrap_or(life.usage.accessed_at);
    let (days, below) = (days(since, now), policy.archive_below);
    let importance = decay::importance(&life.class, &life.usage, &life.standing, now);
    // What rarely changes is as true when nobody has asked for it in years.
    let passing = life.class.stability != Stability::Stable;
    let due = passing && days >= f64::from(policy.archive_after_days?) && importance < below;
    due.then_some((Step::Archive, Why::Faded { days, importance, below }))
}

/// Idle days after which it cools; `None` where it never does.
fn patience(life: &Life, policy: &Policy) -> Option<f64> {
    let lasting = life.standing.pinned || life.class.memory_type == MemoryType::Identity || life.is_open();
    if lasting { None } else { policy.cool_after.days(life.class.stability, life.usage.access_count) }
}

/// The time that rules count from: when it was used or written, done or brought back, whichever came last.
fn since(life: &Life, used: Timestamp) -> Timestamp {
    let done = life.standing.done_at.unwrap_or(used);
    used.max(done).max(brought_back(life).unwrap_or(used))
}

/// When somebody brought an active memory back.
fn brought_back(life: &Life) -> Option<Timestamp> {
    life.standing.ruled_at.filter(|_| life.standing.state == State::Active)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::{MemoryId, PrincipalId, SpaceId, Version};
    use crate::lifecycle::rules::{Expiry, Patience};
    use crate::memory::{Classification, Usage};
    use crate::score::Importance;
    use crate::vocabulary::{Boundary, Kind};

    fn day(n: i64) -> Timestamp {
        Timestamp::from_micros(n * 86_400_000_000)
    }

    /// A fact that was saved on day 0 and never used.
    fn fact() -> Life {
        Life {
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
            standing: Standing::new(State::Active),
            usage: Usage { created_at: day(0), updated_at: day(0), accessed_at: day(0), access_count: 0 },
            expires_at: None,
        }
    }

    /// What is done on a day, as a word.
    fn on(life: &Life, policy: &Policy, n: i64) -> Option<&'static str> {
        judge(life, policy, day(n)).map(|verdict| verdict.step.as_str())
    }

    #[test]
    fn an_unused_memory_cools_and_is_archived_once_it_matters_little() {
        let policy = Policy::default();
        let mut life = fact();
        assert_eq!((on(&life, &policy, 119), on(&life, &policy, 120)), (None, Some("cool")));
        life.standing = after(life.standing, Step::Cool, day(120));
        assert_eq!(on(&life, &policy, 200), None, "0.16 is not below 0.1");
        assert_eq!(on(&life, &policy, 300), Some("archive"));
        life.standing = after(life.standing, Step::Archive, day(300));
        assert_eq!(on(&life, &policy, 30_000), None);
        assert_eq!(
            judge(&fact(), &policy, day(150)).expect("due").why.to_string(),
            "not used for 150 days; it cools after 120 days"
        );
    }

    #[test]
    fn it_must_have_cooled_for_a_while_however_long_nobody_looked() {
        let policy = Policy::default();
        let mut life = fact();
        life.standing = after(life.standing, Step::Cool, day(5_000));
        assert_eq!((on(&life, &policy, 5_029), on(&life, &policy, 5_030)), (None, Some("archive")));
    }

    #[test]
    fn use_lengthens_the_patience_and_an_edit_begins_it_anew() {
        let policy = Policy::default();
        let mut life = fact();
        life.usage.access_count = 2;
        assert_eq!((on(&life, &policy, 251), on(&life, &policy, 252)), (None, Some("cool")));
        life.usage.updated_at = day(200);
        assert_eq!(on(&life, &policy, 252), None);
        life.standing = after(life.standing, Step::Cool, day(150));
        assert_eq!(on(&life, &policy, 252), Some("revive"), "it was edited since");
    }

    #[test]
    fn what_is_stable_cools_and_is_not_archived_for_being_old() {
        let policy = Policy::default();
        let mut life = fact();
        life.class.stability = Stability::Stable;
        assert_eq!(on(&life, &policy, 365), Some("cool"));
        life.standing = after(life.standing, Step::Cool, day(365));
        assert_eq!(on(&life, &policy, 30_000), None);
    }

    #[test]
    fn what_lasts_never_cools() {
        let policy = Policy::default();
        let mut life = fact();
        life.standing.pinned = true;
        assert_eq!(on(&life, &policy, 30_000), None);
        let mut life = fact();
        life.class.memory_type = MemoryType::Identity;
        assert_eq!(on(&life, &policy, 30_000), None);
        life.standing = after(life.standing, Step::Cool, day(1));
        assert_eq!(on(&life, &policy, 30_000), Some("revive"));
    }

    #[test]
    fn open_todos_and_goals_are_never_cooled_or_archived_for_their_age() {
        let rule = Expiry { after_days: 10, ..Expiry::default() };
        let policy = Policy { expire: vec![rule], ..Policy::default() };
        for memory_type in [MemoryType::Todo, MemoryType::Goal] {
            let mut life = fact();
            life.class = Classification { memory_type, stability: Stability::Volatile, ..life.class };
            for policy in [&policy, &Policy::default()] {
                assert_eq!(on(&life, policy, 30_000), None, "{memory_type}");
            }
            let mut cooled = life.clone();
            cooled.standing = after(life.standing, Step::Cool, day(30));
            assert_eq!(on(&cooled, &policy, 31), Some("revive"), "rules cooled it once");
            life.expires_at = Some(day(5));
            assert_eq!((on(&life, &policy, 4), on(&life, &policy, 5)), (None, Some("archive")));
        }
    }

    #[test]
    fn what_rules_archived_while_it_was_open_comes_back_and_what_has_expired_does_not() {
        let policy = Policy::default();
        let mut life = fact();
        life.class.memory_type = MemoryType::Todo;
        life.standing = after(life.standing, Step::Archive, day(30));
        let verdict = judge(&life, &policy, day(40)).expect("due");
        assert_eq!(
            (verdict.step, verdict.why.to_string()),
            (Step::Revive, "it is not done; open todos and goals are not archived by rules".to_owned())
        );
        life.expires_at = Some(day(35));
        assert_eq!(on(&life, &policy, 40), None);
        life.expires_at = None;
        life.standing = Standing::new(State::Archived);
        assert_eq!(on(&life, &policy, 40), None, "somebody archived it");
        life.standing = Standing {
            done_at: Some(day(20)),
            ..after(Standing::new(State::Active), Step::Archive, day(30))
        };
        assert_eq!(on(&life, &policy, 40), None, "it was done");
    }

    #[test]
    fn a_done_todo_ages_like_an_event_from_the_day_it_was_done() {
        let rule = Expiry { memory_type: Some(MemoryType::Event), after_days: 10, ..Expiry::default() };
        let policy = Policy { expire: vec![rule], ..Policy::default() };
        let mut life = fact();
        life.class.memory_type = MemoryType::Todo;
        life.standing.done_at = Some(day(100));
        assert_eq!((on(&life, &policy, 109), on(&life, &policy, 110)), (None, Some("archive")));
        assert_eq!(
            (on(&life, &Policy::default(), 219), on(&life, &Policy::default(), 220)),
            (None, Some("cool"))
        );
        let event = Classification { memory_type: MemoryType::Event, ..life.class };
        let used = Usage { accessed_at: day(100), ..life.usage };
        assert_eq!(
            decay::importance(&life.class, &life.usage, &life.standing, day(150)),
            decay::importance(&event, &used, &Standing::new(State::Active), day(150))
        );
    }

    #[test]
    fn each_memory_ends_by_its_own_time_and_by_the_first_rule_that_fits_it() {
        let rule = |tag: Option<&str>, after_days| Expiry {
            tag: tag.map(str::to_owned),
            memory_type: Some(MemoryType::Fact),
            after_days,
            ..Expiry::default()
        };
        let policy = Policy { expire: vec![rule(Some("api"), 10), rule(None, 3)], ..Policy::default() };
        let mut life = fact();
        assert_eq!((on(&life, &policy, 9), on(&life, &policy, 10)), (None, Some("archive")));
        life.tags.clear();
        assert_eq!(on(&life, &policy, 3), Some("archive"));
        life.class.memory_type = MemoryType::Project;
        assert_eq!(on(&life, &policy, 30), None);
        life.expires_at = Some(day(5));
        life.standing.pinned = true;
        assert_eq!((on(&life, &policy, 4), on(&life, &policy, 5)), (None, Some("archive")));
    }

    #[test]
    fn what_was_brought_back_stays_for_as_long_as_what_is_new() {
        let rule = Expiry { after_days: 10, ..Expiry::default() };
        let policy = Policy { expire: vec![rule], ..Policy::default() };
        let mut life = fact();
        life.standing = life.standing.ruled(State::Active, day(500));
        assert_eq!((on(&life, &policy, 509), on(&life, &policy, 510)), (None, Some("archive")));
        assert_eq!(
            (on(&life, &Policy::default(), 619), on(&life, &Policy::default(), 620)),
            (None, Some("cool"))
        );
    }

    #[test]
    fn what_a_clock_that_ran_ahead_did_is_taken_back_and_what_somebody_did_is_not() {
        let policy = Policy::default();
        let mut life = fact();
        life.standing = after(life.standing, Step::Cool, day(30_000));
        assert_eq!(on(&life, &policy, 10), Some("revive"));
        life.standing = after(life.standing, Step::Archive, day(30_000));
        assert_eq!(on(&life, &policy, 10), Some("revive"));
        life.standing = life.standing.moved(State::Active).moved(State::Archived);
        assert_eq!(on(&life, &policy, 10), None);
        let mut cooled = fact();
        cooled.standing = Standing::new(State::Cooling);
        assert_eq!(on(&cooled, &policy, 10), None);
    }

    #[test]
    fn what_was_forgotten_is_kept_as_long_as_was_said_and_nothing_else_happens_to_it() {
        let mut life = fact();
        life.standing.forgotten_at = Some(day(10));
        life.expires_at = Some(day(20));
        assert_eq!(on(&life, &Policy::default(), 30_000), None);
        let policy = Policy { keep_forgotten_days: Some(30), ..Policy::default() };
        assert_eq!((on(&life, &policy, 39), on(&life, &policy, 40)), (None, Some("erase")));
        assert_eq!(on(&life, &policy, 5), None, "before it was forgotten, by a clock that was set back");
    }

    #[test]
    fn a_clock_that_is_behind_moves_nothing() {
        let policy = Policy::default();
        let mut life = fact();
        life.standing = after(life.standing, Step::Archive, day(300));
        assert_eq!((on(&life, &policy, -1), on(&life, &policy, 299)), (None, Some("revive")));
    }

    #[test]
    fn what_waits_or_was_put_aside_is_let_be() {
        let mut life = fact();
        life.expires_at = Some(day(1));
        life.standing.state = State::Processing;
        assert_eq!(on(&life, &Policy::default(), 30_000), None);
        life.standing = Standing { quarantined_at: Some(day(1)), ..Standing::new(State::Active) };
        assert_eq!(on(&life, &Policy::default(), 30_000), None);
    }

    proptest! {
        #[test]
        fn one_step_at_a_time_never_back_and_forth(
            saved in -1_000_i64..1_000, used in -1_000_i64..1_000, uses in 0_u64..50, looks in 1_i64..200,
            volatile in 1_u32..100, pinned: bool, ends in proptest::option::of(-500_i64..2_000),
        ) {
            let cool_after = Patience { evolving: Some(volatile), ..Patience::default() };
            let policy = Policy { cool_after, ..Policy::default() };
            let mut life = fact();
            life.usage = Usage {
                created_at: day(saved), updated_at: day(saved), accessed_at: day(used.max(saved)), access_count: uses,
            };
            life.standing.pinned = pinned;
            life.expires_at = ends.map(day);
            let mut states = vec![life.standing.state];
            for look in 0..looks {
                let now = day(1_000 + look * 10);
                let Some(verdict) = judge(&life, &policy, now) else { continue };
                life.standing = after(life.standing, verdict.step, now);
                states.push(life.standing.state);
                let again = judge(&life, &policy, now).map(|verdict| verdict.step);
                prop_assert!(matches!(again, None | Some(Step::Archive)), "{again:?}");
            }
            let order = |state: &State| State::ALL.iter().position(|one| one == state);
            prop_assert!(states.windows(2).all(|pair| order(&pair[0]) < order(&pair[1])), "{states:?}");
            if pinned && ends.is_none() {
                prop_assert_eq!(states.len(), 1);
            }
        }
    }
}

//! Computes the importance of a memory at a time: its stated importance plus a gain from use, reduced over the time without
//! use.

use crate::model::memory::{Classification, Memory, Status, Usage};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{MemoryType, Stability};

const MICROS_PER_DAY: f64 = 86_400_000_000.0;
/// The importance gained each time that `uses + 1` grows by a factor of e. Ten uses add 0.12, and a hundred uses add 0.23.
const GAIN: f64 = 0.05;

/// Returns the number of days between two instants; 0 if the second instant is not after the first, for example because a
/// clock was set back.
pub fn days(from: Timestamp, to: Timestamp) -> f64 {
    let micros = to.as_micros().saturating_sub(from.as_micros()).max(0);
    #[expect(clippy::cast_precision_loss, reason = "a few microseconds in a century do not matter")]
    let micros = micros as f64;
    micros / MICROS_PER_DAY
}

/// Returns the number of days without use after which half of the importance is left; `None` if the importance does not
/// fade.
fn half_life_days(memory_type: MemoryType, stability: Stability) -> Option<f64> {
    let lasts = match memory_type {
        MemoryType::Identity => return None,
        MemoryType::Decision | MemoryType::Preference | MemoryType::Person => 1.5,
        MemoryType::Fact | MemoryType::Goal | MemoryType::Project | MemoryType::Routine => 1.0,
        MemoryType::Event | MemoryType::Observation => 0.75,
        MemoryType::Todo => 0.5,
    };
    let days = match stability {
        Stability::Stable => 365.0,
        Stability::Evolving => 120.0,
        Stability::Volatile => 30.0,
    };
    Some(lasts * days)
}

/// Returns the importance gained by a number of uses. Each use adds less than the use before.
pub fn gain(uses: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53 in any store that is used")]
    let uses = uses as f64;
    GAIN * uses.ln_1p()
}

/// Returns the importance, 0 to 1, at `now` of a memory with this class, usage and status. The importance of identity and
/// pinned memories does not fade. The importance of a completed todo or goal fades like that of an event, from the time at
/// which it was done or last used.
pub fn importance(class: &Classification, usage: &Usage, status: &Status, now: Timestamp) -> f64 {
    let most = (class.importance.get() + gain(usage.access_count)).min(1.0);
    let memory_type = if status.done_at.is_some() { MemoryType::Event } else { class.memory_type };
    let from = usage.accessed_at.max(status.done_at.unwrap_or(usage.accessed_at));
    match half_life_days(memory_type, class.stability) {
        Some(half_life) if !status.pinned => most * 0.5_f64.powf(days(from, now) / half_life),
        _ => most,
    }
}

/// Returns the importance rounded to three decimals. Programs get the rounded value, because the exact value changes all the
/// time.
pub fn shown(memory: &Memory, now: Timestamp) -> f64 {
    (importance_at(memory, now) * 1e3).round() / 1e3
}

/// Returns the importance of a memory at `now`, 0 to 1.
pub fn importance_at(memory: &Memory, now: Timestamp) -> f64 {
    importance(&memory.fields.class, &memory.usage, &memory.status, now)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::score::Importance;
    use crate::model::vocabulary::{Kind, State};

    const ACTIVE: Status = Status::new(State::Active);
    const PINNED: Status = Status { pinned: true, ..ACTIVE };

    fn class(memory_type: MemoryType, stability: Stability, base: f64) -> Classification {
        let importance = Importance::new(base).expect("an importance");
        Classification { memory_type, kind: Kind::Semantic, stability, importance }
    }

    fn day(n: i64) -> Timestamp {
        Timestamp::from_micros(n * 86_400_000_000)
    }

    fn used(uses: u64, last: i64) -> Usage {
        Usage { created_at: day(0), updated_at: day(0), accessed_at: day(last), access_count: uses }
    }

    #[test]
    fn half_is_left_after_the_half_life_and_use_starts_it_anew() {
        let fact = class(MemoryType::Fact, Stability::Evolving, 0.5);
        assert_eq!(importance(&fact, &used(0, 0), &ACTIVE, day(120)), 0.25);
        assert_eq!(importance(&fact, &used(0, 120), &ACTIVE, day(120)), 0.5);
        let todo = class(MemoryType::Todo, Stability::Volatile, 0.4);
        assert_eq!(importance(&todo, &used(0, 0), &ACTIVE, day(15)), 0.2);
    }

    #[test]
    fn identity_and_what_is_pinned_do_not_fade() {
        let identity = class(MemoryType::Identity, Stability::Volatile, 1.0);
        assert_eq!(importance(&identity, &used(0, 0), &ACTIVE, day(100_000)), 1.0);
        let todo = class(MemoryType::Todo, Stability::Volatile, 0.3);
        assert_eq!(importance(&todo, &used(0, 0), &PINNED, day(100_000)), 0.3);
    }

    #[test]
    fn a_time_that_is_yet_to_come_fades_nothing() {
        let fact = class(MemoryType::Fact, Stability::Evolving, 0.5);
        assert_eq!(importance(&fact, &used(0, 900), &ACTIVE, day(10)), 0.5);
        let ends = used(0, 0);
        let ends = Usage { accessed_at: Timestamp::from_micros(i64::MIN), ..ends };
        assert!(importance(&fact, &ends, &ACTIVE, Timestamp::from_micros(i64::MAX)) < 1e-12);
    }

    proptest! {
        #[test]
        fn it_never_rises_while_idle_and_each_use_adds_less(
            base in 0.0_f64..=1.0, uses in 0_u64..1_000_000, from in 0_i64..10_000, idle in 0_i64..10_000,
            of_type in 0..MemoryType::ALL.len(), of_stability in 0..Stability::ALL.len(),
        ) {
            let class = class(MemoryType::ALL[of_type], Stability::ALL[of_stability], base);
            let at = |now: i64| importance(&class, &used(uses, from), &ACTIVE, day(now));
            prop_assert!(at(from + idle + 1) <= at(from + idle));
            prop_assert!((0.0..=1.0).contains(&at(from + idle)));
            prop_assert!(gain(uses + 2) - gain(uses + 1) < gain(uses + 1) - gain(uses));
            prop_assert!(importance(&class, &used(uses + 1, from), &ACTIVE, day(from)) >= at(from));
        }
    }
}

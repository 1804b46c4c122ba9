//! Simulates the life of an agent in accelerated time: the memories that it saves, their later use, and the effect of
//! the lifecycle rules.
//!
//! The same seed gives the same life. The test of the lifecycle and the plot in the docs use this simulation.

use std::collections::VecDeque;
use std::time::Duration;

use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{Caller, Filter, Mode, RecallRequest, SaveRequest};
use tulving_core::model::vocabulary::{MemoryType, Stability, State};
use tulving_core::{Engine, TendingResult};

use crate::clock::ManualClock;

const DAY: Duration = Duration::from_secs(86_400);
/// The average number of days between two uses of a memory in regular use.
const USED_EVERY: u32 = 9;
/// On average, one of this many memories comes into regular use.
const REGULAR: u32 = 40;
/// Number of days after which a todo is done.
const DONE_AFTER: u32 = 7;

/// The state at the end of a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LifecycleWeek {
    /// Number of memories saved since the start.
    pub saved: u64,
    /// Number of active memories.
    pub active: u64,
    /// Number of cooling memories.
    pub cooling: u64,
    /// Number of archived memories.
    pub archived: u64,
}

/// A life and its result.
#[derive(Debug, Default)]
pub struct LifecycleSimulation {
    /// Every memory that was saved.
    pub saved: Vec<MemoryId>,
    /// The memories in regular use.
    pub regular: Vec<MemoryId>,
    /// The state at the end of each week.
    pub weeks: Vec<LifecycleWeek>,
    /// Number of memories archived in all, as reported by the rules.
    pub archived: u64,
}

/// Runs a life of this many days. `each_day` may change the clock before rules are applied.
pub fn live(
    engine: &Engine,
    caller: &Caller,
    clock: &ManualClock,
    days: u32,
    seed: u64,
    mut each_day: impl FnMut(u32),
) -> LifecycleSimulation {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut life = LifecycleSimulation::default();
    let mut names: Vec<String> = Vec::new();
    let mut todos: VecDeque<(u32, MemoryId)> = VecDeque::new();
    for day in 1..=days {
        for note in 0..random.u32(3..=6) {
            let name = format!("n{day}x{note}");
            let request = something(&name, &mut random);
            let memory_type = request.memory_type;
            let lasting = memory_type == Some(MemoryType::Identity);
            let id = engine.save(caller, request).expect("saved").memory.id;
            life.saved.push(id);
            if memory_type == Some(MemoryType::Todo) {
                todos.push_back((day + DONE_AFTER, id));
            }
            if !lasting && random.u32(..REGULAR) == 0 {
                life.regular.push(id);
                names.push(name);
            }
        }
        for name in &names {
            if random.u32(..USED_EVERY) == 0 {
                use_it(engine, caller, name);
            }
        }
        while let Some((_, id)) = todos.pop_front_if(|(due, _)| *due <= day) {
            engine.done(caller, id.into(), None).expect("closed");
        }
        clock.advance(DAY);
        each_day(day);
        life.archived += tend(engine).map_or(0, |tended| tended.archived);
        if day % 7 == 0 {
            life.weeks.push(week(engine, caller, life.saved.len() as u64));
        }
    }
    life
}

/// Applies the rules as a server does, if they are due.
pub fn tend(engine: &Engine) -> Option<TendingResult> {
    engine.tend_due("a life", DAY / 2, &mut || true).expect("tended")
}

/// Creates something that an agent learns on a day. Most of these memories are short-lived.
fn something(name: &str, random: &mut fastrand::Rng) -> SaveRequest {
    let (memory_type, stability, importance) = match random.u32(..100) {
        0..=29 => (MemoryType::Todo, Stability::Volatile, 0.3),
        30..=49 => (MemoryType::Event, Stability::Volatile, 0.5),
        50..=64 => (MemoryType::Observation, Stability::Evolving, 0.4),
        65..=84 => (MemoryType::Fact, Stability::Evolving, 0.5),
        85..=91 => (MemoryType::Decision, Stability::Evolving, 0.8),
        92..=96 => (MemoryType::Preference, Stability::Stable, 0.7),
        97..=98 => (MemoryType::Fact, Stability::Stable, 0.5),
        _ => (MemoryType::Identity, Stability::Stable, 1.0),
    };
    SaveRequest {
        memory_type: Some(memory_type),
        stability: Some(stability),
        importance: Some(importance),
        ..SaveRequest::new(format!("What was learnt, called {name}."))
    }
}

fn use_it(engine: &Engine, caller: &Caller, name: &str) {
    let mode = Mode::Substring(format!("called {name}."));
    let request = RecallRequest { mode, filter: Filter::default(), sort: None, limit: 1 };
    engine.recall(caller, &request).expect("an answer");
}

fn week(engine: &Engine, caller: &Caller, saved: u64) -> LifecycleWeek {
    let count = |state| {
        let filter = Filter { states: vec![state], ..Filter::default() };
        engine.count(caller, &filter).expect("a count")
    };
    LifecycleWeek {
        saved,
        active: count(State::Active),
        cooling: count(State::Cooling),
        archived: count(State::Archived),
    }
}

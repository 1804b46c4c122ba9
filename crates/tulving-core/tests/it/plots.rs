//! The plots of `docs/lifecycle`, made from the rules themselves. `cargo xtask plot` writes them; these tests check that
//! they match the rules.

use std::path::Path;

use tulving_core::background::lifecycle::rules::IdleDays;
use tulving_core::model::memory::{Classification, Status, Usage};
use tulving_core::model::score::Importance;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Kind, MemoryType, Stability, State};
use tulving_core::rank::decay;
use tulving_testkit::life::LifecycleWeek;
use tulving_testkit::plot::{Axes, PlotLine, areas, lines};

/// Writes a plot if that is requested, otherwise compares it with the file.
#[track_caller]
pub(crate) fn shows(name: &str, svg: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lifecycle").join(name);
    if std::env::var_os("PLOTS").is_some_and(|value| value == "write") {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(&path, svg).expect("written");
        return;
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(there == svg, "docs/lifecycle/{name} is not as the rules are; `cargo xtask plot` rewrites it");
}

/// Plots the numbers of active, cooling and archived memories, week by week.
pub(crate) fn two_years(weeks: &[LifecycleWeek]) -> String {
    let most = weeks.iter().map(|week| week.saved).max().unwrap_or(1);
    let line = |of: fn(&LifecycleWeek) -> u64| -> Vec<(f64, f64)> {
        (1..).zip(weeks).map(|(n, week)| (f64::from(n), as_float(of(week)))).collect()
    };
    let axes = Axes {
        title: "Two years of an agent: what was saved, by where it stands",
        across: ("weeks", as_float(weeks.len() as u64)),
        up: ("memories", as_float(most.div_ceil(400) * 400)),
    };
    let stacked: [PlotLine<'_>; 3] = [
        ("active", line(|week| week.active)),
        ("cooling", line(|week| week.cooling)),
        ("archived", line(|week| week.archived)),
    ];
    areas(axes, &stacked)
}

fn as_float(count: u64) -> f64 {
    f64::from(u32::try_from(count).expect("few"))
}

fn importance(memory_type: MemoryType, stability: Stability, base: f64, idle: u32, uses: u64) -> f64 {
    let importance = Importance::new(base).expect("an importance");
    let class = Classification { memory_type, kind: Kind::Semantic, stability, importance };
    let (then, now) = (Timestamp::from_micros(0), Timestamp::from_micros(i64::from(idle) * 86_400_000_000));
    let usage = Usage { created_at: then, updated_at: then, accessed_at: then, access_count: uses };
    decay::importance(&class, &usage, &Status::new(State::Active), now)
}

fn over(days: u32, value: impl Fn(u32) -> f64) -> Vec<(f64, f64)> {
    (0..=days).step_by(5).map(|day| (f64::from(day), value(day))).collect()
}

#[test]
fn importance_fades_by_stability_and_type() {
    let axes = |title| Axes { title, across: ("days without use", 720.0), up: ("importance", 1.0) };
    let of = |stability| over(720, |day| importance(MemoryType::Fact, stability, 0.5, day, 0));
    let by_stability: [PlotLine<'_>; 3] = [
        ("stable", of(Stability::Stable)),
        ("evolving", of(Stability::Evolving)),
        ("volatile", of(Stability::Volatile)),
    ];
    shows(
        "importance-by-stability.svg",
        &lines(axes("A fact of importance 0.5, by stability"), &by_stability),
    );
    let of =
        |memory_type, base| over(720, move |day| importance(memory_type, Stability::Evolving, base, day, 0));
    let by_type: [PlotLine<'_>; 6] = [
        ("identity, 1.0", of(MemoryType::Identity, 1.0)),
        ("decision, 0.8", of(MemoryType::Decision, 0.8)),
        ("preference, 0.7", of(MemoryType::Preference, 0.7)),
        ("fact, 0.5", of(MemoryType::Fact, 0.5)),
        ("observation, 0.4", of(MemoryType::Observation, 0.4)),
        ("todo, 0.3", of(MemoryType::Todo, 0.3)),
    ];
    shows(
        "importance-by-type.svg",
        &lines(axes("Evolving memories with the importance of their type"), &by_type),
    );
}

#[test]
fn use_adds_less_each_time() {
    let axes =
        Axes { title: "What use adds to the importance", across: ("uses", 100.0), up: ("added", 0.25) };
    let gained = (0..=100_u32).map(|uses| (f64::from(uses), decay::gain(u64::from(uses)))).collect();
    shows("gain.svg", &lines(axes, &[("gain", gained)]));
}

#[test]
fn use_lengthens_the_time_until_a_memory_cools() {
    let axes =
        Axes { title: "Idle days after which a memory cools", across: ("uses", 40.0), up: ("days", 2_000.0) };
    let of = |stability| {
        let days = |uses| IdleDays::default().days(stability, u64::from(uses)).expect("it cools");
        (0..=40_u32).map(|uses| (f64::from(uses), days(uses))).collect()
    };
    let by_stability: [PlotLine<'_>; 3] = [
        ("stable", of(Stability::Stable)),
        ("evolving", of(Stability::Evolving)),
        ("volatile", of(Stability::Volatile)),
    ];
    shows("patience.svg", &lines(axes, &by_stability));
}

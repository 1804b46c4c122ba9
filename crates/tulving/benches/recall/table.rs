//! The tables, in Markdown.

use std::fs;

use crate::system::Row;
use crate::{OURS, System};

/// A line about the machine.
pub(crate) fn machine() -> anyhow::Result<()> {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let name = name.map_or("unknown CPU", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism()?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    println!("{cores} cores, {name}; load {load} before the run. One thread for each system, p50 / p99.\n");
    Ok(())
}

/// The share of the nearest real vectors that the vector lane finds.
pub(crate) fn real(share: f64) {
    println!("recall@10 of the vector lane among 20,000 real embeddings: {share:.4}\n");
}

pub(crate) fn print(size: usize, systems: &[System]) {
    println!("### {} memories\n", grouped(size));
    let ours = systems.iter().find(|system| system.name == OURS);
    let mut columns = vec!["".to_owned()];
    for system in systems {
        columns.push(format!("{} {}", system.name, system.version).trim().to_owned());
        if !system.index_times.is_empty() {
            columns.push("its index alone".to_owned());
        }
    }
    line(&columns);
    line(&vec!["---".to_owned(); columns.len()]);
    for row in Row::ALL {
        let base = ours.and_then(|ours| percentile(ours.times.get(&row)?, 50));
        each(row.title(), systems, |system| {
            let mut cells = vec![times(system, system.times.get(&row), base)];
            if let Some(index) = system.index_times.get(&row) {
                cells.push(times(system, Some(index), None));
            }
            cells
        });
    }
    one("recall@10 of the vectors against exact", systems, |system| format!("{:.4}", system.recall));
    one("open and first answer, cold files / warm", systems, |system| {
        format!("{} / {}", seconds(system.first.0), seconds(system.first.1))
    });
    one("resident: own + pages of files", systems, |system| {
        format!("{} + {} MB", system.memory.own / 1_024, system.memory.files / 1_024)
    });
    one("on disk, one space", systems, |system| format!("{:.0} MB", system.loaded.bytes as f64 / 1e6));
    one("loading, one space", systems, |system| match system.loaded.index_seconds {
        0.0 => seconds(system.loaded.seconds),
        index => format!("{} and {} of folding", seconds(system.loaded.seconds), seconds(index)),
    });
    for system in systems {
        if let Some(why) = &system.loaded.not_reached {
            println!("\n{}: {why}.", system.name);
        }
    }
    println!();
}

/// A line with one cell for each system, without a cell for its index.
fn one(title: &str, systems: &[System], cell: impl Fn(&System) -> String) {
    each(title, systems, |system| {
        let mut cells = vec![match system.loaded.not_reached {
            None => cell(system),
            Some(_) => "not reached".to_owned(),
        }];
        if !system.index_times.is_empty() {
            cells.push(String::new());
        }
        cells
    });
}

fn each(title: &str, systems: &[System], cells: impl Fn(&System) -> Vec<String>) {
    let mut all = vec![title.to_owned()];
    all.extend(systems.iter().flat_map(cells));
    line(&all);
}

fn line(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}

/// p50 and p99, and their ratio to those of Tulving.
fn times(system: &System, times: Option<&Vec<f64>>, ours: Option<f64>) -> String {
    let figures = times.and_then(|times| Some((percentile(times, 50)?, percentile(times, 99)?)));
    let Some((p50, p99)) = figures else {
        return "not reached".to_owned();
    };
    let ratio = match ours {
        Some(ours) if system.name != OURS => format!(" ({:.1}×)", p50 / ours),
        _ => String::new(),
    };
    format!("{} / {} ms{ratio}", milliseconds(p50), milliseconds(p99))
}

fn percentile(times: &[f64], percent: usize) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() * percent / 100).copied()
}

fn milliseconds(time: f64) -> String {
    if time < 10.0 { format!("{time:.2}") } else { format!("{time:.0}") }
}

fn seconds(time: f64) -> String {
    match time {
        time if time < 1.0 => format!("{:.0} ms", time * 1e3),
        time if time < 10.0 => format!("{time:.1} s"),
        time => format!("{time:.0} s"),
    }
}

fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let places = digits.len();
    let commas =
        digits.chars().enumerate().map(|(at, digit)| match at > 0 && (places - at).is_multiple_of(3) {
            true => format!(",{digit}"),
            false => digit.to_string(),
        });
    commas.collect()
}

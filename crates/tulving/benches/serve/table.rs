//! The table, in Markdown.

use std::fs;

use crate::{Options, System};

/// The load of the machine.
pub(crate) fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

pub(crate) fn print(
    options: &Options,
    load_before: &str,
    ceiling: Option<f64>,
    systems: &[System],
) -> anyhow::Result<()> {
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let name = name.map_or("unknown CPU", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism()?;
    println!("{cores} cores, {name}; load {load_before} before the run, {} after it.", load());
    println!(
        "{} memories, {} clients, {} s each.",
        options.memories,
        options.clients,
        options.time.as_secs()
    );
    if let Some(ceiling) = ceiling {
        println!(
            "Where an answer costs next to nothing (/healthz), the clients make {ceiling:.0} requests/s."
        );
    }
    println!();
    line("", systems, |system| system.name.clone());
    line("---", systems, |_| "---".to_owned());
    let peer = systems.iter().find(|system| system.is_peer());
    line("requests/s", systems, |system| {
        // The ratio to the peer.
        let ratio = |peer: &System| format!(" ({:.2}×)", rate(system) / rate(peer));
        let ratio = peer.filter(|_| !system.is_peer()).map(ratio).unwrap_or_default();
        format!("{:.0}{ratio}", rate(system))
    });
    line("recall, p50 / p90 / p99 / max", systems, |system| times(&system.measured.recalls));
    line("save, p50 / p90 / p99 / max", systems, |system| times(&system.measured.saves));
    // An error would have ended the run.
    line("errors", systems, |_| "0".to_owned());
    line("cores taken, server + clients", systems, |system| {
        let measured = &system.measured;
        format!("{:.2} + {:.2}", measured.server / measured.seconds, measured.clients / measured.seconds)
    });
    line("processor time of the server for a request", systems, |system| {
        let measured = &system.measured;
        let requests = (measured.recalls.len() + measured.saves.len()) as f64;
        format!("{:.2} ms", measured.server / requests * 1e3)
    });
    line("resident before: own + pages of files", systems, |system| {
        format!("{} + {} MB", system.before.own, system.before.files)
    });
    line("resident after", systems, |system| format!("{} + {} MB", system.after.own, system.after.files));
    line("saves acknowledged", systems, |system| system.acknowledged.len().to_string());
    line("of these missing before / after a restart", systems, |system| {
        format!("{} / {}", system.lost, system.lost_after_restart)
    });
    Ok(())
}

fn rate(system: &System) -> f64 {
    (system.measured.recalls.len() + system.measured.saves.len()) as f64 / system.measured.seconds
}

fn line(title: &str, systems: &[System], cell: impl Fn(&System) -> String) {
    let cells: Vec<String> = systems.iter().map(cell).collect();
    println!("| {title} | {} |", cells.join(" | "));
}

fn times(times: &[f64]) -> String {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let at = |percent: usize| sorted.get((sorted.len() * percent / 100).min(last)).copied();
    let shown = [50, 90, 99, 100].map(|percent| format!("{:.0}", at(percent).unwrap_or_default()));
    format!("{} ms", shown.join(" / "))
}

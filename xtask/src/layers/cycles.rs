//! The top-level modules of a crate do not use each other in a circle.
//!
//! A name that the root of the crate re-exports counts as a use of the module that it comes from. Items that the root itself defines
//! belong to no module and are not counted.

use std::collections::{BTreeMap, BTreeSet};

use super::shipped::ShippedFile;
use super::uses::{self, Use};
use crate::finding::CheckFinding;
use crate::source::{PathName, names_above, names_under, re_exports};

/// The crates without cycles. A crate is added when its cycles are gone. `tulving-core` has a rule of its own in
/// [`modules`](super::modules): most of its groups have no cycles, and the groups have an order.
pub(super) const CHECKED: &[&str] = &[
    "tulving",
    "tulving-dialects",
    "tulving-models",
    "tulving-server",
    "tulving-store",
    "tulving-testkit",
    "tulving-text",
    "xtask",
];

/// The folders of these crates whose modules are checked like those of a crate, with the path of the folder's module.
pub(super) const FOLDERS: &[(&str, &str)] = &[("crates/tulving-text/src/classify", "crate::classify")];

/// Returns a finding for each cycle of the crate in `folder`.
pub(super) fn check(folder: &str, files: &[ShippedFile]) -> Vec<CheckFinding> {
    let place = |file| uses::place(folder, file);
    let modules: BTreeSet<&str> = files.iter().filter_map(|file| Some(place(&file.file)?.0)).collect();
    let is_module = |name: &str| modules.contains(name);
    let roots = files.iter().filter(|file| place(&file.file).is_none());
    let origins: BTreeMap<&str, &str> = roots.flat_map(|file| re_exports(&file.code)).collect();
    let mut all = Vec::new();
    for file in files {
        let Some((module, depth)) = place(&file.file) else {
            continue;
        };
        all.extend(uses::read(file, module, depth, &is_module).into_iter().map(|used| {
            let to =
                if is_module(used.to) { used.to } else { origins.get(used.to).copied().unwrap_or(used.to) };
            Use { to, ..used }
        }));
    }
    find(all.iter().filter(|used| is_module(used.to)))
}

/// Returns a finding for each cycle among the modules directly in `folder`. `root` is the path of the folder's own
/// module.
pub(super) fn check_folder(folder: &str, root: &str, files: &[ShippedFile]) -> Vec<CheckFinding> {
    let place = |file| uses::place(folder, file).filter(|(module, _)| *module != "mod");
    let modules: BTreeSet<&str> = files.iter().filter_map(|file| Some(place(&file.file)?.0)).collect();
    let mut all = Vec::new();
    for file in files {
        let Some((module, depth)) = place(&file.file) else {
            continue;
        };
        let named = names_under(&file.code, root).into_iter().chain(names_above(&file.code, depth));
        all.extend(named.map(|PathName { name, line }| Use {
            file: &file.file,
            line,
            from: module,
            to: name,
        }));
    }
    find(all.iter().filter(|used| modules.contains(used.to)))
}

/// Returns a finding for each cycle that a walk along these uses meets, at the first use that closes it.
fn find<'a>(uses: impl Iterator<Item = &'a Use<'a>>) -> Vec<CheckFinding> {
    let mut edges: BTreeMap<&str, BTreeMap<&str, &Use<'_>>> = BTreeMap::new();
    for used in uses.filter(|used| used.from != used.to) {
        edges.entry(used.from).or_default().entry(used.to).or_insert(used);
    }
    let mut walk = Walk { edges: &edges, trail: Vec::new(), done: Vec::new(), findings: Vec::new() };
    for module in edges.keys() {
        walk.visit(module);
    }
    walk.findings
}

struct Walk<'a> {
    edges: &'a BTreeMap<&'a str, BTreeMap<&'a str, &'a Use<'a>>>,
    trail: Vec<&'a str>,
    done: Vec<&'a str>,
    findings: Vec<CheckFinding>,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, module: &'a str) {
        if self.done.contains(&module) {
            return;
        }
        self.trail.push(module);
        for (next, used) in self.edges.get(module).into_iter().flatten() {
            if let Some(start) = self.trail.iter().position(|seen| seen == next) {
                let round = self.trail[start..].join("` → `");
                let text = format!("the modules use each other in a circle: `{round}` → `{next}`");
                self.findings.push(CheckFinding::at(used.file, used.line, text));
            } else {
                self.visit(next);
            }
        }
        self.trail.pop();
        self.done.push(module);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let file = |(file, code): &(&str, &str)| ShippedFile {
            file: format!("src/{file}"),
            code: (*code).to_owned(),
        };
        let files: Vec<ShippedFile> = files.iter().map(file).collect();
        check("src", &files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn one_way_is_fine() {
        let files = [
            ("main.rs", "mod a; mod b; use a::A;"),
            ("a.rs", "use crate::b::B;"),
            ("b/mod.rs", "use super::b::inner; use crate::b::inner;"),
            ("b/inner.rs", "use super::C; use crate::b::D;"),
        ];
        assert_eq!(told(&files), [""; 0]);
    }

    #[test]
    fn a_circle_is_found_in_folders_and_with_super() {
        let files = [
            ("a/deep.rs", "use super::super::b::B;"),
            ("b.rs", "use super::c::C;"),
            ("c.rs", "\nuse crate::{a::deep, d};"),
            ("d.rs", ""),
        ];
        assert_eq!(
            told(&files),
            ["src/c.rs:2: the modules use each other in a circle: `a` → `b` → `c` → `a`"]
        );
    }

    #[test]
    fn a_re_export_of_the_root_hides_nothing() {
        let files = [
            ("lib.rs", "pub use a::{A, inner::B as C};"),
            ("a.rs", "use crate::b::f;"),
            ("b.rs", "use crate::C;"),
        ];
        assert_eq!(told(&files), ["src/b.rs:1: the modules use each other in a circle: `a` → `b` → `a`"]);
    }

    #[test]
    fn items_of_the_root_are_no_module() {
        let files = [("lib.rs", "pub enum Root { A }\nuse a::A;"), ("a.rs", "use crate::Root;")];
        assert_eq!(told(&files), [""; 0]);
    }
}

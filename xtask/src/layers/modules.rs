//! Which module of `tulving-core` may use which.
//!
//! Modules stand in groups, and a group uses only itself and those before it. Within a group there
//! is no cycle, except among the words, which describe one another.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::repository::Source;
use crate::source::{code_only, names_above, names_under, shipped_only};

pub(super) const FOLDER: &str = "crates/tulving-core/src";

/// This file, for messages that ask for a change in its table.
const TABLE: &str = "xtask/src/layers/modules.rs";

struct Group {
    name: &'static str,
    modules: &'static [&'static str],
    may_cycle: bool,
}

/// From the inside out: a group may use itself and those above it in this list.
const GROUPS: [Group; 6] = [
    Group {
        name: "words",
        modules: &[
            "id",
            "time",
            "score",
            "vocabulary",
            "memory",
            "life",
            "space",
            "association",
            "turn",
            "job",
            "change",
            "claim",
            "file",
            "foreign",
            "audit",
            "backend",
            "record",
            "request",
            "answer",
            "error",
            "limits",
            "llm",
            "pass",
            "preview",
            "search",
        ],
        may_cycle: true,
    },
    Group { name: "ports", modules: &["ports"], may_cycle: false },
    Group { name: "pure", modules: &["text", "classify", "rank", "lifecycle"], may_cycle: false },
    Group {
        name: "paths",
        modules: &[
            "access",
            "succession",
            "retract",
            "adopt",
            "ask",
            "embedding",
            "save",
            "recall",
            "edit",
            "forget",
            "follow",
            "once",
            "relocate",
            "standing",
            "done",
            "associate",
            "backends",
            "briefing",
            "related",
            "read",
            "history",
            "timeline",
            "directory",
            "conversation",
            "jobs",
            "touch",
            "transfer",
            "usage",
            "objects",
            "push",
            "quality",
            "import",
            "process",
            "tend",
            "review",
        ],
        may_cycle: false,
    },
    Group { name: "journal and passes", modules: &["journal", "ledger", "passes"], may_cycle: false },
    Group { name: "engine", modules: &["engine"], may_cycle: false },
];

/// One module using another, and where it does so first.
struct Use<'a> {
    file: &'a str,
    line: usize,
    from: &'a str,
    to: String,
}

/// What in these files of [`FOLDER`] breaks the order. `lib.rs` is the front door and names everything.
pub(super) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut uses = Vec::new();
    for source in sources {
        let Some((module, depth)) = place(&source.file) else {
            continue;
        };
        if group_of(module).is_none() {
            let text = format!("the module `{module}` is in no group; add it to the table in {TABLE}");
            findings.push(Finding::about(&source.file, text));
            continue;
        }
        read_uses(source, module, depth, &mut uses, &mut findings);
    }
    findings.extend(uses.iter().filter_map(against_the_order));
    findings.extend(cycles(&uses));
    findings
}

/// The top-level module that a file belongs to and how deep its own module lies below the root.
fn place(file: &str) -> Option<(&str, usize)> {
    let path = file.strip_prefix(FOLDER)?.strip_prefix('/')?.strip_suffix(".rs")?;
    if path == "lib" {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| *part != "mod").collect();
    Some((parts.first()?, parts.len()))
}

fn group_of(module: &str) -> Option<usize> {
    GROUPS.iter().position(|group| group.modules.contains(&module))
}

fn read_uses<'a>(
    source: &'a Source,
    module: &'a str,
    depth: usize,
    uses: &mut Vec<Use<'a>>,
    findings: &mut Vec<Finding>,
) {
    let code = shipped_only(&code_only(&source.text));
    for named in names_under(&code, "crate") {
        if group_of(named.name).is_some() {
            uses.push(Use { file: &source.file, line: named.line, from: module, to: named.name.to_owned() });
        } else {
            // A name that `lib.rs` re-exports would hide which module is meant.
            let text = format!(
                "`crate::{}` is no module of the table in {TABLE}; name the module it is in",
                named.name
            );
            findings.push(Finding::at(&source.file, named.line, text));
        }
    }
    // Inside an inline module the same words may stop short of the root, so only what is certainly
    // a module counts.
    let climbing = names_above(&code, depth).into_iter().filter(|named| group_of(named.name).is_some());
    uses.extend(climbing.map(|named| Use {
        file: &source.file,
        line: named.line,
        from: module,
        to: named.name.to_owned(),
    }));
}

fn against_the_order(used: &Use<'_>) -> Option<Finding> {
    let (from, to) = (group_of(used.from)?, group_of(&used.to)?);
    (to > from).then(|| {
        let text = format!(
            "`{}` ({}) may not use `{}` ({}), which stands further out",
            used.from, GROUPS[from].name, used.to, GROUPS[to].name
        );
        Finding::at(used.file, used.line, text)
    })
}

/// One finding for each cycle that a walk along the uses comes upon.
fn cycles(uses: &[Use<'_>]) -> Vec<Finding> {
    let mut edges: BTreeMap<&str, BTreeMap<&str, &Use<'_>>> = BTreeMap::new();
    for used in uses {
        let group = group_of(used.from);
        let bound = group.is_some_and(|at| !GROUPS[at].may_cycle);
        if bound && group == group_of(&used.to) && used.from != used.to {
            edges.entry(used.from).or_default().entry(&used.to).or_insert(used);
        }
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
    findings: Vec<Finding>,
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
                self.findings.push(Finding::at(used.file, used.line, text));
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
        let sources: Vec<Source> = files
            .iter()
            .map(|(file, text)| Source { file: format!("{FOLDER}/{file}"), text: (*text).to_owned() })
            .collect();
        check(&sources).iter().map(|f| f.to_string().replace(&format!("{FOLDER}/"), "")).collect()
    }

    #[test]
    fn inward_is_fine() {
        let files = [
            ("lib.rs", "pub use engine::Engine; use crate::anything;"),
            ("engine.rs", "use crate::{save, ports::Store};"),
            ("save/mod.rs", "use crate::text::normalize; use super::intake;"),
            ("save/intake.rs", "use crate::memory::Memory; use super::dedupe; use crate::save::assemble;"),
            ("rank/fuse.rs", "//! Before [`recall`](crate::recall).\nuse crate::score::Score;"),
        ];
        assert_eq!(told(&files), [""; 0]);
    }

    #[test]
    fn outward_is_named_with_its_line() {
        assert_eq!(
            told(&[("rank/fuse.rs", "use crate::score::Score;\nuse crate::recall::plan;")]),
            ["rank/fuse.rs:2: `rank` (pure) may not use `recall` (paths), which stands further out"]
        );
    }

    #[test]
    fn climbing_out_with_super_is_outward_too() {
        assert_eq!(told(&[("memory.rs", "use super::engine::Engine;")]).len(), 1);
        assert_eq!(told(&[("rank/fuse.rs", "use super::super::engine::Engine;")]).len(), 1);
        assert_eq!(told(&[("rank/fuse.rs", "use super::engine::Engine;")]), [""; 0]);
    }

    #[test]
    fn words_may_name_each_other() {
        assert_eq!(
            told(&[("memory.rs", "use crate::space::S;"), ("space.rs", "use crate::memory::M;")]),
            [""; 0]
        );
    }

    #[test]
    fn a_circle_of_paths_is_told_once() {
        let files = [
            ("save/mod.rs", "use crate::access::a;"),
            ("access.rs", "\nuse crate::forget::f;"),
            ("forget.rs", "use crate::save::s;"),
        ];
        assert_eq!(
            told(&files),
            [
                "save/mod.rs:1: the modules use each other in a circle: `access` → `forget` → `save` → `access`"
            ]
        );
    }

    #[test]
    fn tests_at_the_foot_are_free() {
        assert_eq!(
            told(&[("rank/fuse.rs", "#[cfg(test)]\nmod tests { use crate::engine::Engine; }")]),
            [""; 0]
        );
    }

    #[test]
    fn a_new_module_asks_for_its_place() {
        assert_eq!(
            told(&[("gossip/mod.rs", "use crate::engine::Engine;")]),
            [
                "gossip/mod.rs: the module `gossip` is in no group; add it to the table in xtask/src/layers/modules.rs"
            ]
        );
    }

    #[test]
    fn the_front_door_is_not_for_those_inside() {
        let told = told(&[("rank/mod.rs", "use crate::Engine;")]);
        assert!(told[0].starts_with("rank/mod.rs:1: `crate::Engine` is no module"), "{told:?}");
    }
}

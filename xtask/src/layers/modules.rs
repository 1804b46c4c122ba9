//! The layers inside `tulving-core`: its folders.
//!
//! A folder uses only itself and the folders before it. The modules in a folder do not use each other in a circle,
//! except in the first folder, whose types refer to each other.

use super::cycles;
use super::shipped::ShippedFile;
use super::uses::{self, Use};
use crate::finding::CheckFinding;

pub(super) const FOLDER: &str = "crates/tulving-core/src";

/// This file, for messages that ask for a change in its list.
const LIST: &str = "xtask/src/layers/modules.rs";

/// The folders from the inside out.
const LAYERS: [&str; 9] =
    ["model", "ports", "text", "rank", "verbs", "files", "background", "backends", "engine"];

/// Returns the uses in these files of [`FOLDER`] that break the rules. `lib.rs` may use every folder, because it
/// re-exports their items.
pub(super) fn check(sources: &[ShippedFile]) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for source in sources {
        let Some((folder, depth)) = uses::place(FOLDER, &source.file) else {
            continue;
        };
        if !is_layer(folder) {
            let text = format!("`{folder}` is not a layer; add it to the list in {LIST}");
            findings.push(CheckFinding::about(&source.file, text));
            continue;
        }
        let (between, others): (Vec<_>, Vec<_>) =
            uses::read(source, folder, depth, &is_layer).into_iter().partition(|used| is_layer(used.to));
        findings.extend(between.iter().filter_map(against_the_order));
        findings.extend(others.iter().map(not_a_module));
    }
    findings.extend(LAYERS.iter().skip(1).flat_map(|layer| cycles_within(layer, sources)));
    findings
}

fn level_of(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| *layer == folder)
}

fn is_layer(folder: &str) -> bool {
    level_of(folder).is_some()
}

/// Returns a finding for the use of a name that `lib.rs` re-exports, because such a use hides the module of the name.
fn not_a_module(used: &Use<'_>) -> CheckFinding {
    let text = format!("`crate::{}` is not a layer of the list in {LIST}; name the module it is in", used.to);
    CheckFinding::at(used.file, used.line, text)
}

fn against_the_order(used: &Use<'_>) -> Option<CheckFinding> {
    let (from, to) = (level_of(used.from)?, level_of(used.to)?);
    (to > from).then(|| {
        let text = format!("`{}` may not use `{}`, which is further out", used.from, used.to);
        CheckFinding::at(used.file, used.line, text)
    })
}

/// Returns a finding for each circle of modules in one folder.
fn cycles_within(layer: &str, sources: &[ShippedFile]) -> Vec<CheckFinding> {
    cycles::check_folder(&format!("{FOLDER}/{layer}"), &format!("crate::{layer}"), sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layers::shipped;
    use crate::repository::SourceFile;

    fn told(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<SourceFile> = files
            .iter()
            .map(|(file, text)| SourceFile { file: format!("{FOLDER}/{file}"), text: (*text).to_owned() })
            .collect();
        check(&shipped::read(&sources))
            .iter()
            .map(|f| f.to_string().replace(&format!("{FOLDER}/"), ""))
            .collect()
    }

    #[test]
    fn inward_is_fine() {
        let files = [
            ("lib.rs", "pub use engine::Engine; use crate::anything;"),
            ("engine.rs", "use crate::{verbs::save, ports::Store};"),
            ("verbs/save/mod.rs", "use crate::text::normalize; use super::access; use crate::model::id;"),
            (
                "verbs/save/intake.rs",
                "use crate::model::Memory; use super::dedupe; use crate::verbs::save::b;",
            ),
            ("rank/fuse.rs", "//! Before [`recall`](crate::verbs::recall).\nuse crate::model::Score;"),
        ];
        assert_eq!(told(&files), [""; 0]);
    }

    #[test]
    fn outward_is_named_with_its_line() {
        assert_eq!(
            told(&[("rank/fuse.rs", "use crate::model::Score;\nuse crate::verbs::recall::plan;")]),
            ["rank/fuse.rs:2: `rank` may not use `verbs`, which is further out"]
        );
    }

    #[test]
    fn climbing_out_with_super_is_outward_too() {
        assert_eq!(told(&[("ports.rs", "use super::engine::Engine;")]).len(), 1);
        assert_eq!(told(&[("rank/fuse.rs", "use super::super::engine::Engine;")]).len(), 1);
        assert_eq!(told(&[("rank/fuse.rs", "use super::engine::Engine;")]), [""; 0]);
    }

    #[test]
    fn types_of_the_model_may_name_each_other() {
        let files = [
            ("model/memory.rs", "use crate::model::space::S;"),
            ("model/space.rs", "use crate::model::memory::M;"),
        ];
        assert_eq!(told(&files), [""; 0]);
    }

    #[test]
    fn a_circle_of_verbs_is_reported_once() {
        let files = [
            ("verbs/mod.rs", "mod access; mod forget; mod save;"),
            ("verbs/save/mod.rs", "use crate::verbs::access::a;"),
            ("verbs/access.rs", "\nuse super::forget::f;"),
            ("verbs/forget.rs", "use crate::verbs::save::s;"),
        ];
        assert_eq!(
            told(&files),
            [
                "verbs/save/mod.rs:1: the modules use each other in a circle: `access` → `forget` → `save` → `access`"
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
    fn a_new_folder_asks_for_its_place() {
        assert_eq!(
            told(&[("gossip/mod.rs", "use crate::engine::Engine;")]),
            ["gossip/mod.rs: `gossip` is not a layer; add it to the list in xtask/src/layers/modules.rs"]
        );
    }

    #[test]
    fn the_front_door_is_not_for_those_inside() {
        let told = told(&[("rank/mod.rs", "use crate::Engine;")]);
        assert!(told[0].starts_with("rank/mod.rs:1: `crate::Engine` is not a layer"), "{told:?}");
    }
}

//! Missing data of memories: attachments that were removed or changed, mirrors without a file.

use std::fs;

use tempfile::{TempDir, tempdir};
use tulving_core::model::integrity::{Severity, StoreCheckDepth, StoreCheckFinding};
use tulving_core::model::memory::{Attachment, Mirror};
use tulving_core::ports::Objects as _;
use tulving_store::objects::LocalObjects;
use tulving_store::{PresenceCheck, SqliteStore, Workspace};
use tulving_testkit::objects::hash;

use crate::made::{apply, insert, memory, store};

struct PresenceBed {
    _folder: TempDir,
    store: SqliteStore,
    files: Workspace,
    objects: LocalObjects,
}

impl PresenceBed {
    fn new() -> Self {
        let folder = tempdir().expect("a folder");
        let store = store(&folder.path().join("home"));
        let files = Workspace::open(store.home(), &store.home().workspace());
        let objects = LocalObjects::new(store.home().objects());
        Self { _folder: folder, store, files, objects }
    }

    fn attach(&self, text: &str) -> String {
        let object_key = self.objects.put(text.as_bytes(), &hash(text.as_bytes())).expect("kept");
        let mut memory = memory(&format!("a document that says {text}"));
        memory.provenance.attachment = Some(Attachment {
            object_key: object_key.clone(),
            media_type: "text/plain".to_owned(),
            size: text.len() as u64,
            hash: hash(text.as_bytes()),
            name: Some("a.txt".to_owned()),
            trouble: None,
        });
        apply(&self.store, vec![insert(memory)]);
        object_key
    }

    fn look(&self, depth: StoreCheckDepth, name: &str) -> StoreCheckFinding {
        let check = PresenceCheck {
            store: &self.store,
            files: &self.files,
            objects: &self.objects,
            sizes: &self.objects,
        };
        let findings = check.look(depth).expect("looked at");
        findings.into_iter().find(|finding| finding.name == name).expect("looked at")
    }
}

#[test]
fn attachments_that_were_removed_cut_grown_or_flipped_are_found() {
    let bed = PresenceBed::new();
    assert_eq!(bed.look(StoreCheckDepth::Deep, "attachments").severity, Severity::Fine, "there are none");
    let keys = ["removed", "cut", "grown", "flipped", "sound"].map(|text| bed.attach(text));
    for depth in [StoreCheckDepth::Usual, StoreCheckDepth::Deep] {
        assert_eq!(bed.look(depth, "attachments").severity, Severity::Fine);
    }
    let path = |at: usize| bed.store.home().objects().join(&keys[at]);
    fs::remove_file(path(0)).expect("removed");
    fs::write(path(1), "c").expect("written");
    fs::write(path(2), "grown and more").expect("written");
    fs::write(path(3), "flopped").expect("written");
    let usual = bed.look(StoreCheckDepth::Usual, "attachments");
    assert_eq!(usual.severity, Severity::Bad);
    for (at, number) in [(0, 1), (1, 2), (2, 3)] {
        assert!(usual.text.contains(&format!("#{number} of default")), "{}", usual.text);
        assert!(usual.text.contains(&keys[at]), "{}", usual.text);
    }
    assert!(usual.text.contains("is missing") && usual.hint.is_some(), "{}", usual.text);
    let deep = bed.look(StoreCheckDepth::Deep, "attachments");
    assert_eq!(deep.severity, Severity::Bad);
    for key in &keys[..4] {
        assert!(deep.text.contains(key), "{key}: {}", deep.text);
    }
    assert!(!deep.text.contains(&keys[4]), "{}", deep.text);
}

#[test]
fn many_that_are_missing_are_counted_and_not_all_named() {
    let bed = PresenceBed::new();
    for n in 0..30 {
        bed.attach(&format!("text {n}"));
    }
    fs::remove_dir_all(bed.store.home().objects().join("sha256")).expect("removed");
    let found = bed.look(StoreCheckDepth::Usual, "attachments");
    assert_eq!(found.text.matches("is missing").count(), 20, "{}", found.text);
    assert!(found.text.ends_with("; and 10 more"), "{}", found.text);
}

#[test]
fn mirrors_without_a_file_are_named() {
    let bed = PresenceBed::new();
    assert_eq!(bed.look(StoreCheckDepth::Usual, "files").severity, Severity::Fine);
    let mut entry = memory("an entry of a journal");
    entry.provenance.source_path = Some("memory/2026-05-27.md".to_owned());
    entry.provenance.mirror = Some(Mirror { line: 1, occurrence: 0 });
    let id = entry.id;
    apply(&bed.store, vec![insert(entry)]);
    let found = bed.look(StoreCheckDepth::Usual, "files");
    assert_eq!(found.severity, Severity::Warn);
    assert!(found.text.contains(&id.to_string()) && found.text.contains("no file memory/2026-05-27.md"));
    let path = bed.store.home().workspace().join("memory/2026-05-27.md");
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, "- an entry of a journal\n").expect("written");
    assert_eq!(bed.look(StoreCheckDepth::Usual, "files").severity, Severity::Fine);
}

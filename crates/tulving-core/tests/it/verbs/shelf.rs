//! The files of a space: made, read, listed and removed by its members.

use tulving_core::files::workspace::FileWriteMode;
use tulving_core::model::error::{Error, FileError, Invalid};
use tulving_core::model::vocabulary::{Role, SpaceKind};
use tulving_core::ports::Files as _;

use crate::bed::{Bed, refused};

#[test]
fn members_make_read_list_and_remove_files() {
    let bed = Bed::new();
    let group = bed.space("kitchen", SpaceKind::Group);
    let cook = bed.member("cook", group, Role::Writer);
    let guest = bed.member("guest", group, Role::Reader);
    let made = bed.engine.put_file(&cook, "lists/shopping.md", "- milk\n", FileWriteMode::New).expect("made");
    assert_eq!((made.path.as_str(), made.size), ("groups/kitchen/lists/shopping.md", 7));
    refused!(
        bed.engine.put_file(&cook, "lists/shopping.md", "- tea\n", FileWriteMode::New),
        Error::File(FileError::Exists { .. })
    );
    bed.engine.put_file(&cook, "lists/shopping.md", "- tea\n", FileWriteMode::Any).expect("replaced");
    assert_eq!(bed.engine.file(&guest, "lists/shopping.md").expect("read").content, "- tea\n");
    let file_list = bed.engine.files(&guest).expect("listed");
    assert_eq!(file_list.folder, "groups/kitchen");
    assert_eq!(
        file_list.files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(),
        ["lists/shopping.md"]
    );
    assert_eq!(
        bed.engine.put_file(&guest, "x.md", "", FileWriteMode::Any).expect_err("refused").code(),
        "no_write_access"
    );
    assert_eq!(
        bed.engine.remove_file(&guest, "lists/shopping.md").expect_err("refused").code(),
        "no_write_access"
    );
    bed.engine.remove_file(&cook, "lists/shopping.md").expect("removed");
    refused!(bed.engine.remove_file(&cook, "lists/shopping.md"), Error::File(FileError::Absent { .. }));
    refused!(bed.engine.file(&cook, "lists/shopping.md"), Error::File(FileError::Absent { .. }));
}

#[test]
fn what_a_removed_file_said_before_goes_with_it() {
    let bed = Bed::new();
    let group = bed.space("kitchen", SpaceKind::Group);
    let cook = bed.member("cook", group, Role::Writer);
    let path = bed.path(&cook, "safe.md");
    for code in ["1234", "5678"] {
        bed.engine.put_file(&cook, "safe.md", code, FileWriteMode::Any).expect("written");
    }
    assert_eq!(bed.files.previous(&path).expect("read").len(), 1);
    bed.engine.remove_file(&cook, "safe.md").expect("removed");
    assert_eq!(bed.files.previous(&path).expect("read"), []);
    // Somebody has removed the file itself by hand.
    for code in ["1234", "5678"] {
        bed.engine.put_file(&cook, "safe.md", code, FileWriteMode::Any).expect("written");
    }
    bed.files.delete(&path);
    bed.engine.remove_file(&cook, "safe.md").expect("its previous texts are removed");
    assert_eq!(bed.files.previous(&path).expect("read"), []);
    refused!(bed.engine.remove_file(&cook, "safe.md"), Error::File(FileError::Absent { .. }));
}

#[test]
fn no_name_leads_out_of_the_folder_and_what_is_no_text_is_refused_by_name() {
    let bed = Bed::new();
    let group = bed.space("kitchen", SpaceKind::Group);
    let cook = bed.member("cook", group, Role::Writer);
    for name in ["../garden/plan.md", "/etc/passwd", "a/../../b", ".hidden", "a//b", ""] {
        let invalid = |result: Result<(), Error>| matches!(result, Err(Error::Invalid(_)));
        assert!(invalid(bed.engine.file(&cook, name).map(drop)), "{name}");
        assert!(invalid(bed.engine.put_file(&cook, name, "x", FileWriteMode::Any).map(drop)), "{name}");
        assert!(invalid(bed.engine.remove_file(&cook, name)), "{name}");
    }
    bed.edit(&cook, "picture.png", b"\x89PNG\0\0");
    refused!(bed.engine.file(&cook, "picture.png"), Error::File(FileError::NotText { name }) if name == "picture.png");
}

#[test]
fn of_a_workspace_itself_only_what_is_memory_is_shown() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "src/main.rs", "fn main() {}\n");
    bed.edit(&user, "memory/MEMORY.md", "- one\n");
    let names: Vec<String> =
        bed.engine.files(&user).expect("listed").files.into_iter().map(|file| file.name).collect();
    assert_eq!(names, ["memory/MEMORY.md"]);
    for name in ["src/main.rs", "groups/kitchen/x.md", "memory"] {
        refused!(bed.engine.file(&user, name), Error::Invalid(Invalid::FileOutside { .. }));
        refused!(
            bed.engine.put_file(&user, name, "x", FileWriteMode::Any),
            Error::Invalid(Invalid::FileOutside { .. })
        );
    }
}

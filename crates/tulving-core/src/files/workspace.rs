//! The files in the folder of a space. Members can create, read, list and remove them.

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::answer::{UnreadableFile, Warning, WarningMessage, with_messages};
use crate::model::error::{Error, Field, FileError, Invalid};
use crate::model::file::{self, FileEntry, FilePath, Folder};
use crate::model::limits;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::AuditAct;
use crate::ports::From;
use crate::verbs::access::{self, Ports};

use super::readable;

/// A file in the folder of a space.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FileInfo")]
pub struct WorkspaceFile {
    /// The path of the file below the folder.
    pub name: String,
    /// The path of the file below the workspace.
    pub path: String,
    /// The size of the file in bytes.
    pub size: u64,
    /// The time of the last change.
    pub modified_at: Timestamp,
    /// Parts of the new text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

impl WorkspaceFile {
    fn of(file: &FileEntry) -> Self {
        Self {
            name: file.path.name().to_owned(),
            path: file.path.to_string(),
            size: file.stamp.size,
            modified_at: file.stamp.modified_at(),
            warnings: Vec::new(),
        }
    }
}

/// The files of a folder.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FileList")]
pub struct WorkspaceFileList {
    /// The path of the folder below the workspace; empty for the workspace itself.
    pub folder: String,
    /// The files, by name. In the workspace itself, the files below `memory` come first.
    pub files: Vec<WorkspaceFile>,
    /// True if the folder contains more files.
    pub more: bool,
    /// Files that cannot be used, each with the reason.
    pub refused: Vec<UnreadableFile>,
}

/// A file and its text.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "FileContent")]
pub struct WorkspaceFileText {
    /// The file.
    #[serde(flatten)]
    pub file: WorkspaceFile,
    /// The text of the file. Bytes that are not text are shown as `�`.
    pub content: String,
}

/// The mode of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileWriteMode {
    /// The file must not exist yet.
    New,
    /// An existing file is replaced.
    Any,
}

/// Lists the files in the folder of the caller's space. In the workspace itself, only files of the memory are listed,
/// because the workspace may be somebody's own folder with many other files.
pub(crate) fn list(ports: &Ports, caller: &Caller) -> Result<WorkspaceFileList, Error> {
    let readable = readable(ports, caller)?;
    let name = readable.as_ref().map_or("", Folder::as_str).to_owned();
    let mut file_list =
        WorkspaceFileList { folder: name, files: Vec::new(), more: false, refused: Vec::new() };
    let Some(folder) = readable else { return Ok(file_list) };
    for below in folder.kept_below() {
        let listed = ports.files.list(&folder, below, limits::FILES_LISTED)?;
        file_list.files.extend(listed.files.iter().map(WorkspaceFile::of));
        file_list.more |= listed.more;
        let refused = listed.refused.into_iter().map(|(path, why)| UnreadableFile { path, why });
        file_list.refused.extend(refused);
    }
    Ok(file_list)
}

/// Returns a file with its text.
pub(crate) fn get(ports: &Ports, caller: &Caller, name: &str) -> Result<WorkspaceFileText, Error> {
    let folder = readable(ports, caller)?.ok_or_else(|| absent(name))?;
    let path = named(&folder, name)?;
    let found = ports.files.read(&path, limits::JOURNAL_SHOWN_BYTES)?;
    let found = found.ok_or_else(|| absent(name))?;
    if file::is_binary(&found.bytes) {
        return Err(FileError::NotText { name: crate::model::preview::short(name) }.into());
    }
    let content = super::text(&found.bytes);
    Ok(WorkspaceFileText { file: WorkspaceFile::of(&FileEntry { path, stamp: found.stamp }), content })
}

/// Creates or replaces a file.
pub(crate) fn put(
    ports: &Ports,
    caller: &Caller,
    name: &str,
    content: &str,
    writing: FileWriteMode,
) -> Result<WorkspaceFile, Error> {
    let (got, limit) = (content.len(), limits::FILE_BYTES);
    if got > limit {
        return Err(Invalid::TooLong { field: Field::File, got, limit, unit: "bytes" }.into());
    }
    let (space, right) = access::file_workplace(ports, caller)?;
    let path = named(&Folder::of(&space), name)?;
    let mut redactor = ports.redactor(&space);
    let content = redactor.file(content)?;
    super::audit(ports, caller, (&space, right), AuditAct::FileWritten, path.to_string())?;
    match writing {
        FileWriteMode::New => ports.files.create(&path, content.as_bytes())?,
        FileWriteMode::Any => {
            ports.files.replace(&path, content.as_bytes(), From::Any, Some(ports.clock.now()))?;
        }
    }
    let stamp = ports.files.stamp(&path)?.ok_or_else(|| absent(name))?;
    let warnings = redactor.withheld().warnings();
    Ok(WorkspaceFile { warnings, ..WorkspaceFile::of(&FileEntry { path, stamp }) })
}

/// Removes a file and its previous versions, so that erased text remains in no file of this home. If the file no longer
/// exists, the previous versions are still removed.
pub(crate) fn remove(ports: &Ports, caller: &Caller, name: &str) -> Result<(), Error> {
    let (space, right) = access::file_workplace(ports, caller)?;
    let path = named(&Folder::of(&space), name)?;
    super::audit(ports, caller, (&space, right), AuditAct::FileRemoved, path.to_string())?;
    let removed = ports.files.remove(&path, From::Any)?;
    let forgotten = ports.files.forget_previous(&path)?;
    if removed || forgotten > 0 { Ok(()) } else { Err(absent(name)) }
}

/// Returns the path of a file that members can name. In the workspace itself, members can name only files of the memory.
fn named(folder: &Folder, name: &str) -> Result<FilePath, Error> {
    Ok(FilePath::kept(folder, name)?)
}

fn absent(name: &str) -> Error {
    FileError::Absent { name: crate::model::preview::short(name) }.into()
}

//! Restores a whole home from a backup, either completely or not at all, while other processes have the home open.
//!
//! The backup is checked first: hashes, counts, and the database in it. Then the attachments are stored, which is
//! harmless because their names are their hashes, and the new files are staged. Replacing the database is the commit.
//! The new files are moved to their targets after the commit, while no other process can write. If a restore was
//! killed, [`pending`](crate::pending) finishes or reverts it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tulving_core::model::copy::{RestoreContent, StoreRestore};
use tulving_core::model::error::{ObjectError, StoreError};
use tulving_core::ports::{Clock, Objects, ObjectsHold, Rescue, RestoreSteps, SystemClock};

use super::{ConfigOutcome, ConfigTexts, HomeContent, RestoreReport, WrittenConfig, create, extent};
use crate::archive::{self, ArchiveEntry, BackupArchive, BackupCounts, is_archive};
use crate::draft::{self, DraftFile};
use crate::files;
use crate::home::{self, Home};
use crate::pending::{OWN_NAMES, PendingRestore, ReplaceScope};
use crate::sqlite::{first_copy, place_copy, refuse_unfit};
use crate::workspace::Workspace;

/// Options of a restore.
pub struct RestoreOptions<'a> {
    /// The folder to restore the files of the workspace to.
    pub workspace: &'a Path,
    /// Maximum time to wait for other processes before the restore fails.
    pub busy_wait: Duration,
    /// Converts the settings in the backup to the settings to write. Called only if the home has no settings: the same
    /// setting in both files is an error, so the settings of two homes are never mixed.
    pub config: &'a dyn Fn(ConfigTexts) -> ConfigTexts,
}

impl HomeContent<'_> {
    /// Replaces all content of the home with the content of a backup. A token that was ever revoked in this home stays
    /// revoked.
    ///
    /// Existing attachments stay, and the attachments of the backup are added. The previous content is stored as a
    /// whole backup in the home; a failed restore changes nothing else. A backup that is only a database replaces only
    /// the database.
    pub fn restore(
        &self,
        from: &Path,
        options: &RestoreOptions<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        refuse_taken(self.files.folder(), options.workspace)?;
        let content = OpenBackup::open(self.home, from, progress)?;
        let prepared = self.store.prepare_restore(content.database(from), from, progress)?;
        content.check(from, prepared.content())?;
        let staged = content.stage(self.home, options, self.objects, from, prepared.content().epoch)?;
        let mut around = HomeRestoreSteps { content: self, staged: &staged };
        let restored = prepared.commit(&mut around);
        let restored = restored.inspect_err(|_| staged.give_up())?;
        Ok(content.report(restored, &staged, None))
    }
}

/// A restore over a store that is too damaged to be opened or read.
pub struct DamagedStoreRestore<'a> {
    /// The home.
    pub home: &'a Home,
    /// The damaged store.
    pub store: &'a dyn Rescue,
    /// The workspace with the existing files.
    pub files: &'a Workspace,
    /// The store of the attachments.
    pub objects: &'a dyn Objects,
}

impl DamagedStoreRestore<'_> {
    /// Restores a backup over a damaged store. The damaged store is moved unchanged into the backups of the home; see
    /// [`Rescue`].
    pub fn restore(
        &self,
        from: &Path,
        options: &RestoreOptions<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        refuse_taken(self.files.folder(), options.workspace)?;
        let content = OpenBackup::open(self.home, from, progress)?;
        let mut prepared = None;
        let rescued = self.store.rescue(
            content.database(from),
            from,
            &mut |found| {
                content.check(from, found)?;
                let previous = self.keep_files(&content)?;
                let staged = content.stage(self.home, options, self.objects, from, found.epoch)?;
                prepared = Some((staged, previous));
                Ok(())
            },
            progress,
        );
        let (staged, previous) = prepared.unwrap_or_default();
        let restored = rescued.inspect_err(|_| staged.give_up())?;
        staged.finish()?;
        Ok(content.report(restored, &staged, previous))
    }

    /// Makes a backup of the files that the restore replaces.
    fn keep_files(&self, content: &OpenBackup) -> Result<Option<PathBuf>, StoreError> {
        if content.archive.is_none() {
            return Ok(None);
        }
        let first = first_copy(self.home, "damaged-files", ".tar", SystemClock.now())?;
        let draft = create::files_beside(self.home, self.files, &first)?;
        place_copy(draft, &first).map(Some)
    }
}

/// The content of a file to restore from.
struct OpenBackup {
    /// The content of the backup; `None` if the file is only a database.
    archive: Option<BackupArchive>,
    database: Option<DraftFile>,
}

impl OpenBackup {
    /// Reads a whole backup and compares it with its manifest. Copies its database into the home.
    fn open(home: &Home, from: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<Self, StoreError> {
        refuse_unfit(&home.database(), from)?;
        let unusable = |error: io::Error| StoreError::Unusable {
            path: from.to_owned(),
            verb: "restored",
            why: error.to_string(),
        };
        let file = File::open(from).map_err(unusable)?;
        if !is_archive(&file).map_err(unusable)? {
            return Ok(Self { archive: None, database: None });
        }
        let size = file.metadata().map_err(unusable)?.len();
        let archive =
            BackupArchive::verified(file, &mut |done| progress(done, size)).map_err(|why| bad(from, why))?;
        let mut database = DraftFile::beside(&home.database(), ".db")?;
        let entry =
            archive.entry(archive::DATABASE).ok_or_else(|| bad(from, "it has no database".to_owned()))?;
        archive
            .copy(entry, &mut database)
            .map_err(|error| files::unwritten(&home.database(), "written", &error))?;
        Ok(Self { archive: Some(archive), database: Some(database) })
    }

    /// Returns the file with the database.
    fn database<'a>(&'a self, from: &'a Path) -> &'a Path {
        self.database.as_ref().map_or(from, DraftFile::path)
    }

    /// Refuses a backup if its database does not match the counts in its manifest.
    fn check(&self, from: &Path, database: &RestoreContent) -> Result<(), StoreError> {
        let Some(archive) = &self.archive else {
            return Ok(());
        };
        let (manifest, memories) = (&archive.manifest, database.memories);
        if memories != manifest.counts.memories {
            let why = format!(
                "it is damaged: its database has {memories} memories, and its manifest says {}",
                manifest.counts.memories
            );
            return Err(bad(from, why));
        }
        let known: std::collections::HashSet<&str> = archive
            .below(archive::OBJECTS)
            .map(|(key, _)| key)
            .chain(manifest.left_out.iter().filter_map(|out| out.path.strip_prefix(archive::OBJECTS)))
            .collect();
        match database.attached.iter().find(|key| !known.contains(key.as_str())) {
            None => Ok(()),
            Some(key) => Err(bad(from, format!("it is damaged: the attachment {key} is not in it"))),
        }
    }

    /// Stores the attachments and stages the files, so that only the commit is left to do.
    fn stage(
        &self,
        home: &Home,
        options: &RestoreOptions<'_>,
        objects: &dyn Objects,
        from: &Path,
        epoch: [u8; 16],
    ) -> Result<StagedRestore, StoreError> {
        let Some(archive) = &self.archive else {
            return Ok(StagedRestore::default());
        };
        let hold = put_objects(archive, objects)?;
        let workspace =
            std::path::absolute(options.workspace).unwrap_or_else(|_| options.workspace.to_owned());
        let own = std::path::absolute(home.workspace()).unwrap_or_else(|_| home.workspace());
        let places = [(workspace.clone(), extent(&own, &workspace)), (home.previous(), ReplaceScope::All)];
        let pending = PendingRestore::begin(home, epoch, &places, options.busy_wait)?;
        let fill = || -> Result<ConfigOutcome, StoreError> {
            let into = [(archive::WORKSPACE, &workspace), (archive::PREVIOUS, &home.previous())];
            for (prefix, live) in into {
                let stage = pending.new_files(live);
                unpack(archive, prefix, &stage)
                    .map_err(|error| files::unwritten(&stage, "written", &error))?;
            }
            stage_config(home, archive, options, from, &pending)
        };
        match fill() {
            Ok(config) => Ok(StagedRestore { pending: Some(pending), config, _hold: hold }),
            Err(error) => {
                pending.discard();
                Err(error)
            }
        }
    }

    fn report(
        &self,
        restored: StoreRestore,
        staged: &StagedRestore,
        previous_files: Option<PathBuf>,
    ) -> RestoreReport {
        let counts = match &self.archive {
            Some(archive) => archive.manifest.counts,
            None => BackupCounts { memories: restored.memories, ..BackupCounts::default() },
        };
        RestoreReport {
            previous: restored.previous,
            previous_files,
            counts,
            database_only: self.archive.is_none(),
            left_out: self
                .archive
                .as_ref()
                .map_or_else(Vec::new, |archive| archive.manifest.left_out.clone()),
            schema: restored.schema,
            kept_revoked: restored.kept_revoked,
            config: staged.config,
        }
    }
}

/// Stages the settings of a backup, unless the home already has settings.
fn stage_config(
    home: &Home,
    archive: &BackupArchive,
    options: &RestoreOptions<'_>,
    from: &Path,
    pending: &PendingRestore,
) -> Result<ConfigOutcome, StoreError> {
    let found = ConfigTexts {
        toml: text_of(archive, archive::CONFIG, from)?,
        json: text_of(archive, archive::CONFIG_JSON, from)?,
    };
    let live = [home.config_file(), home.config_json_file()];
    if live.iter().any(|file| file.symlink_metadata().is_ok()) {
        return Ok(if found.is_empty() { ConfigOutcome::None } else { ConfigOutcome::Kept });
    }
    let new = (options.config)(found);
    if new.is_empty() {
        return Ok(ConfigOutcome::None);
    }
    for (to, text) in [(pending.new_config(), &new.toml), (pending.new_config_json(), &new.json)] {
        if let Some(text) = text {
            draft::replace(&to, text.as_bytes())?;
        }
    }
    Ok(ConfigOutcome::Written(WrittenConfig { toml: new.toml.is_some(), json: new.json.is_some() }))
}

/// Returns the text of a file in a backup; `None` if the backup does not contain the file.
fn text_of(archive: &BackupArchive, path: &str, from: &Path) -> Result<Option<String>, StoreError> {
    let Some(entry) = archive.entry(path) else { return Ok(None) };
    let mut text = Vec::new();
    archive.copy(entry, &mut text).map_err(|error| bad(from, error.to_string()))?;
    String::from_utf8(text).map(Some).map_err(|_| bad(from, format!("its {path} is not text")))
}

/// The staged files, which wait for the commit. Empty if the backup is only a database.
struct StagedRestore {
    pending: Option<PendingRestore>,
    config: ConfigOutcome,
    /// Keeps other processes from removing the attachments before the database refers to them.
    _hold: Option<ObjectsHold>,
}

impl Default for StagedRestore {
    fn default() -> Self {
        Self { pending: None, config: ConfigOutcome::None, _hold: None }
    }
}

impl StagedRestore {
    fn finish(&self) -> Result<(), StoreError> {
        self.pending.as_ref().map_or(Ok(()), PendingRestore::finish)
    }

    fn give_up(&self) {
        if let Some(pending) = &self.pending {
            pending.discard_unless_committed();
        }
    }
}

/// The steps of a whole restore before and after the commit.
struct HomeRestoreSteps<'a> {
    content: &'a HomeContent<'a>,
    staged: &'a StagedRestore,
}

impl RestoreSteps for HomeRestoreSteps<'_> {
    fn keep(&mut self) -> Result<PathBuf, StoreError> {
        let first = first_copy(self.content.home, "before-restore", ".tar", SystemClock.now())?;
        let (draft, _) = self.content.archive_beside(&first, &mut |_, _| ())?;
        place_copy(draft, &first)
    }

    fn follow(&mut self) -> Result<(), StoreError> {
        self.staged.finish()
    }
}

/// Refuses a target folder that contains files of a workspace, unless it is the workspace in use: the backup of the
/// previous content does not include the files of other folders.
fn refuse_taken(in_use: &Path, target: &Path) -> Result<(), StoreError> {
    let target = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
    if target == in_use || files::same_file(&target, in_use) {
        return Ok(());
    }
    match OWN_NAMES.iter().find(|name| target.join(name).symlink_metadata().is_ok()) {
        None => Ok(()),
        Some(name) => {
            let why = format!("{name} is in it, and would be lost; choose another folder");
            Err(StoreError::Unusable { path: target, verb: "used for the files", why })
        }
    }
}

/// Stores every attachment of a backup. The name of an attachment is its hash, so existing attachments do not change.
fn put_objects(archive: &BackupArchive, objects: &dyn Objects) -> Result<Option<ObjectsHold>, StoreError> {
    let mut all = archive.below(archive::OBJECTS).peekable();
    if all.peek().is_none() {
        return Ok(None);
    }
    let failed = |error: ObjectError| StoreError::Unusable {
        path: archive::OBJECTS.trim_end_matches('/').into(),
        verb: "restored",
        why: error.to_string(),
    };
    let hold = objects.keeping().map_err(failed)?;
    for (_, entry) in all {
        let mut bytes = Vec::new();
        archive
            .copy(entry, &mut bytes)
            .map_err(|error| files::unwritten(Path::new(&entry.path), "restored", &error))?;
        objects.put(&bytes, &entry.sha256).map_err(failed)?;
    }
    Ok(Some(hold))
}

/// Writes the files below a prefix into an empty folder. The names of the files were already checked.
fn unpack(archive: &BackupArchive, prefix: &str, stage: &Path) -> io::Result<()> {
    let mut folders = std::collections::BTreeSet::from([stage.to_owned()]);
    for (below, entry) in archive.below(prefix) {
        let path = stage.join(below);
        let folder = files::folder_of(&path);
        if !folders.contains(folder) {
            home::try_make_folder(folder)?;
            folders
                .extend(folder.ancestors().take_while(|above| above.starts_with(stage)).map(Path::to_owned));
        }
        write_file(archive, entry, &path)?;
    }
    folders.iter().try_for_each(|folder| files::sync_names(folder))
}

fn write_file(archive: &BackupArchive, entry: &ArchiveEntry, path: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    archive.copy(entry, &mut file)?;
    file.sync_all()
}

fn bad(from: &Path, why: String) -> StoreError {
    StoreError::BadBackup { path: from.to_owned(), why }
}

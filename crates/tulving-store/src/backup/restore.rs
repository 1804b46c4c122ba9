//! Restores a whole home from a backup, all or nothing, while other processes have it open.
//!
//! The file is checked first: hashes, counts, the database in it. Then attachments are kept, which are named by their hash and
//! change nothing for anybody, and the new files are staged. Replacing the database is the commit; the files follow while
//! nobody can write. [`pending`](crate::pending) finishes or takes back what a kill leaves.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use tulving_core::error::{ObjectError, StoreError};
use tulving_core::ports::{Hold, Objects};

use super::{ConfigFate, HomeContent, RestoreReport, create, extent};
use crate::archive::{self, Archive, ArchiveEntry, BackupCounts, is_archive};
use crate::draft::Draft;
use crate::files;
use crate::home::{self, Home};
use crate::pending::{Extent, OWN_NAMES, PendingRestore};
use crate::sqlite::{
    AroundCommit, DatabaseRestore, Options, SqliteStore, first_copy, place_copy, refuse_unfit,
};
use crate::workspace::Workspace;

/// Options of a restore.
pub struct RestoreOptions<'a> {
    /// The folder that files go to.
    pub workspace: &'a Path,
    /// Makes the text of `config.toml` from the one in the backup; `None` where there is none to write. Called only where
    /// the home has none.
    pub config: &'a dyn Fn(Option<&str>) -> Option<String>,
}

impl HomeContent<'_> {
    /// Replaces everything in the home by what a backup holds. A token that was ever revoked here stays revoked.
    ///
    /// The attachments that are there stay, and those of the backup are added. What was there before is kept as a whole
    /// backup in the home; a failure changes nothing else. A backup that is the database alone replaces that alone.
    pub fn restore(
        &self,
        from: &Path,
        options: &RestoreOptions<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        let home = self.store.home();
        refuse_taken(self.files.folder(), options.workspace)?;
        let content = Content::open(home, from, progress)?;
        let candidate = self.store.candidate(content.database(from), from, progress)?;
        content.check(from, candidate.memories, &candidate.attached)?;
        let staged =
            content.stage(home, options, self.objects, from, candidate.epoch, self.store.busy_wait())?;
        let mut around = Whole { content: self, staged: &staged };
        let restored = self.store.replace_by(&candidate, &mut around);
        let restored = restored.inspect_err(|_| staged.give_up())?;
        Ok(content.report(restored, &staged, None))
    }
}

/// Restores over a store that is too damaged to be opened or read.
pub struct Rescue<'a> {
    /// The home.
    pub home: &'a Home,
    /// The options that its store is opened with.
    pub store: Options,
    /// The files that are there.
    pub files: &'a Workspace,
    /// The attachments.
    pub objects: &'a dyn Objects,
}

impl Rescue<'_> {
    /// Restores a backup over a damaged store, which moves as it is into the home's backups; see [`SqliteStore::rescue`].
    pub fn restore(
        &self,
        from: &Path,
        options: &RestoreOptions<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<RestoreReport, StoreError> {
        refuse_taken(self.files.folder(), options.workspace)?;
        let content = Content::open(self.home, from, progress)?;
        let mut prepared = None;
        let rescued = SqliteStore::rescue_with(
            self.home,
            self.store,
            content.database(from),
            from,
            &mut |candidate| {
                content.check(from, candidate.memories, &candidate.attached)?;
                let previous = self.keep_files(&content)?;
                let staged = content.stage(
                    self.home,
                    options,
                    self.objects,
                    from,
                    candidate.epoch,
                    self.store.busy_wait,
                )?;
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

    /// Keeps the files that a restore replaces.
    fn keep_files(&self, content: &Content) -> Result<Option<PathBuf>, StoreError> {
        if content.archive.is_none() {
            return Ok(None);
        }
        let now = tulving_core::ports::Clock::now(&tulving_core::ports::SystemClock);
        let first = first_copy(self.home, "damaged-files", ".tar", now)?;
        let draft = create::files_beside(self.home, self.files, &first)?;
        place_copy(draft, &first).map(Some)
    }
}

/// The content of a file that is to be restored.
struct Content {
    /// `None` for a file that is a database.
    archive: Option<Archive>,
    database: Option<Draft>,
}

impl Content {
    /// Reads all of a backup and compares it with its manifest. Its database is copied into the home.
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
            Archive::verified(file, &mut |done| progress(done, size)).map_err(|why| bad(from, why))?;
        let mut database = Draft::beside(&home.database(), ".db")?;
        let entry =
            archive.entry(archive::DATABASE).ok_or_else(|| bad(from, "it has no database".to_owned()))?;
        archive
            .copy(entry, &mut database)
            .map_err(|error| files::unwritten(&home.database(), "written", &error))?;
        Ok(Self { archive: Some(archive), database: Some(database) })
    }

    /// The file with the database.
    fn database<'a>(&'a self, from: &'a Path) -> &'a Path {
        self.database.as_ref().map_or(from, Draft::path)
    }

    /// Refuses a backup whose database is not the one that its manifest counts.
    fn check(&self, from: &Path, memories: u64, attached: &[String]) -> Result<(), StoreError> {
        let Some(archive) = &self.archive else {
            return Ok(());
        };
        let manifest = &archive.manifest;
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
        match attached.iter().find(|key| !known.contains(key.as_str())) {
            None => Ok(()),
            Some(key) => Err(bad(from, format!("it is damaged: the attachment {key} is not in it"))),
        }
    }

    /// Keeps the attachments and stages the files, so that the commit is all that is left to do.
    fn stage(
        &self,
        home: &Home,
        options: &RestoreOptions<'_>,
        objects: &dyn Objects,
        from: &Path,
        epoch: [u8; 16],
        wait: std::time::Duration,
    ) -> Result<Staged, StoreError> {
        let Some(archive) = &self.archive else {
            return Ok(Staged::default());
        };
        let hold = put_objects(archive, objects)?;
        let workspace =
            std::path::absolute(options.workspace).unwrap_or_else(|_| options.workspace.to_owned());
        let own = std::path::absolute(home.workspace()).unwrap_or_else(|_| home.workspace());
        let places = [(workspace.clone(), extent(&own, &workspace)), (home.previous(), Extent::All)];
        let pending = PendingRestore::begin(home, epoch, &places, wait)?;
        let fill = || -> Result<ConfigFate, StoreError> {
            let into = [(archive::WORKSPACE, &workspace), (archive::PREVIOUS, &home.previous())];
            for (prefix, live) in into {
                let stage = pending.new_files(live);
                unpack(archive, prefix, &stage)
                    .map_err(|error| files::unwritten(&stage, "written", &error))?;
            }
            self.stage_config(home, archive, options, from, &pending.new_config())
        };
        match fill() {
            Ok(config) => Ok(Staged { pending: Some(pending), config, _hold: hold }),
            Err(error) => {
                pending.discard();
                Err(error)
            }
        }
    }

    fn stage_config(
        &self,
        home: &Home,
        archive: &Archive,
        options: &RestoreOptions<'_>,
        from: &Path,
        to: &Path,
    ) -> Result<ConfigFate, StoreError> {
        let found = archive.entry(archive::CONFIG);
        if home.config_file().symlink_metadata().is_ok() {
            return Ok(if found.is_some() { ConfigFate::Kept } else { ConfigFate::None });
        }
        let mut text = Vec::new();
        if let Some(entry) = found {
            archive.copy(entry, &mut text).map_err(|error| bad(from, error.to_string()))?;
        }
        let text =
            String::from_utf8(text).map_err(|_| bad(from, "its config.toml is not text".to_owned()))?;
        match (options.config)(found.map(|_| text.as_str())) {
            Some(text) => files::replace(to, text.as_bytes()).map(|()| ConfigFate::Written),
            None => Ok(ConfigFate::None),
        }
    }

    fn report(
        &self,
        restored: DatabaseRestore,
        staged: &Staged,
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

/// The files that wait for the commit. Empty where the backup is a database alone.
struct Staged {
    pending: Option<PendingRestore>,
    config: ConfigFate,
    /// Nobody removes the attachments before the database speaks of them.
    _hold: Option<Hold>,
}

impl Default for Staged {
    fn default() -> Self {
        Self { pending: None, config: ConfigFate::None, _hold: None }
    }
}

impl Staged {
    fn finish(&self) -> Result<(), StoreError> {
        self.pending.as_ref().map_or(Ok(()), PendingRestore::finish)
    }

    fn give_up(&self) {
        if let Some(pending) = &self.pending {
            pending.discard_unless_committed();
        }
    }
}

/// The work of a whole restore around the commit.
struct Whole<'a> {
    content: &'a HomeContent<'a>,
    staged: &'a Staged,
}

impl AroundCommit for Whole<'_> {
    fn keep(&mut self) -> Result<PathBuf, StoreError> {
        let store = self.content.store;
        let first = first_copy(store.home(), "before-restore", ".tar", store.now())?;
        let (draft, _) = self.content.archive_beside(&first, &mut |_, _| ())?;
        place_copy(draft, &first)
    }

    fn follow(&mut self) -> Result<(), StoreError> {
        self.staged.finish()
    }
}

/// Refuses another folder than the one in use that has files of a workspace: nobody would have kept them.
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

/// Keeps every attachment of a backup. They are named by their hash, so nothing that is there changes.
fn put_objects(archive: &Archive, objects: &dyn Objects) -> Result<Option<Hold>, StoreError> {
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

/// Writes the files below a prefix into a folder in which nothing is yet. Their names were checked.
fn unpack(archive: &Archive, prefix: &str, stage: &Path) -> io::Result<()> {
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

fn write_file(archive: &Archive, entry: &ArchiveEntry, path: &Path) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    archive.copy(entry, &mut file)?;
    file.sync_all()
}

fn bad(from: &Path, why: String) -> StoreError {
    StoreError::BadBackup { path: from.to_owned(), why }
}

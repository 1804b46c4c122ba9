//! Reads the settings again while a server runs: on request, and when a file has changed.
//!
//! An error is logged once, and the previous settings stay in effect.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tulving_core::Engine;
use tulving_server::http::{RulesReloader, ServerRules};

use crate::config::{self, LISTS, SettingError, SettingValue, Settings};
use crate::global::GlobalArgs;
use crate::log::BackgroundLog;

/// Prefixes of the settings that take effect in a running server.
const LIVE: [&str; 6] = ["server.", "log.", "proactive.", "shadow_journal.", "consolidate.", "embedding."];

/// Number of files with settings; they come first.
const CONFIG_FILES: usize = 2;

const NOT_YET: &str = "has changed; it takes effect when the server is restarted";

/// Watches `config.toml`, `config.json` and the files of the certificate.
pub(crate) struct ConfigWatch {
    global: GlobalArgs,
    log: BackgroundLog,
    engine: Arc<Engine>,
    /// The last warning about settings that have no effect.
    idle: Option<&'static str>,
    home: PathBuf,
    /// The settings when the server started.
    chosen: Vec<SettingValue>,
    files: Vec<PathBuf>,
    seen: Vec<Option<FileStamp>>,
}

/// Inode, size and modification time, which tell one state of a file from another.
type FileStamp = (u64, u64, i64, i64);

impl ConfigWatch {
    pub(crate) fn new(
        global: &GlobalArgs,
        settings: &Settings,
        log: BackgroundLog,
        engine: Arc<Engine>,
    ) -> Self {
        let (home, chosen) = (settings.home.clone(), settings.chosen.clone());
        let files = files(settings);
        let seen = looks(&files);
        let mut watch = Self { global: global.clone(), log, engine, idle: None, home, chosen, files, seen };
        watch.tell_idle(settings);
        watch
    }

    /// Warns of settings that have no effect: once, until other settings have no effect.
    fn tell_idle(&mut self, settings: &Settings) {
        let idle = settings.idle();
        if let Some(idle) = idle.filter(|idle| self.idle != Some(idle)) {
            tracing::warn!("{idle}");
        }
        self.idle = idle;
    }

    fn read(&mut self) -> Result<ServerRules, SettingError> {
        // The state of the files is recorded before they are read, so a change during the read causes another read.
        let before = looks(&self.files[..CONFIG_FILES]);
        let settings = config::read(&self.global)?;
        // The files are watched even if they cannot be used, because a later change may make them usable.
        self.files = files(&settings);
        self.seen = looks(&self.files);
        self.seen[..CONFIG_FILES].clone_from_slice(&before);
        let rules = settings.server.rules(&self.home)?;
        self.log.change(settings.logging);
        self.engine.listen(settings.listening.clone());
        self.tell_idle(&settings);
        self.engine.set_consolidation(settings.consolidation);
        for list in LISTS {
            if values(list, &self.chosen) != values(list, &settings.chosen) {
                tracing::warn!(setting = list, "{NOT_YET}");
            }
        }
        for (old, new) in self.chosen.iter().zip(&settings.chosen) {
            if old.key == new.key
                && old.value != new.value
                && !LISTS.contains(&new.key)
                && !LIVE.iter().any(|live| new.key.starts_with(live))
            {
                tracing::warn!(setting = new.key, "{NOT_YET}");
            }
        }
        Ok(rules)
    }
}

impl RulesReloader for ConfigWatch {
    fn look(&mut self, asked: bool) -> Option<ServerRules> {
        let now = looks(&self.files);
        if !asked && now == self.seen {
            return None;
        }
        self.seen = now;
        match self.read() {
            Ok(rules) => Some(rules),
            Err(error) => {
                tracing::error!(reason = %error, "the new configuration cannot be used; the old one stays in use");
                None
            }
        }
    }
}

/// Returns the values of a setting that may be given several times.
fn values<'a>(key: &str, chosen: &'a [SettingValue]) -> Vec<&'a str> {
    chosen.iter().filter(|one| one.key == key).map(|one| one.value.as_str()).collect()
}

fn files(settings: &Settings) -> Vec<PathBuf> {
    let tls = settings.server.tls_files(&settings.home).ok().flatten();
    let home = &settings.home;
    [config::file_of(home), config::json_of(home)].into_iter().chain(tls.into_iter().flatten()).collect()
}

fn looks(files: &[PathBuf]) -> Vec<Option<FileStamp>> {
    let look = |file: &PathBuf| {
        let found = Path::metadata(file).ok()?;
        Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
    };
    files.iter().map(look).collect()
}

//! Wires the parts together: the home, its store, the engine over it, and the caller.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tulving_core::model::error::{Error, ModelError};
use tulving_core::model::id::SpaceId;
use tulving_core::model::request::{Caller, Filter};
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{Clock, Embedder, Extractor, NoExtractor, PausableClock, Store, SystemClock};
use tulving_core::{BackendEntry, BackendLocation, Backends, Engine, Ports};
use tulving_models::{MiniLm, RetryPolicy};
use tulving_store::extract::{self, ChildExtractor};
use tulving_store::{Home, PendingIndexWork, Plugin, PluginCommand, SearchIndex, Workspace};

use crate::background;
use crate::config::{BackendSetting, EmbeddingCallOptions, SettingSource, Settings};
use crate::embedders::{self, EmbedderSlots, FormerEmbedder};
use crate::failure::{Cause, Failure, NotAMember};
use crate::home_token;
use crate::input;
use crate::maintenance;
use crate::open_store::OpenStore;
use crate::print::Printer;
use crate::worker;

/// Maximum number of waiting sections that a command embeds after its answer. This takes at most about a second.
const EMBEDDED_AFTERWARDS: usize = 16;
/// Maximum number of vectors of earlier models that a command searches for after its answer. This takes some ten
/// milliseconds.
const DROPPED_AFTERWARDS: usize = 1_000;
/// Maximum number of sections that a command embeds after its answer if a service embeds them, because a service may be
/// slow.
const ASKED_FOR_AFTERWARDS: usize = 4;

/// Maximum number of turns that a command reads after its answer. This takes some milliseconds, and the results are then
/// embedded.
const HEARD_AFTERWARDS: usize = 4;

/// The names of spaces.
pub(crate) type SpaceNames = HashMap<SpaceId, String>;

/// Everything a command works with, opened and ready.
pub(crate) struct App<'a> {
    /// The engine, with one method for each operation on memories.
    pub(crate) engine: Arc<Engine>,
    /// The embedders of the engine.
    pub(crate) embedders: EmbedderSlots,
    /// The store itself, for work that is not a verb: backups, restores and checks.
    pub(crate) store: OpenStore,
    /// The index, for work that is not a verb: folding and checks.
    pub(crate) index: Arc<SearchIndex>,
    /// The files that people can read.
    pub(crate) files: Arc<Workspace>,
    /// The settings in effect.
    pub(crate) settings: &'a Settings,
    /// The caller, in any space.
    pub(crate) caller: Caller,
    /// The clock of the engine. It is paused while a command changes several memories, so that they get the same time.
    pub(crate) clock: Arc<PausableClock>,
    /// True if the model has failed in this process.
    failed: Arc<AtomicBool>,
    /// True if embedding is postponed.
    later: AtomicBool,
    /// Remarks from opening the home, for the caller.
    remarks: Vec<String>,
}

/// Opens the home, making it on first use, and finds out who calls.
pub(crate) fn open(settings: &Settings) -> Result<App<'_>, Failure> {
    open_with(settings, Arc::new(SystemClock))
}

/// Opens the home like `open`, with another clock.
pub(crate) fn open_with(settings: &Settings, clock: Arc<dyn Clock>) -> Result<App<'_>, Failure> {
    let home = Home::open_or_create(&settings.home)?;
    let orphaned = home.token_file().exists() && !home.database().exists();
    let store = OpenStore::open(&home, settings)?;
    let index = store.index.clone();
    let files = workspace(&home, settings);
    let failed = Arc::new(AtomicBool::new(false));
    let calling = noted(
        settings,
        EmbeddingCallOptions { known: known(&*store.records, settings), ..EmbeddingCallOptions::default() },
    );
    let embedders = EmbedderSlots::new(home.path(), watched(settings, calling, &failed));
    let both = (embedders.set_up.clone() as Arc<dyn Embedder>, embedders.former.clone() as Arc<dyn Embedder>);
    let engine = engine_before(&store, &index, &files, settings, both);
    let clock = Arc::new(PausableClock::over(clock));
    let engine = Arc::new(engine.with_clock(clock.clone()));
    let caller = caller(&engine, settings)?;
    let mut remarks = Vec::new();
    let read_only = home.is_read_only();
    if settings.token.is_none() && !read_only && home_token::provide(&engine, &home, &caller)? > 0 {
        let file = home.token_file();
        remarks.push(format!(
            "{} was missing: a new token was written to it, and the old token was revoked; give the new token to your clients",
            file.display()
        ));
    }
    if orphaned {
        home_token::renew(&engine, &home)?;
        remarks.push(format!(
            "{} was used before, but its tulving.db is missing: an empty one was created, with a new api-token; `tulving backup restore FILE` restores a backup",
            home.path().display()
        ));
    }
    let later = AtomicBool::new(false);
    Ok(App { engine, embedders, store, index, files, settings, caller, clock, failed, later, remarks })
}

/// Returns the workspace at the path in the settings. No file is accessed before the workspace is used.
pub(crate) fn workspace(home: &Home, settings: &Settings) -> Arc<Workspace> {
    let folder = match settings.workspace.as_os_str().is_empty() {
        true => home.workspace(),
        false => home.path().join(&settings.workspace),
    };
    Arc::new(Workspace::open(home, &folder))
}

/// Creates an engine over a store. Recall uses the vectors of the built-in model, or of the model in a folder that was in
/// use before, until another model has embedded all memories, unless all models are turned off.
pub(crate) fn engine(
    store: &OpenStore,
    index: &Arc<SearchIndex>,
    files: &Arc<Workspace>,
    settings: &Settings,
    embedder: Arc<dyn Embedder>,
) -> Engine {
    let former = Arc::new(FormerEmbedder::of(&settings.home));
    engine_before(store, index, files, settings, (embedder, former))
}

/// Creates the same engine with the embedder of the model before a change.
fn engine_before(
    store: &OpenStore,
    index: &Arc<SearchIndex>,
    files: &Arc<Workspace>,
    settings: &Settings,
    (embedder, former): (Arc<dyn Embedder>, Arc<dyn Embedder>),
) -> Engine {
    let former: Vec<Arc<dyn Embedder>> =
        if settings.embedding.is_off() { Vec::new() } else { vec![Arc::new(MiniLm), former] };
    let engine = Engine::new(Ports {
        store: store.records.clone(),
        embedder,
        former,
        index: index.clone(),
        files: files.clone(),
        objects: settings.objects.open(&store.home().objects()),
        extractor: extractor(settings),
        clock: Arc::new(SystemClock),
        limits: settings.limits,
        secret_policies: settings.secret_policies.clone(),
    })
    .with_rules(settings.tending.rules())
    .with_holder(worker::own())
    .with_zone(settings.zone.clone())
    .with_listening(settings.listening.clone())
    .with_llm(settings.llm.open(&settings.home));
    engine.set_consolidation(settings.consolidation);
    match backends(settings) {
        None => engine,
        Some(backends) => engine.with_backends(backends),
    }
}

/// Returns the text extractor. It starts a separate process of this program for each file.
fn extractor(settings: &Settings) -> Arc<dyn Extractor> {
    let limits =
        extract::ExtractLimits { text: settings.limits.content_bytes, ..extract::ExtractLimits::default() };
    match (ChildExtractor::of_this_program(limits), &settings.languages) {
        (Ok(extractor), None) => Arc::new(extractor),
        (Ok(extractor), Some(languages)) => Arc::new(extractor.with_languages(languages)),
        (Err(_), _) => Arc::new(NoExtractor),
    }
}

/// Returns the configured backends without starting them; `None` if there is only the built-in backend.
pub(crate) fn backends(settings: &Settings) -> Option<Backends> {
    let entry = |setting: &BackendSetting| BackendEntry {
        name: setting.name.clone(),
        role: setting.role,
        within: setting.within,
        keeps: match setting.is_built_in() {
            true => BackendLocation::BuiltIn,
            false => BackendLocation::Elsewhere(Arc::new(Plugin::new(PluginCommand {
                command: setting.command.clone(),
                folder: settings.home.clone(),
            }))),
        },
    };
    let entries: Vec<BackendEntry> = settings.backends.iter().map(entry).collect();
    // Settings that contradict each other were refused when they were read.
    (!entries.is_empty()).then(|| Backends::new(entries)).and_then(Result::ok)
}

/// Returns the embedder of the settings. A model that cannot be used fails when it is called, and recall then finds memories
/// by their words. So a wrong setting does not block access to the memories.
pub(crate) fn embedder(settings: &Settings, calling: EmbeddingCallOptions) -> Arc<dyn Embedder> {
    let config = settings.embedding.config(calling);
    let made = config.and_then(|config| tulving_models::embedder(&config).map_err(|error| error.to_string()));
    made.unwrap_or_else(|why| Arc::new(UnusableEmbedder { why }))
}

/// Returns an embedder that also records its failures.
fn watched(
    settings: &Settings,
    calling: EmbeddingCallOptions,
    failed: &Arc<AtomicBool>,
) -> Arc<dyn Embedder> {
    Arc::new(WatchedEmbedder { inner: embedder(settings, calling), failed: failed.clone() })
}

/// Returns the file in which processes record that the embedding service did not answer.
fn pause_file(settings: &Settings) -> PathBuf {
    settings.home.join("embedding-pause.json")
}

/// Returns the same options, with the files of this home in which processes record what they know about models.
pub(crate) fn noted(settings: &Settings, calling: EmbeddingCallOptions) -> EmbeddingCallOptions {
    let hash_file = Some(embedders::hash_file(&settings.home));
    EmbeddingCallOptions { pause_file: Some(pause_file(settings)), hash_file, ..calling }
}

/// Returns the model whose vectors recall uses, if this saves a call to a service.
fn known(store: &dyn Store, settings: &Settings) -> Option<String> {
    // If the store cannot be read, the next request to it reports that.
    settings.embedding.is_service().then(|| store.model().ok().flatten()).flatten()
}

/// An embedder whose failures are noted.
struct WatchedEmbedder {
    inner: Arc<dyn Embedder>,
    failed: Arc<AtomicBool>,
}

impl WatchedEmbedder {
    fn note<T>(&self, done: Result<T, ModelError>) -> Result<T, ModelError> {
        if matches!(done, Err(ModelError::Failed { .. })) {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }
}

impl Embedder for WatchedEmbedder {
    fn model(&self) -> Result<String, ModelError> {
        self.note(self.inner.model())
    }

    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        self.note(self.inner.makes(model))
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.note(self.inner.embed(texts))
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        self.note(self.inner.embed_query(text))
    }
}

/// Replaces a model that cannot be used. Every call returns the reason.
struct UnusableEmbedder {
    why: String,
}

impl UnusableEmbedder {
    fn error(&self) -> ModelError {
        ModelError::Failed { model: "that is set up".to_owned(), why: self.why.clone() }
    }
}

impl Embedder for UnusableEmbedder {
    fn model(&self) -> Result<String, ModelError> {
        Err(self.error())
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(self.error())
    }
}

/// Returns the caller: the principal of the token, or else the local user.
pub(crate) fn caller(engine: &Engine, settings: &Settings) -> Result<Caller, Error> {
    let agent = settings.agent.as_deref();
    match &settings.token {
        Some(token) => engine.authenticate(token, Origin::Cli, agent),
        None => engine.user(Origin::Cli, agent),
    }
}

impl App<'_> {
    /// Prints the remarks from opening the home.
    pub(crate) fn greet(&self, printer: &mut Printer) -> Result<(), Failure> {
        self.remarks.iter().try_for_each(|remark| printer.warning(remark))
    }

    /// Returns the same app with other settings of the call, such as its space.
    pub(crate) fn with<'b>(&self, settings: &'b Settings) -> App<'b> {
        App {
            engine: self.engine.clone(),
            embedders: self.embedders.clone(),
            store: self.store.clone(),
            index: self.index.clone(),
            files: self.files.clone(),
            settings,
            caller: self.caller.clone(),
            clock: self.clock.clone(),
            failed: self.failed.clone(),
            later: AtomicBool::new(self.later.load(Ordering::Relaxed)),
            remarks: self.remarks.clone(),
        }
    }

    /// Returns the caller in the requested space. If `--space` named the space, the caller is confined to it. If no space
    /// was named, the caller works in the caller's own space.
    pub(crate) fn here(&self) -> Result<Caller, Failure> {
        self.here_and(&[])
    }

    /// Replaces a relative source path by the full path of that file, because pushes and imports save the full path. A path
    /// stays as it is if there is no such file, or if memories were saved with exactly this path.
    pub(crate) fn resolve_source_path(&self, source_path: &mut Option<String>) -> Result<(), Failure> {
        let Some(path) = source_path.as_deref().map(Path::new).filter(|path| path.is_relative()) else {
            return Ok(());
        };
        let asked = Filter { source_path: source_path.clone(), ..Filter::default() };
        if path.exists() && self.engine.count(&self.here()?, &asked)? == 0 {
            *source_path = Some(input::full_path(path)?);
        }
        Ok(())
    }

    /// Returns the flag that named the space of the call, with a leading space character. A printed command needs it to work
    /// in the same space when a user copies it.
    pub(crate) fn place(&self, caller: &Caller) -> Result<String, Failure> {
        Ok(match self.settings.space_source() {
            SettingSource::Flag { name } => format!(" {name} {}", self.engine.space(caller)?.name),
            _ => String::new(),
        })
    }

    /// Returns the caller like [`here`](Self::here), who can also reach the spaces that the command itself names.
    pub(crate) fn here_and(&self, named: &[&str]) -> Result<Caller, Failure> {
        let space = self.settings.space.as_str();
        match self.settings.space_source() {
            SettingSource::Default => Ok(self.caller.clone()),
            _ if self.settings.is_confined() => {
                Ok(self.engine.confine(&self.caller, &[&[space], named].concat())?)
            }
            _ => Ok(self.engine.enter(&self.caller, space)?),
        }
    }

    /// Returns the caller of a command on the whole store, which `--space` cannot narrow.
    pub(crate) fn everywhere(&self, command: &str) -> Result<&Caller, Failure> {
        if self.settings.is_confined() {
            let text = format!("{command} works on all spaces and takes no --space");
            return Err(Failure::usage(text).hinted("leave --space out"));
        }
        Ok(&self.caller)
    }

    /// Returns an error if the caller is a member of no space, or not of the space `asked`.
    pub(crate) fn outside(
        &self,
        caller: &Caller,
        asked: Option<SpaceId>,
    ) -> Result<Option<NotAMember>, Failure> {
        let spaces = self.engine.spaces(caller)?;
        if spaces.iter().any(|space| asked.is_none_or(|asked| asked == space.id)) {
            return Ok(None);
        }
        let names: Vec<String> = spaces.into_iter().map(|space| space.name).collect();
        if !names.is_empty() {
            let what = format!("you are not in the space `{}`", self.settings.space);
            return Ok(Some(NotAMember { what, hint: format!("choose with --space: {}", names.join(", ")) }));
        }
        let me = self.engine.names(&[caller.viewer.principal])?.remove(&caller.viewer.principal);
        let me = me.unwrap_or_else(|| "NAME".to_owned());
        Ok(Some(NotAMember {
            what: "you are not a member of any space".to_owned(),
            hint: format!("an admin can add you with `tulving space add-member SPACE {me}`"),
        }))
    }

    /// Converts the error of a write, and names the missing membership if that is the cause.
    pub(crate) fn refused(&self, caller: &Caller, error: Error) -> Failure {
        if matches!(error, Error::NoSpace { .. })
            && let Ok(Some(outside)) = self.outside(caller, Some(caller.space))
        {
            return Cause::NotAMember(outside).into();
        }
        error.into()
    }

    /// Returns the names of the spaces that the caller is in.
    pub(crate) fn space_names(&self) -> Result<SpaceNames, Failure> {
        let spaces = self.engine.spaces(&self.caller)?;
        Ok(spaces.into_iter().map(|space| (space.id, space.name)).collect())
    }

    /// Returns the same engine with a model that is asked for its id again, even if the id is known. A service that did
    /// not answer recently is called anyway, because the user is waiting for its result.
    pub(crate) fn with_model_rechecked(&self) -> Engine {
        let _ = std::fs::remove_file(pause_file(self.settings));
        self.calling(noted(self.settings, EmbeddingCallOptions::default()))
    }

    /// Returns the engine with a short time limit for the embedding service; `None` if this process computes the vectors.
    fn hurried(&self) -> Option<Engine> {
        self.settings.embedding.is_service().then(|| {
            let known = known(&*self.store.records, self.settings);
            let calling = EmbeddingCallOptions {
                patience: RetryPolicy::Hurried,
                known,
                ..EmbeddingCallOptions::default()
            };
            self.calling(noted(self.settings, calling))
        })
    }

    /// Returns the engine with other options for calling the model.
    fn calling(&self, calling: EmbeddingCallOptions) -> Engine {
        let embedder = watched(self.settings, calling, &self.failed);
        engine(&self.store, &self.index, &self.files, self.settings, embedder)
    }

    /// Embeds a few waiting sections. A service gets fewer sections and a short time limit.
    fn embed_a_little(&self) -> Result<(), Error> {
        let embedded = match self.hurried() {
            None => self.engine.embed_waiting(EMBEDDED_AFTERWARDS),
            Some(engine) => engine.embed_waiting(ASKED_FOR_AFTERWARDS),
        };
        embedded.map(drop)
    }

    /// Reads a few waiting turns. If a service embeds the new memories, the service gets a short time limit.
    fn listen_a_little(&self) -> Result<(), Error> {
        let hurried = self.hurried();
        let engine = hurried.as_ref().unwrap_or(&self.engine);
        for _ in 0..HEARD_AFTERWARDS {
            if engine.hear_waiting(worker::own())?.is_none() {
                break;
            }
        }
        // A language model may take a minute, so this process does not wait for it.
        if self.engine.has_to_think()? && maintenance::lock_llm_work(self.store.home()).is_some() {
            // If no process can be started, the next process does the work.
            let _ = background::start_jobs(self.settings);
        }
        Ok(())
    }

    /// Logs a warning if the home is read-only. Returns true if the home can be written.
    pub(crate) fn warn_read_only(&self) -> bool {
        let writable = !self.store.home().is_read_only();
        if !writable {
            let home = self.store.home().path().display();
            tracing::warn!("{home} can only be read: writes are refused, and access counts are not recorded");
        }
        writable
    }

    /// Postpones embedding, including the few sections after the answer.
    pub(crate) fn leave_embedding(&self) {
        self.later.store(true, Ordering::Relaxed);
    }

    /// Does the work after the answer: records access counts, reads a few turns, embeds some waiting memories, removes some
    /// unused vectors and folds a long tail of the index. A failure is a warning and not an error. A model that has failed
    /// in the command is not called again.
    pub(crate) fn settle(&self, printer: &mut Printer) -> Result<(), Failure> {
        if self.store.home().is_read_only() {
            return Ok(());
        }
        if let Err(error) = self.engine.flush() {
            printer.warning(format!("could not record access counts: {error}"))?;
        }
        if let Err(error) = self.listen_a_little() {
            printer.warning(format!("could not read the waiting turns: {error}"))?;
        }
        if !self.failed.load(Ordering::Relaxed)
            && !self.later.load(Ordering::Relaxed)
            && let Err(error) = self.embed_a_little()
        {
            printer.warning(format!("could not embed the waiting memories: {error}"))?;
        }
        if let Err(error) = self.store.upkeep.drop_stale_vectors(None, DROPPED_AFTERWARDS) {
            printer.warning(format!("could not remove vectors of an earlier model: {error}"))?;
        }
        match self.index.chore() {
            Ok(PendingIndexWork::None) => Ok(()),
            Ok(PendingIndexWork::Short) => self.fold(printer),
            Ok(PendingIndexWork::Long) => match background::start_fold(self.settings) {
                Ok(()) => Ok(()),
                Err(_) => self.fold(printer),
            },
            Err(error) => printer.warning(format!("the index was not folded: {error}")),
        }
    }

    /// Folds the tail of the index if it is long.
    pub(crate) fn fold(&self, printer: &mut Printer) -> Result<(), Failure> {
        match self.index.tend() {
            Ok(_) => Ok(()),
            Err(error) => printer.warning(format!("the index was not folded: {error}")),
        }
    }
}

//! The setup of every test here: a home, its store, a clock and an engine over them.

use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tulving_core::model::answer::{Page, Receipt};
use tulving_core::model::change::{Actor, ChangeSet, Write};
use tulving_core::model::error::Error;
use tulving_core::model::file::{FilePath, Folder};
use tulving_core::model::id::{MemoryId, MemoryRef, PrincipalId, SpaceId};
use tulving_core::model::job::{Job, Lease};
use tulving_core::model::limits::Limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::record::Record;
use tulving_core::model::request::{
    AssociationRequest, Caller, Filter, ForgetMode, ForgetRequest, ListRequest, Mode, RecallRequest,
    SaveRequest, Sort, TurnRequest, UpdateRequest,
};
use tulving_core::model::time::{Timestamp, Zone};
use tulving_core::model::vocabulary::{JobState, Origin, PrincipalKind, Relation, Role, SpaceKind, TurnRole};
use tulving_core::ports::{Embedder, Index, Store};
use tulving_core::{BackendEntry, Backends, Engine, LoadOptions, LoadReport, Ports, SecretPolicies};
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore};
use tulving_testkit::build;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::NoEmbedder;
use tulving_testkit::extractor::ScriptedExtractor;
use tulving_testkit::fault::FaultyStore;
use tulving_testkit::files::InMemoryFiles;
use tulving_testkit::index::PlainIndex;
use tulving_testkit::objects::InMemoryObjects;

pub(crate) struct Bed {
    pub(crate) engine: Engine,
    /// The store that the engine uses.
    pub(crate) store: Arc<FaultyStore>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) files: Arc<InMemoryFiles>,
    pub(crate) objects: Arc<InMemoryObjects>,
    pub(crate) extractor: Arc<ScriptedExtractor>,
    home: Home,
    _folder: TempDir,
}

impl Bed {
    /// Creates a bed whose clock advances by a millisecond at each reading.
    pub(crate) fn new() -> Self {
        Self::embedding(Arc::new(NoEmbedder))
    }

    /// Creates the same bed with this model.
    pub(crate) fn embedding(embedder: Arc<dyn Embedder>) -> Self {
        Self::with(ManualClock::ticking(Duration::from_millis(1)), embedder)
    }

    pub(crate) fn with(clock: ManualClock, embedder: Arc<dyn Embedder>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        let clock = Arc::new(clock);
        let opened =
            SqliteStore::open_with_clock(&home, SqliteOptions::default(), clock.clone()).expect("a store");
        let store = Arc::new(FaultyStore::new(Arc::new(opened)));
        let files = Arc::new(InMemoryFiles::new());
        let objects = Arc::new(InMemoryObjects::new());
        let extractor = Arc::new(ScriptedExtractor::new());
        let engine = Engine::new(Ports {
            store: store.clone(),
            embedder,
            former: Vec::new(),
            index: Arc::new(PlainIndex::new(store.clone())),
            files: files.clone(),
            objects: objects.clone(),
            extractor: extractor.clone(),
            clock: clock.clone(),
            limits: Limits::default(),
            secret_policies: SecretPolicies::default(),
        });
        Self { engine, store, clock, files, objects, extractor, home, _folder: folder }
    }

    /// Sets these limits.
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        Self { engine: self.engine.with_limits(limits), ..self }
    }

    /// Sets the secrets policy of spaces.
    pub(crate) fn with_secrecy(self, secret_policies: SecretPolicies) -> Self {
        Self { engine: self.engine.with_secrecy(secret_policies), ..self }
    }

    /// Opens another engine on the same home, with its own store, like another process.
    pub(crate) fn beside(&self) -> Engine {
        self.beside_with(Arc::new(NoEmbedder), Vec::new())
    }

    /// Opens the same with its own models.
    pub(crate) fn beside_with(&self, embedder: Arc<dyn Embedder>, former: Vec<Arc<dyn Embedder>>) -> Engine {
        let opened = Arc::new(SqliteStore::open(&self.home, SqliteOptions::default()).expect("a store"));
        self.another(opened.clone(), Arc::new(PlainIndex::new(opened)), embedder, former)
    }

    /// Opens an engine on the same store with the production index.
    pub(crate) fn shipped(&self, embedder: Arc<dyn Embedder>) -> Engine {
        let index = SearchIndex::open(self.store.clone(), &self.home.index_dir());
        self.another(self.store.clone(), Arc::new(index), embedder, Vec::new())
    }

    /// Opens an engine that shares everything but the store with the bed.
    fn another(
        &self,
        store: Arc<dyn Store>,
        index: Arc<dyn Index>,
        embedder: Arc<dyn Embedder>,
        former: Vec<Arc<dyn Embedder>>,
    ) -> Engine {
        Engine::new(Ports {
            store,
            embedder,
            former,
            index,
            files: self.files.clone(),
            objects: self.objects.clone(),
            extractor: self.extractor.clone(),
            clock: self.clock.clone(),
            limits: Limits::default(),
            secret_policies: SecretPolicies::default(),
        })
    }

    /// Opens an engine on the same home with these backends.
    pub(crate) fn over(&self, backends: Vec<BackendEntry>) -> Engine {
        self.beside().with_backends(Backends::new(backends).expect("one is primary"))
    }

    /// Takes a job of this kind for a process that is killed before it does anything; `None` if none is due.
    pub(crate) fn take_job(&self, kind: &str, holder: &str, lease: Duration) -> Option<Job> {
        take_job(&*self.store, kind, holder, self.engine.now(), lease)
    }

    pub(crate) fn world(&self) -> build::StoreFixture {
        build::StoreFixture::new(self.store.clone())
    }

    pub(crate) fn user(&self) -> Caller {
        self.engine.user(Origin::Cli, None).expect("the user")
    }

    /// Creates a principal without memberships.
    pub(crate) fn person(&self, name: &str) -> Caller {
        let principal =
            self.engine.create_principal(&self.user(), name, PrincipalKind::Person).expect("a principal");
        caller(principal.id, SpaceId::DEFAULT)
    }

    /// Creates a hub with the user as its admin.
    pub(crate) fn hub(&self, name: &str) -> SpaceId {
        self.space(name, SpaceKind::Hub)
    }

    pub(crate) fn space(&self, name: &str, kind: SpaceKind) -> SpaceId {
        self.engine.create_space(&self.user(), name, kind).expect("a space").id
    }

    /// Creates a principal who is a member of a space, as a caller in that space.
    pub(crate) fn member(&self, name: &str, space: SpaceId, role: Role) -> Caller {
        let person = self.person(name);
        self.engine.set_member(&self.user(), &space.to_string(), name, role).expect("a member");
        caller(person.viewer.principal, space)
    }

    #[track_caller]
    pub(crate) fn save(&self, caller: &Caller, request: impl Into<Saying>) -> Receipt {
        match self.engine.save(caller, request.into().0) {
            Ok(receipt) => receipt,
            Err(error) => panic!("not saved: {error}"),
        }
    }

    #[track_caller]
    pub(crate) fn get(&self, caller: &Caller, id: MemoryId) -> Memory {
        match self.engine.get(caller, id.into()) {
            Ok(memory) => memory,
            Err(error) => panic!("not found: {error}"),
        }
    }

    #[track_caller]
    pub(crate) fn update(&self, caller: &Caller, id: MemoryId, request: &UpdateRequest) -> Memory {
        match self.engine.update(caller, id.into(), request) {
            Ok(edited) => edited.memory,
            Err(error) => panic!("not updated: {error}"),
        }
    }

    #[track_caller]
    pub(crate) fn forget(&self, caller: &Caller, id: MemoryId, mode: ForgetMode) -> Memory {
        let request = ForgetRequest { mode, reason: None };
        match self.engine.forget(caller, id.into(), &request) {
            Ok(gone) => gone.memory,
            Err(error) => panic!("not forgotten: {error}"),
        }
    }

    #[track_caller]
    pub(crate) fn link(&self, caller: &Caller, source: MemoryId, target: MemoryId, relation: Relation) {
        if let Err(error) = self.engine.associate(caller, source.into(), &link(target, relation)) {
            panic!("not linked: {error}");
        }
    }

    /// Returns the contents that the caller can list, newest first.
    pub(crate) fn contents(&self, caller: &Caller) -> Vec<String> {
        let page = self.engine.list(caller, &listing(Sort::Newest, 1_000));
        contents(&page.expect("a list"))
    }

    /// Returns the path of a file in the folder of a caller's space.
    #[track_caller]
    pub(crate) fn path(&self, caller: &Caller, name: &str) -> FilePath {
        let space = self.engine.space(caller).expect("a space");
        FilePath::new(&Folder::of(&space), name).expect("a name")
    }

    /// Writes a file in the folder of a caller's space, as an editor would.
    #[track_caller]
    pub(crate) fn edit(&self, caller: &Caller, name: &str, content: impl AsRef<[u8]>) {
        self.files.edit(&self.path(caller, name), content);
    }

    /// Loads the records of a dump, a few at a time, each with its position as its line.
    pub(crate) fn try_load(&self, records: Vec<Record>, options: LoadOptions) -> Result<LoadReport, Error> {
        let user = self.user();
        let mut loading = self.engine.begin_load(&user, options)?;
        let lines: Vec<(u64, Record)> = (1..).zip(records).collect();
        for piece in lines.chunks(7) {
            self.engine.load(&user, &mut loading, piece.to_vec())?;
        }
        self.engine.finish_load(&user, loading)
    }

    /// Loads the records of a valid dump.
    #[track_caller]
    pub(crate) fn load(&self, records: Vec<Record>) -> LoadReport {
        match self.try_load(records, LoadOptions::default()) {
            Ok(report) => report,
            Err(error) => panic!("not loaded: {error}"),
        }
    }

    /// Returns all records of the store.
    pub(crate) fn dump(&self) -> Vec<Record> {
        let store: &dyn Store = &*self.store;
        build::dump(store, 1_000)
    }
}

/// A save request, from a text or in full.
pub(crate) struct Saying(SaveRequest);

impl From<&str> for Saying {
    fn from(content: &str) -> Self {
        Self(SaveRequest::new(content))
    }
}

impl From<SaveRequest> for Saying {
    fn from(request: SaveRequest) -> Self {
        Self(request)
    }
}

/// Returns a caller without a token, with all rights of the principal.
pub(crate) fn caller(principal: PrincipalId, space: SpaceId) -> Caller {
    let (agent, origin, zone) = (None, Origin::Api, Zone::default());
    Caller { viewer: build::eyes(principal), ceiling: Role::Admin, space, agent, origin, zone }
}

/// Returns the same caller in another space.
pub(crate) fn within(caller: &Caller, space: SpaceId) -> Caller {
    Caller { space, ..caller.clone() }
}

pub(crate) fn keyed(key: &str, content: &str) -> SaveRequest {
    SaveRequest { key: Some(key.to_owned()), ..SaveRequest::new(content) }
}

pub(crate) fn said(content: &str) -> UpdateRequest {
    UpdateRequest { content: Some(content.to_owned()), ..UpdateRequest::default() }
}

/// Returns a turn of a user, in no channel.
pub(crate) fn turn(content: &str) -> TurnRequest {
    TurnRequest {
        channel: None,
        role: TurnRole::User,
        speaker: None,
        content: content.to_owned(),
        source: None,
    }
}

pub(crate) fn link(target: impl Into<MemoryRef>, relation: Relation) -> AssociationRequest {
    AssociationRequest { target: target.into(), relation: Some(relation), weight: None }
}

/// Takes a job of this kind that is due now, and does nothing with it.
pub(crate) fn take_job(
    store: &dyn Store,
    kind: &str,
    holder: &str,
    now: Timestamp,
    lease: Duration,
) -> Option<Job> {
    let from = store.claimable(&[kind], now, 1).expect("jobs").pop()?;
    let lease = Some(Lease { holder: holder.to_owned(), until: now.plus(lease) });
    let to = Job { state: JobState::Running, attempts: from.attempts + 1, lease, ..from.clone() };
    let by = Actor { principal: PrincipalId::USER, agent: None };
    let writes = vec![Write::MoveJob { from: Box::new(from), to: Box::new(to.clone()) }];
    store.apply(&ChangeSet { by, at: now, rights: Vec::new(), writes }).expect("nobody else takes it");
    Some(to)
}

pub(crate) fn listing(sort: Sort, limit: usize) -> ListRequest {
    ListRequest { filter: Filter::default(), sort, limit, cursor: None }
}

pub(crate) fn recall(mode: Mode) -> RecallRequest {
    RecallRequest { mode, filter: Filter::default(), sort: None, limit: 100 }
}

pub(crate) fn contents(page: &Page) -> Vec<String> {
    let content = |memory: &Memory| memory.fields.text.content.clone();
    page.memories.iter().map(content).collect()
}

/// Asserts that a result is an error that matches a pattern.
macro_rules! refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("{} was due, and there was {other:?}", stringify!($pattern)),
        }
    };
}
pub(crate) use refused;

/// Returns the message of an error.
pub(crate) fn words<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
    result.expect_err("it was to be refused").to_string()
}

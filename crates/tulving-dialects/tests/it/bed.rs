//! The setup of every test here: a home, its store, an engine over it, and a desk where tools are called.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tulving_core::model::file::{FilePath, Folder};
use tulving_core::model::id::{MemoryId, MemoryRef, SpaceId};
use tulving_core::model::limits::Limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, Filter, SaveRequest};
use tulving_core::model::space::Viewer;
use tulving_core::model::vocabulary::{Origin, PrincipalKind, Role, SpaceKind};
use tulving_core::ports::{Embedder, NoExtractor, NoObjects};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_dialects::Dialect;
use tulving_dialects::outgoing::ToolReply;
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_store::{Home, SqliteOptions, SqliteStore};
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::FakeEmbedder;
use tulving_testkit::files::InMemoryFiles;
use tulving_testkit::index::PlainIndex;

pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) files: Arc<InMemoryFiles>,
    pub(crate) caller: Caller,
    _folder: TempDir,
}

impl Bed {
    /// Creates a bed whose clock advances only by a second before each call. It starts on 2026-01-01.
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(FakeEmbedder))
    }

    pub(crate) fn with(embedder: Arc<dyn Embedder>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        let clock = Arc::new(ManualClock::new());
        let opened =
            SqliteStore::open_with_clock(&home, SqliteOptions::default(), clock.clone()).expect("a store");
        let store = Arc::new(opened);
        let files = Arc::new(InMemoryFiles::new());
        let engine = Engine::new(Ports {
            store: store.clone(),
            embedder,
            former: Vec::new(),
            index: Arc::new(PlainIndex::new(store)),
            files: files.clone(),
            objects: Arc::new(NoObjects),
            extractor: Arc::new(NoExtractor),
            clock: clock.clone(),
            limits: Limits::default(),
            secret_policies: SecretPolicies::default(),
        });
        let caller = engine.user(Origin::Mcp, Some("claude-code")).expect("the user");
        Self { engine, clock, files, caller, _folder: folder }
    }

    /// Sets the secrets policy of spaces.
    pub(crate) fn with_secrecy(self, secret_policies: SecretPolicies) -> Self {
        Self { engine: self.engine.with_secrecy(secret_policies), ..self }
    }

    pub(crate) fn context(&self, dialect: Dialect) -> ToolContext<'_> {
        ToolContext::open(&self.engine, &self.caller, dialect).expect("a desk")
    }

    pub(crate) fn wait(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// Calls a tool a second after the last.
    pub(crate) fn call(
        &self,
        dialect: Dialect,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolReply, ToolError> {
        self.call_as(&self.caller, dialect, tool, arguments)
    }

    pub(crate) fn call_as(
        &self,
        caller: &Caller,
        dialect: Dialect,
        tool: &str,
        arguments: Value,
    ) -> Result<ToolReply, ToolError> {
        self.wait(1);
        let context = ToolContext::open(&self.engine, caller, dialect)?;
        dialect.tool(tool).unwrap_or_else(|| panic!("there is no tool {tool}")).call(&context, arguments)
    }

    /// Returns the text of a call that succeeds.
    #[track_caller]
    pub(crate) fn text(&self, dialect: Dialect, tool: &str, arguments: Value) -> String {
        match self.call(dialect, tool, arguments) {
            Ok(reply) => reply.into_parts().0,
            Err(refusal) => panic!("{tool}: {refusal}"),
        }
    }

    /// Returns the data of a call that succeeds.
    #[track_caller]
    pub(crate) fn data(&self, dialect: Dialect, tool: &str, arguments: Value) -> Value {
        match self.call(dialect, tool, arguments) {
            Ok(reply) => {
                let (text, data) = reply.into_parts();
                let data = data.expect("data");
                let text: Value = serde_json::from_str(&text).expect("JSON");
                match dialect {
                    // The text of our own tools leaves out bookkeeping.
                    Dialect::Native => assert!(is_part(&text, &data), "{text} is not part of {data}"),
                    _ => assert_eq!(text, data),
                }
                data
            }
            Err(refusal) => panic!("{tool}: {refusal}"),
        }
    }

    /// Returns the message of a call that is refused.
    #[track_caller]
    pub(crate) fn refused(&self, dialect: Dialect, tool: &str, arguments: Value) -> String {
        match self.call(dialect, tool, arguments) {
            Ok(reply) => panic!("{tool} answered {}", reply.as_text()),
            Err(refusal) => refusal.to_string(),
        }
    }

    /// Returns the same caller in a new space.
    pub(crate) fn space(&self, name: &str, kind: SpaceKind) -> Caller {
        let space = self.engine.create_space(&self.caller, name, kind).expect("a space").id;
        self.within(space)
    }

    /// Creates another person who may write in that space.
    pub(crate) fn member(&self, caller: &Caller, name: &str) -> Caller {
        let made =
            self.engine.create_principal(&self.caller, name, PrincipalKind::Person).expect("a principal");
        let space = caller.space.to_string();
        self.engine.set_member(&self.caller, &space, name, Role::Writer).expect("a member");
        Caller { viewer: Viewer { principal: made.id, within: None }, ..caller.clone() }
    }

    /// Writes a file in the folder of a caller's space, as an editor would.
    #[track_caller]
    pub(crate) fn edit_as(&self, caller: &Caller, name: &str, content: impl AsRef<[u8]>) {
        let folder = Folder::of(&self.engine.space(caller).expect("a space"));
        self.files.edit(&FilePath::new(&folder, name).expect("a name"), content);
    }

    /// Writes a file in the user's workspace, as an editor would.
    #[track_caller]
    pub(crate) fn edit(&self, name: &str, content: impl AsRef<[u8]>) {
        self.edit_as(&self.caller, name, content);
    }

    fn within(&self, space: SpaceId) -> Caller {
        Caller { space, ..self.caller.clone() }
    }

    /// Saves directly with the engine, without a dialect.
    #[track_caller]
    pub(crate) fn save(&self, request: SaveRequest) -> MemoryId {
        self.save_as(&self.caller, request)
    }

    #[track_caller]
    pub(crate) fn save_as(&self, caller: &Caller, request: SaveRequest) -> MemoryId {
        self.wait(1);
        match self.engine.save(caller, request) {
            Ok(receipt) => receipt.memory.id,
            Err(error) => panic!("not saved: {error}"),
        }
    }

    /// Saves many at once.
    #[track_caller]
    pub(crate) fn save_many(&self, requests: impl IntoIterator<Item = SaveRequest>) {
        self.wait(1);
        if let Err(error) = self.engine.save_many(&self.caller, requests.into_iter().collect()) {
            panic!("not saved: {error}");
        }
    }

    #[track_caller]
    pub(crate) fn memory(&self, id: &str) -> Memory {
        let which: MemoryRef = id.parse().expect("a name");
        self.engine.get(&self.caller, which).expect("a memory")
    }

    pub(crate) fn count(&self) -> u64 {
        self.engine.count(&self.caller, &Filter::default()).expect("a count")
    }
}

/// Returns the names of an object's fields, in alphabetical order.
pub(crate) fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

/// Returns one field of each item of a list.
pub(crate) fn each<'a>(list: &'a Value, field: &str) -> Vec<&'a str> {
    let items = list.as_array().expect("a list").iter();
    items.map(|item| item[field].as_str().expect("a text")).collect()
}

/// True if everything in `part` is in `whole` at the same place.
pub(crate) fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|other| is_part(value, other)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(one, other)| is_part(one, other))
        }
        _ => part == whole,
    }
}

//! `tulving doctor`: checks the home for damage and problems. The exit code states the result.

use std::io::ErrorKind;
use std::time::Duration;

use clap::Args;
use serde::Serialize;
use tulving_core::model::backend::{BackendDescription, BackendRole, Verb};
use tulving_core::model::error::{Error, ModelError, StoreError};
use tulving_core::model::id::PrincipalId;
use tulving_core::model::integrity::{Severity, StoreCheckDepth, StoreCheckFinding, StoreCheckReport};
use tulving_core::model::preview;
use tulving_core::model::space::Viewer;
use tulving_core::ports::Store;
use tulving_core::{BackendEntry, BackendLocation};
use tulving_models::RetryPolicy;
use tulving_store::{FoldOutcome, Home, PresenceCheck, SearchIndex, Workspace};

use crate::config::{EmbeddingCallOptions, Settings};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::open_store::OpenStore;
use crate::print::Printer;
use crate::show::style::{self, BAD, FAINT, GOOD, WARN};
use crate::show::text::{one_line, pad};
use crate::wire;

const EXAMPLES: &str = "\
Examples:
  tulving doctor
  tulving doctor --deep
  tulving doctor --json

Exit code 1 if anything is bad; warnings alone are 0.";

/// The time limit for a backend to describe itself.
const BACKEND_WAIT: Duration = Duration::from_secs(10);

/// Flags of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    /// Check every content and attachment, not only a sample
    #[arg(long)]
    deep: bool,
}

/// The result of one check.
#[derive(Serialize)]
struct DoctorCheck {
    name: &'static str,
    verdict: Verdict,
    text: String,
    hint: Option<String>,
}

/// The verdict of a check.
#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Bad,
}

impl DoctorCheck {
    fn ok(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, verdict: Verdict::Ok, text: text.into(), hint: None }
    }

    fn warn(name: &'static str, text: impl Into<String>, hint: &str) -> Self {
        Self { name, verdict: Verdict::Warn, text: text.into(), hint: Some(hint.to_owned()) }
    }
}

impl From<StoreCheckFinding> for DoctorCheck {
    fn from(finding: StoreCheckFinding) -> Self {
        let verdict = match finding.severity {
            Severity::Fine => Verdict::Ok,
            Severity::Warn => Verdict::Warn,
            Severity::Bad => Verdict::Bad,
        };
        Self { name: finding.name, verdict, text: finding.text, hint: finding.hint.map(str::to_owned) }
    }
}

pub(super) fn run(args: &DoctorArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut lines = look(args, settings)?;
    lines.extend(environment(settings));
    let sound = lines.iter().all(|line| line.verdict != Verdict::Bad);
    if printer.json() {
        printer.document(&serde_json::json!({ "sound": sound, "findings": lines }))?;
    } else {
        print(&lines, printer)?;
    }
    Ok(if sound { Outcome::Done } else { Outcome::Unsound })
}

/// Returns the findings, for an admin of the org. A missing store is a warning. A store that cannot be opened is reported as
/// a finding.
fn look(args: &DoctorArgs, settings: &Settings) -> Result<Vec<DoctorCheck>, Failure> {
    if !settings.home.exists() {
        if settings.token.is_some() {
            return Err(Error::BadToken.into());
        }
        let text = format!("{} does not exist yet", settings.home.display());
        return Ok(vec![DoctorCheck::warn("home", text, "the first `tulving save` creates it")]);
    }
    let depth = if args.deep { StoreCheckDepth::Deep } else { StoreCheckDepth::Usual };
    let opened = Home::open_or_create(&settings.home).and_then(|home| OpenStore::open(&home, settings));
    let store = match opened {
        Ok(store) => store,
        Err(error) => return Ok(vec![unreadable(error)]),
    };
    match admit(&store, settings) {
        Ok(()) => {}
        // If the record of the local user is damaged, the later checks report the damage.
        Err(Error::Store(_)) if settings.token.is_none() => {}
        Err(Error::Store(error)) => return Ok(vec![unreadable(error)]),
        Err(error) => return Err(error.into()),
    }
    Ok(match examine(&store, depth) {
        Ok(checkup) => {
            let sound = checkup.severity() != Severity::Bad;
            let mut lines: Vec<DoctorCheck> = checkup.findings.into_iter().map(DoctorCheck::from).collect();
            lines.extend(if sound { model(&*store.records, settings) } else { None });
            lines.extend(sound.then(|| index(&store.index, args.deep)));
            lines.push(files(&wire::workspace(store.home(), settings)));
            lines.extend(if sound { presence(&store, settings, depth) } else { Vec::new() });
            lines.extend(backends(settings));
            lines.extend(secret_policies(&*store.records, settings));
            lines.extend(settings.idle().map(idle));
            lines
        }
        Err(error) => vec![unreadable(error)],
    })
}

/// Returns the spaces with a secrets policy in `config.toml` that do not exist: the policy would have no effect. Returns
/// nothing if the spaces cannot be read, because another check reports that.
fn secret_policies(store: &dyn Store, settings: &Settings) -> Vec<DoctorCheck> {
    let everybody = Viewer { principal: PrincipalId::USER, within: None };
    let Ok(spaces) = store.spaces(&everybody) else {
        return Vec::new();
    };
    let known = |name: &str| spaces.iter().any(|space| space.is_called(name));
    let unknown = settings.secret_policies.spaces.keys().filter(|name| !known(name));
    let line = |name: &String| {
        let name = preview::short(name);
        let text = format!("config.toml sets the secrets policy of `{name}`, and there is no such space");
        DoctorCheck::warn("secrets", text, "`tulving space list` shows their names")
    };
    unknown.map(line).collect()
}

/// Checks that the configured model works, and that the vectors in use come from this model. Returns nothing if the store
/// cannot name the model in use, because another check reports that.
fn model(store: &dyn Store, settings: &Settings) -> Option<DoctorCheck> {
    let calling = EmbeddingCallOptions { patience: RetryPolicy::Hurried, ..EmbeddingCallOptions::default() };
    let embedder = wire::embedder(settings, wire::noted(settings, calling));
    let answers = store.model().ok()?;
    let tried = embedder.embed(&["Does it work?"]).and_then(|_| embedder.model());
    Some(match (tried, answers) {
        (Err(ModelError::None), _) => {
            DoctorCheck::ok("model", "none is set up: memories are found by words and links")
        }
        (Err(error), _) => {
            let hint = "`tulving config` shows what is set up; until the model works, memories are found by their words";
            DoctorCheck::warn("model", error.to_string(), hint)
        }
        (Ok(set_up), Some(answers)) if answers != set_up => {
            let text = format!("{set_up} is set up and works, but the stored vectors are from {answers}");
            let hint = match store.next_model().ok()? == Some(set_up) {
                true => "the change is under way: a server completes it, or `tulving embed` does",
                false => "`tulving embed` makes the new vectors and then switches to them",
            };
            DoctorCheck::warn("model", text, hint)
        }
        (Ok(set_up), _) => DoctorCheck::ok("model", format!("{set_up} works")),
    })
}

/// Returns the environment variables with the prefix `TULVING_` that are not settings.
fn environment(settings: &Settings) -> impl Iterator<Item = DoctorCheck> {
    let unknown = settings.unknown_variables.iter();
    unknown.map(|variable| DoctorCheck::warn("environment", variable.to_string(), &variable.hint()))
}

/// Warns of a setting that is on and has no effect.
fn idle(what: &str) -> DoctorCheck {
    let hint = "set llm.provider and llm.model, or turn it off; until then rules read the turns of users";
    DoctorCheck::warn("passes", what, hint)
}

/// Returns the folder of the files. All other output names files by their paths below this folder.
fn files(workspace: &Workspace) -> DoctorCheck {
    let shown = workspace.folder().display();
    match workspace.folder().read_dir() {
        Ok(_) => DoctorCheck::ok("workspace", format!("files are in {shown}")),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            DoctorCheck::ok("workspace", format!("{shown} does not exist yet"))
        }
        Err(error) => {
            let hint = "check that the folder is there and may be read and written";
            DoctorCheck::warn("workspace", format!("{shown} cannot be read: {error}"), hint)
        }
    }
}

/// Checks the attachments and files of memories, which may be missing.
fn presence(store: &OpenStore, settings: &Settings, depth: StoreCheckDepth) -> Vec<DoctorCheck> {
    let (home, folder) = (store.home(), store.home().objects());
    let sizes = match settings.objects.sizes(&folder) {
        Ok(sizes) => sizes,
        Err(error) => {
            let text = format!("they cannot be checked: {error}");
            return vec![DoctorCheck::warn(
                "attachments",
                text,
                "`tulving config` shows where they are kept",
            )];
        }
    };
    let (files, objects) = (wire::workspace(home, settings), settings.objects.open(&folder));
    let check = PresenceCheck { store: &*store.checkup, files: &files, objects: &*objects, sizes: &*sizes };
    match check.look(depth) {
        Ok(findings) => findings.into_iter().map(DoctorCheck::from).collect(),
        Err(error) => vec![unreadable(error)],
    }
}

/// Checks the configured backends: lists their supported operations, or the reason why they do not answer.
fn backends(settings: &Settings) -> Vec<DoctorCheck> {
    let Some(backends) = wire::backends(settings) else {
        return Vec::new();
    };
    let line = |entry: &BackendEntry| {
        let who = format!("{} ({})", entry.name, entry.role.as_str());
        match &entry.keeps {
            BackendLocation::BuiltIn => DoctorCheck::ok("backend", format!("{who}: built in")),
            BackendLocation::Elsewhere(backend) => match backend.describe(BACKEND_WAIT) {
                Ok(BackendDescription { version, verbs }) => {
                    let verbs: Vec<&str> = verbs.into_iter().map(Verb::as_str).collect();
                    let verbs = if verbs.is_empty() { "nothing".to_owned() } else { verbs.join(", ") };
                    DoctorCheck::ok("backend", format!("{who}: version {version}, offers {verbs}"))
                }
                Err(error) => {
                    let hint = "docs/plugins.md says how to test a plugin by hand";
                    let line = DoctorCheck::warn("backend", format!("{who} {error}"), hint);
                    match entry.role {
                        BackendRole::Primary => DoctorCheck { verdict: Verdict::Bad, ..line },
                        BackendRole::Secondary => line,
                    }
                }
            },
        }
    };
    backends.all().into_iter().map(line).collect()
}

/// Checks the index. Damage is repaired at once, because all its data is derived from the store.
fn index(index: &SearchIndex, deep: bool) -> DoctorCheck {
    let damage = if deep { index.verify() } else { Ok(Vec::new()) };
    let looked = damage.and_then(|damage| {
        let status = index.status()?;
        if !damage.is_empty() || !status.damage.is_empty() || status.partial {
            index.tend()?;
        }
        // The purge also removes files that an earlier purge could not remove because they were in use.
        let in_use = matches!(index.purge()?, FoldOutcome::Done { left: 1.., .. });
        Ok((damage, index.status()?, in_use))
    });
    let (mut damage, status, in_use) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            return DoctorCheck::warn("index", error.to_string(), "recall searches the backends that answer");
        }
    };
    damage.extend(status.damage.iter().filter(|found| !damage.contains(found)).cloned().collect::<Vec<_>>());
    if let Some(why) = status.unwritable {
        let hint = "move away the file at this path, or make the folder writable; until then every process builds its own index";
        return DoctorCheck::warn("index", format!("it is only in RAM: {why}"), hint);
    }
    if status.partial {
        let hint = "until then recall finds older memories only by their exact words";
        return DoctorCheck::warn("index", "it is being rebuilt", hint);
    }
    if status.holds_erased || in_use {
        let text = "its files still contain text of erased memories";
        return DoctorCheck::warn(
            "index",
            text,
            "another process uses these files; run `tulving doctor` again when that process has ended",
        );
    }
    // These counts have no commas between thousands, like the numbers that the store writes into the same line.
    let counted = |count: u64, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let size = format!(
        "{} in {}, {} after them",
        counted(status.items, "item"),
        counted(status.segments as u64, "segment"),
        counted(status.tail as u64, "change"),
    );
    match damage.as_slice() {
        [] => DoctorCheck::ok("index", size),
        damage => {
            let text = format!("damaged and rebuilt ({}); now {size}", damage.join("; "));
            let hint = "nothing was lost and nothing is left to do: the index is derived from the store";
            DoctorCheck::warn("index", text, hint)
        }
    }
}

/// Refuses callers who are not admins of the organisation, because the findings concern the memories of all users.
fn admit(store: &OpenStore, settings: &Settings) -> Result<(), Error> {
    let embedder = wire::embedder(settings, EmbeddingCallOptions::default());
    let files = wire::workspace(store.home(), settings);
    let engine = wire::engine(store, &store.index, &files, settings, embedder);
    engine.require_org_admin(&wire::caller(&engine, settings)?)
}

/// Checks a store, and finishes an erasure that a killed process left behind, if nothing else is wrong and the store
/// can be written.
fn examine(store: &OpenStore, depth: StoreCheckDepth) -> Result<StoreCheckReport, StoreError> {
    let checkup = store.checkup.check(depth)?;
    if checkup.severity() == Severity::Bad || store.home().is_read_only() || !store.upkeep.scrub()? {
        return Ok(checkup);
    }
    store.checkup.check(depth)
}

fn unreadable(error: StoreError) -> DoctorCheck {
    let failure = Failure::from(error);
    DoctorCheck { name: "store", verdict: Verdict::Bad, text: failure.message(), hint: failure.hint() }
}

fn print(lines: &[DoctorCheck], printer: &mut Printer) -> Result<(), Failure> {
    let widest = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    for DoctorCheck { name, verdict, text, hint } in lines {
        let (style, word) = match verdict {
            Verdict::Ok => (GOOD, "ok"),
            Verdict::Warn => (WARN, "warn"),
            Verdict::Bad => (BAD, "bad"),
        };
        let verdict = style::paint(style, pad(word, 4));
        printer.line(format!("{verdict}  {}  {}", pad(name, widest), one_line(text)))?;
        if let Some(hint) = hint {
            printer.line(format!("      {} {hint}", style::paint(FAINT, "hint:")))?;
        }
    }
    Ok(())
}

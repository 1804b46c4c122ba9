//! `tulving model`: shows the embedding model, checks and adds another one, and goes back to the built-in one.
//!
//! A change is written into `config.toml` and requested in the store. Servers complete it in the background, and
//! `tulving embed` does so at once.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::json;
use tulving_core::ModelStatus;
use tulving_models::{
    FolderConfig, FolderReport, ModelFolderError, TextPrefixes, check_folder, folder_prompts,
};

use crate::config::{self, EmbeddingCallOptions, Settings};
use crate::embedders;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::global::GlobalArgs;
use crate::input;
use crate::print::Printer;
use crate::show::table::pairs;
use crate::show::text::counted;
use crate::wire::{self, App};

const EXAMPLES: &str = "\
Examples:
  tulving model
  tulving model add ~/models/paraphrase-multilingual-MiniLM-L12-v2
  tulving model add ./e5 --query-prefix \"query: \" --passage-prefix \"passage: \"
  tulving embed
  tulving model reset

A folder has model.onnx (or onnx/model.onnx), tokenizer.json or vocab.txt, and the other files as they are published. The
folder stays where it is: config.toml names it. Recall uses the vectors of the old model until the last new one is ready.";

/// Flags of `model`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: Option<ModelCommand>,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// Show the model that recall uses, and the one that is set up
    #[command(visible_alias = "list")]
    Show,
    /// Check the model in a folder, and use it
    Add(ModelAddArgs),
    /// Use the built-in model again
    Reset,
}

/// Flags of `model add`.
#[derive(Debug, Args)]
struct ModelAddArgs {
    /// The folder with model.onnx and tokenizer.json or vocab.txt
    folder: PathBuf,
    /// A text before every question; without the flag, what the model's config_sentence_transformers.json says
    #[arg(long, value_name = "TEXT")]
    query_prefix: Option<String>,
    /// A text before every stored text; without the flag, what the model's config_sentence_transformers.json says
    #[arg(long, value_name = "TEXT")]
    passage_prefix: Option<String>,
}

/// A similarity to an unrelated text from which the limits of recall do not fit.
const HIGH: f32 = 0.5;
/// The least distance between the similarity to a translation and the similarity to an unrelated text.
const CLEARLY: f32 = 0.1;

/// The result of `model add`.
#[derive(Serialize)]
struct ModelAddReport {
    model: String,
    folder: String,
    dimensions: usize,
    tokenizer: &'static str,
    pooling: &'static str,
    max_length: usize,
    query_prefix: String,
    passage_prefix: String,
    similarity: serde_json::Value,
    warnings: Vec<String>,
    config: PathBuf,
    /// The model that recall uses until the change is complete.
    answers: Option<String>,
    /// Number of memories to embed again.
    waiting: u64,
}

pub(super) fn run(
    args: &ModelArgs,
    global: &GlobalArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    app.engine.require_org_admin(app.everywhere("model")?)?;
    match &args.command {
        None | Some(ModelCommand::Show) => show(app, printer),
        Some(ModelCommand::Add(args)) => add(args, global, app, printer),
        Some(ModelCommand::Reset) => reset(global, app, printer),
    }
}

fn add(
    args: &ModelAddArgs,
    global: &GlobalArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    app.store.records.require_writable()?;
    let folder = folder_of(&args.folder)?;
    let prompts = folder_prompts(Path::new(&folder))?;
    let prefixes = TextPrefixes {
        query: args.query_prefix.clone().unwrap_or(prompts.query),
        passage: args.passage_prefix.clone().unwrap_or(prompts.passage),
    };
    let changes = [
        ("embedding.provider", "folder".to_owned()),
        ("embedding.folder", folder.clone()),
        ("embedding.query_prefix", prefixes.query.clone()),
        ("embedding.passage_prefix", prefixes.passage.clone()),
    ];
    app.settings.check_writable(&changes)?;
    let hash_file = Some(embedders::hash_file(&app.settings.home));
    let checked =
        check_folder(&FolderConfig { folder: folder.clone().into(), prefixes: prefixes.clone(), hash_file })?;
    let status = change(&changes, global, app)?;
    let warnings = warnings(&checked);
    let report = ModelAddReport {
        model: checked.model,
        folder,
        dimensions: checked.dimensions,
        tokenizer: checked.tokenizer,
        pooling: checked.pooling,
        max_length: checked.max_length,
        query_prefix: prefixes.query,
        passage_prefix: prefixes.passage,
        similarity: json!({
            "paraphrase": rounded(checked.similarity.paraphrase),
            "german": rounded(checked.similarity.german),
            "chinese": rounded(checked.similarity.chinese),
            "unrelated": rounded(checked.similarity.unrelated),
        }),
        warnings,
        config: config::file_of(&app.settings.home),
        answers: status.answers,
        waiting: status.waiting,
    };
    if printer.json() {
        printer.document(&report)?;
        return Ok(Outcome::Done);
    }
    printer.line(format!("Added the model {}", report.model))?;
    let rows = [
        ("folder", format!("{} (it stays there)", report.folder)),
        ("dimensions", report.dimensions.to_string()),
        ("tokenizer", format!("{}, at most {} pieces", report.tokenizer, report.max_length)),
        ("pooling", report.pooling.to_owned()),
        ("query prefix", quoted(&report.query_prefix)),
        ("passage prefix", quoted(&report.passage_prefix)),
        ("settings", report.config.display().to_string()),
    ];
    printer.lines(&pairs(&rows))?;
    for warning in &report.warnings {
        printer.warning(warning)?;
    }
    tell_waiting(report.answers.as_deref(), &report.model, report.waiting, printer)
}

fn reset(global: &GlobalArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.store.records.require_writable()?;
    let changes = [("embedding.provider", "built-in".to_owned())];
    app.settings.check_writable(&changes)?;
    let status = change(&changes, global, app)?;
    let model = status.next.clone().or_else(|| status.answers.clone()).unwrap_or_default();
    if printer.json() {
        let config = config::file_of(&app.settings.home);
        printer.document(
            &json!({ "model": model, "config": config, "answers": status.answers, "waiting": status.waiting }),
        )?;
        return Ok(Outcome::Done);
    }
    printer.line("The built-in model is set up")?;
    tell_waiting(status.answers.as_deref(), &model, status.waiting, printer)
}

/// Returns the full path of a folder, which goes into `config.toml`.
fn folder_of(path: &Path) -> Result<String, Failure> {
    if !path.is_dir() {
        return Err(ModelFolderError::NotAFolder { folder: path.to_owned() }.into());
    }
    input::full_path(path)
}

/// Writes the settings, and requests the change in the store.
fn change(
    changes: &[config::SettingChange],
    global: &GlobalArgs,
    app: &App<'_>,
) -> Result<ModelStatus, Failure> {
    let old = app.settings.embedding.config(EmbeddingCallOptions::default());
    if let (Ok(old), Some(set_up)) = (old, app.engine.set_up_model())
        && app.store.records.model()?.as_ref() == Some(&set_up)
    {
        embedders::record(&app.settings.home, &old);
    }
    app.settings.write(changes)?;
    let settings = config::read(global)?;
    let engine = engine(&settings, app);
    let caller = app.everywhere("model")?;
    Ok(engine.request_model(caller)?)
}

/// Returns the engine with the model of other settings.
fn engine(settings: &Settings, app: &App<'_>) -> tulving_core::Engine {
    let embedder = wire::embedder(settings, wire::noted(settings, EmbeddingCallOptions::default()));
    wire::engine(&app.store, &app.index, &app.files, settings, embedder)
}

/// Says how many memories wait, and what embeds them.
fn tell_waiting(
    answers: Option<&str>,
    model: &str,
    waiting: u64,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let old = match answers {
        Some(answers) if answers != model => format!("; until then recall uses {answers}"),
        _ => String::new(),
    };
    printer.line(match waiting {
        0 if old.is_empty() => "No memory has to be embedded again".to_owned(),
        waiting => format!(
            "{} to embed again: a running server and later commands do this in the background, `tulving embed` does it now{old}",
            counted(waiting, "memory", "memories")
        ),
    })?;
    Ok(Outcome::Done)
}

/// The reasons why a model that works may find little.
fn warnings(report: &FolderReport) -> Vec<String> {
    let similarity = &report.similarity;
    let mut warnings = Vec::new();
    if similarity.paraphrase <= similarity.unrelated {
        warnings.push(
            "an English sentence is no nearer to its paraphrase than to an unrelated sentence; check the prefixes and the files"
                .to_owned(),
        );
    } else {
        let foreign = [("German", similarity.german), ("Chinese", similarity.chinese)];
        let far: Vec<&str> = foreign
            .iter()
            .filter(|(_, cosine)| {
                *cosine < similarity.unrelated + CLEARLY.min((1.0 - similarity.unrelated) / 2.0)
            })
            .map(|(language, _)| *language)
            .collect();
        if !far.is_empty() {
            warnings.push(format!(
                "an English sentence is hardly nearer to its translation into {} than to an unrelated sentence, so questions may not find memories in another language",
                far.join(" and ")
            ));
        }
    }
    if similarity.unrelated > HIGH {
        warnings.push(format!(
            "the similarity of two unrelated sentences is {:.2}; Tulving judges evidence and duplicates as for models where it is near 0, so it will report too much of both",
            similarity.unrelated
        ));
    }
    warnings
}

fn rounded(cosine: f32) -> f64 {
    (f64::from(cosine) * 1_000.0).round() / 1_000.0
}

fn quoted(prefix: &str) -> String {
    if prefix.is_empty() { "none".to_owned() } else { format!("\"{prefix}\"") }
}

fn show(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let status = app.engine.model_status(app.everywhere("model")?)?;
    let embedding = &app.settings.embedding;
    let embedder = wire::embedder(app.settings, wire::noted(app.settings, EmbeddingCallOptions::default()));
    let tried = embedder.embed_query("dimensions").and_then(|vector| Ok((embedder.model()?, vector.len())));
    let prefixes = embedding.prefixes();
    let TextPrefixes { query, passage } = &prefixes;
    if printer.json() {
        let (model, dimensions, error) = match &tried {
            Ok((model, dimensions)) => (Some(model), Some(dimensions), None),
            Err(error) => (None, None, (!embedding.is_off()).then(|| error.to_string())),
        };
        printer.document(&json!({
            "answers": status.answers, "embedded": status.embedded, "next": status.next, "waiting": status.waiting,
            "set_up": {
                "provider": embedding.provider(), "place": embedding.place(), "model": model, "dimensions": dimensions,
                "query_prefix": query, "passage_prefix": passage, "error": error,
            },
        }))?;
        return Ok(Outcome::Done);
    }
    let model = match &tried {
        Ok((model, dimensions)) => format!("{model}, {dimensions} dimensions"),
        Err(_) if embedding.is_off() => "none".to_owned(),
        Err(error) => error.to_string(),
    };
    let place = embedding.place().map_or_else(String::new, |place| format!(": {place}"));
    let mut rows = vec![("set up", model), ("provider", format!("{}{place}", embedding.provider()))];
    if !prefixes.is_empty() {
        rows.push(("query prefix", quoted(query)));
        rows.push(("passage prefix", quoted(passage)));
    }
    let vectors = |count| format!("{} with its vectors", counted(count, "memory", "memories"));
    rows.push(match &status.answers {
        Some(answers) => ("recall uses", format!("{answers}, {}", vectors(status.embedded))),
        None => ("recall uses", "no vectors yet".to_owned()),
    });
    if let Some(next) = &status.next {
        let left = counted(status.waiting, "memory", "memories");
        rows.push(("changes to", format!("{next}, {left} left; `tulving embed` embeds them now")));
    } else if status.waiting > 0 {
        rows.push(("waiting", counted(status.waiting, "memory", "memories")));
    } else if let (Ok((set_up, _)), Some(answers)) = (&tried, &status.answers)
        && set_up != answers
    {
        rows.push(("changes to", format!("{set_up}, when you run `tulving embed`")));
    }
    printer.lines(&pairs(&rows))?;
    Ok(Outcome::Done)
}

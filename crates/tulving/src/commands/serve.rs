//! `tulving serve`: HTTP for programs and agents, and the Model Context Protocol over it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;
use tulving_core::model::error::StoreError;
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{Clock as _, Store, SystemClock};
use tulving_dialects::Dialect;
use tulving_server::http::{Gauge, HttpApp as Service, ListenError, Listener};

use crate::config::SettingSource;
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::global::GlobalArgs;
use crate::log::BackgroundLog;
use crate::maintenance::{ConsolidationWorker, LifecycleWorker, LlmWorker, Maintenance};
use crate::model_watch::ModelWatch;
use crate::port_owner;
use crate::print::Printer;
use crate::reload::ConfigWatch;
use crate::show::style::{self, WORD};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving serve
  tulving serve --listen 127.0.0.1:0
  curl -H \"Authorization: Bearer $(cat ~/.local/share/tulving/api-token)\" \\
    http://127.0.0.1:7777/v1/dialects

The token of a request names the caller; X-Tulving-Space, X-Hub-ID or ?space= names the space. Ctrl-C stops the server after open
requests are answered. Limits, HTTPS and the log are settings (`tulving config --help`); changes of config.toml apply at once.";

/// The default address.
const USUAL: &str = "127.0.0.1:7777";

/// Flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArgs {
    /// The address to listen on; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = USUAL, value_parser = address)]
    listen: SocketAddr,
    /// Let other machines reach it; encrypted with server.tls_certificate, else not
    #[arg(long)]
    allow_remote: bool,
}

/// The address, for programs.
#[derive(Serialize)]
struct ListeningOutput<'a> {
    url: &'a str,
    mcp_url: &'a str,
    token_file: Option<&'a Path>,
}

pub(super) fn run(
    args: &ServeArgs,
    global: &GlobalArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    for (key, header) in [("space", "X-Tulving-Space"), ("agent", "X-Tulving-Agent")] {
        let chosen = app.settings.chosen.iter().find(|chosen| chosen.key == key);
        if let Some(SettingSource::Flag { name }) = chosen.map(|chosen| &chosen.source) {
            return Err(Failure::usage(format!("{name} has no effect on a server"))
                .hinted(format!("each request sets its own, with {header}")));
        }
    }
    let log = BackgroundLog::start(app.settings.logging);
    // The watch begins before the files are read, so that no change is missed.
    let watch = ConfigWatch::new(global, app.settings, log.clone(), Arc::clone(&app.engine));
    let rules = app.settings.server.rules(&app.settings.home)?;
    let encrypted = rules.tls.is_some();
    let remote = !args.listen.ip().is_loopback();
    if remote && !args.allow_remote {
        let travel = if encrypted { "" } else { ": tokens and memories travel unencrypted" };
        let hint = format!("listen on 127.0.0.1, or add --allow-remote to allow that{travel}");
        return Err(Failure::usage(format!("other machines could reach {}", args.listen)).hinted(hint));
    }
    let listener = Listener::open(args.listen).map_err(taken)?;
    if remote {
        printer.warning(match encrypted {
            true => "other machines can reach this server, over encrypted connections",
            false => "other machines can reach this server, and tokens and memories travel unencrypted",
        })?;
    }
    welcome(listener.address(), encrypted, app, printer)?;
    tracing::info!(
        address = %listener.address(),
        encrypted,
        home = %app.settings.home.display(),
        version = env!("CARGO_PKG_VERSION"),
        "started"
    );
    app.files.watch();
    let maintenance = Maintenance::start(&app.engine, app.store.home(), &app.store.upkeep, &app.index);
    let model_watch = ModelWatch::start(global, app);
    let writes = app.warn_read_only();
    let llm_worker = writes.then(|| LlmWorker::start(&app.engine, app.store.home()));
    let tending = &app.settings.tending;
    let tender = (writes && tending.enabled).then(|| LifecycleWorker::start(&app.engine, tending.interval));
    let consolidator = writes.then(|| ConsolidationWorker::start(&app.engine));
    let store = Arc::clone(&app.store.records);
    let service = Service::new(Arc::clone(&app.engine), Arc::new(maintenance.signal()), rules.limits)
        .under(rules)
        .telling(watched(store));
    listener.serve(service, watch);
    if let Some(consolidator) = consolidator {
        consolidator.stop();
    }
    if let Some(tender) = tender {
        tender.stop();
    }
    if let Some(llm_worker) = llm_worker {
        llm_worker.stop();
    }
    model_watch.stop();
    maintenance.stop();
    tracing::info!("stopped");
    log.end();
    Ok(Outcome::Done)
}

/// Returns the error of a port that cannot be used, with its owner if that is known.
fn taken(error: ListenError) -> Cause {
    match error {
        ListenError::Taken(address) => match port_owner::of(address) {
            Some(owner) => Cause::AddressTaken { address, owner: Box::new(owner) },
            None => Cause::Listen(error),
        },
        other => Cause::Listen(other),
    }
}

/// The time for which the gauges of a store are reused: if the metrics are public, anybody may ask for them at any rate.
const FRESH: Duration = Duration::from_secs(1);

/// The gauges of a store, read at most once a second.
fn watched(store: Arc<dyn Store>) -> impl Fn() -> Vec<Gauge> + Send + Sync {
    let last: Mutex<Option<(Instant, Vec<Gauge>)>> = Mutex::default();
    move || {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, seen)) = &*last
            && at.elapsed() < FRESH
        {
            return seen.clone();
        }
        let seen = gauges(&*store).unwrap_or_default();
        *last = Some((Instant::now(), seen.clone()));
        seen
    }
}

/// Reads the gauges of a store. All of them are cheap.
fn gauges(store: &dyn Store) -> Result<Vec<Gauge>, StoreError> {
    let waiting = match store.model()? {
        Some(model) => store.unembedded(&model)?,
        None => 0,
    };
    let today = store.usage(&SystemClock.now().date())?;
    let dropped = today.iter().map(|usage| usage.dropped).fold(0, u64::saturating_add);
    let gauge = |name, about, value| Gauge { name, about, value };
    Ok(vec![
        gauge("tulving_memories", "memories in any state", store.size()?),
        gauge("tulving_memories_waiting", "memories that wait to be embedded", waiting),
        gauge(
            "tulving_passes_dropped",
            "answers that no pass read today, because too many were waiting",
            dropped,
        ),
        gauge("tulving_change_log_head", "number of the last entry of the change log", store.head()?.0),
    ])
}

/// Prints the address and how to connect.
fn welcome(
    address: SocketAddr,
    encrypted: bool,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    // If the server listens on every address, the loopback address is shown, because clients on this machine can use
    // it.
    let shown = if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
    } else {
        address
    };
    let url = format!("{}://{shown}", if encrypted { "https" } else { "http" });
    let mcp_url = format!("{url}/mcp");
    let token_file = app.store.home().token_file();
    let token_file = token_file.exists().then_some(token_file.as_path());
    if let Some(file) = token_file.filter(|_| !holds_token(app)) {
        printer.warning(format!(
            "{} contains no valid token of this home; `tulving token rotate` makes a new one",
            file.display()
        ))?;
    }
    if printer.json() {
        printer.document(&ListeningOutput { url: &url, mcp_url: &mcp_url, token_file })?;
        return printer.finish();
    }
    printer.line(format!("Tulving listens on {}", style::paint(WORD, &url)))?;
    let token = match token_file {
        Some(file) => {
            printer.line(format!("The token is in {}", file.display()))?;
            format!("$(cat {})", quoted(&file.display().to_string()))
        }
        None => {
            printer.line("There is no token in the home; `tulving token create` makes one")?;
            "TOKEN".to_owned()
        }
    };
    printer.line("\nConnect Claude Code:")?;
    printer.line(format!(
        "  claude mcp add --transport http tulving {mcp_url} --header \"Authorization: Bearer {token}\""
    ))?;
    printer.line("Or any other MCP client, in its configuration:")?;
    printer.line(format!(
        "  {{\"mcpServers\": {{\"tulving\": {{\"type\": \"http\", \"url\": \"{mcp_url}\", \"headers\": {{\"Authorization\": \"Bearer TOKEN\"}}}}}}}}"
    ))?;
    let others: Vec<&str> = Dialect::ALL.iter().skip(1).map(|dialect| dialect.as_str()).collect();
    printer.line(format!(
        "Agents that use the tools of another memory system: {mcp_url}/NAME, where NAME is one of {}",
        others.join(", ")
    ))?;
    printer.line("\nCtrl-C stops it.")?;
    printer.finish()
}

/// True if the token file of the home contains a valid token.
fn holds_token(app: &App<'_>) -> bool {
    let token = tulving_store::read_token_file(app.store.home());
    token.ok().flatten().is_some_and(|token| app.engine.authenticate(&token, Origin::Api, None).is_ok())
}

/// Quotes a path for a shell, inside double quotes and a command substitution.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    local
        .as_deref()
        .unwrap_or(text)
        .parse()
        .map_err(|_| format!("give an address and a port, such as {USUAL}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port() {
        assert_eq!(address("localhost:80").expect("good").to_string(), "127.0.0.1:80");
        assert_eq!(address("[::1]:7777").expect("good").to_string(), "[::1]:7777");
        for wrong in ["", "7777", "127.0.0.1", "example.com:80", "localhost:"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_path_is_quoted_for_the_shell() {
        assert_eq!(quoted("/home/a/api-token"), "/home/a/api-token");
        assert_eq!(quoted("/home/my user's/t"), "'/home/my user'\\''s/t'");
    }
}

//! `tulving mcp`: the Model Context Protocol on standard input and output.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use clap::Args;
use tulving_core::Engine;
use tulving_core::request::Caller;
use tulving_core::vocabulary::Origin;
use tulving_dialects::Dialect;
use tulving_server::mcp::{Server, Upkeep, on_stdio};
use tulving_store::SearchIndex;

use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::print::Printer;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving mcp
  tulving mcp --dialect spacebot --space work
  claude mcp add tulving -- tulving mcp

The client starts it and speaks to it; a person has no use for it in a terminal. Standard output carries the protocol
and nothing else.";

/// Sections that are embedded in one step between calls.
const STEP: usize = 16;
/// How long calls have to be quiet before what waits is done.
const QUIET: Duration = Duration::from_millis(200);

/// Flags of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Mcp {
    /// Whose tools: native, max, memax, groups, maven or spacebot
    #[arg(long, value_name = "DIALECT", default_value = "native")]
    dialect: String,
}

pub(super) fn run(args: &Mcp, app: &App<'_>, _: &mut Printer) -> Result<Outcome, Failure> {
    let dialect: Dialect = args.dialect.parse().map_err(|error| Failure::usage(format!("{error}")))?;
    let caller = Caller { origin: Origin::Mcp, ..app.here()? };
    let keeper = Keeper::start(&app.engine, &app.index);
    let server = Server::new(Arc::clone(&app.engine), Arc::new(keeper.bell()), caller, dialect);
    let served = on_stdio(server);
    keeper.stop();
    served.map_err(Cause::Mcp)?;
    Ok(Outcome::Done)
}

/// Does what waits, in a thread of its own, whenever calls have been quiet for a moment.
struct Keeper {
    ring: SyncSender<()>,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Tells the keeper that something may wait.
struct Bell(SyncSender<()>);

impl Upkeep for Bell {
    fn tend(&self) {
        // Where it rings already, once is enough.
        let _ = self.0.try_send(());
    }
}

impl Keeper {
    fn start(engine: &Arc<Engine>, index: &Arc<SearchIndex>) -> Self {
        let (ring, rung) = sync_channel(1);
        let stopped = Arc::new(AtomicBool::new(false));
        let (engine, index, stop) = (Arc::clone(engine), Arc::clone(index), Arc::clone(&stopped));
        let thread = thread::spawn(move || keep(&engine, &index, &rung, &stop));
        Self { ring, stopped, thread }
    }

    fn bell(&self) -> Bell {
        Bell(self.ring.clone())
    }

    /// Ends what is being done at the next step.
    fn stop(self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.ring.try_send(());
        drop(self.ring);
        let _ = self.thread.join();
    }
}

fn keep(engine: &Engine, index: &SearchIndex, rung: &Receiver<()>, stopped: &AtomicBool) {
    while rung.recv().is_ok() {
        // What fails now is done at another time, here or by the next process.
        let mut waits = true;
        while waits && !stopped.load(Ordering::Relaxed) {
            thread::sleep(QUIET);
            let _ = engine.flush();
            let embedded = engine.embed_waiting(STEP).unwrap_or_default();
            waits = embedded.sections > 0 && embedded.left > 0;
            let _ = index.tend();
        }
        if stopped.load(Ordering::Relaxed) {
            break;
        }
    }
    let _ = engine.flush();
}

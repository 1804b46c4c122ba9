//! The log of a server: lines on standard error, for people or as JSON.
//!
//! Only what this program says itself is in it, on any level: other libraries would say what passes through them. Nobody
//! waits for the lines to be written. A program that starts a server and never reads its standard error loses lines, and
//! they are counted, but the server goes on.

use std::io::{self, Write as _};
use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::{Layered, SubscriberExt as _};
use tracing_subscriber::{Layer, Registry, reload};

pub(crate) use tracing_subscriber::filter::LevelFilter as Level;

/// What every target of ours begins with.
const OURS: &str = "tulving";
/// Lines that wait to be written.
const WAITING: usize = 4_096;
/// How long the last lines may take to be written.
const LAST: Duration = Duration::from_secs(1);

/// What is logged, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Logging {
    /// How much.
    pub(crate) level: Level,
    /// In which form.
    pub(crate) format: Format,
}

/// The form of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl Default for Logging {
    fn default() -> Self {
        Self { level: Level::INFO, format: Format::Text }
    }
}

type Filtered = Layered<reload::Layer<Targets, Registry>, Registry>;
type Lines = Box<dyn Layer<Filtered> + Send + Sync>;

/// The log of this process. What is dropped without [`end`](Self::end) may lose its last lines.
#[derive(Clone)]
pub(crate) struct Log {
    filter: reload::Handle<Targets, Registry>,
    lines: reload::Handle<Lines, Filtered>,
    pen: Pen,
}

impl Log {
    /// Starts it, once in a process.
    pub(crate) fn start(logging: Logging) -> Self {
        let pen = Pen::new();
        let (targets, filter) = reload::Layer::new(targets(logging.level));
        let (layer, lines) = reload::Layer::new(layer(logging.format, &pen));
        let subscriber = tracing_subscriber::registry().with(targets).with(layer);
        // A second one has no effect, and there is none.
        let _ = tracing::subscriber::set_global_default(subscriber);
        let last = pen.clone();
        panic::set_hook(Box::new(move |fault| {
            // Where, and not what: a message may hold what somebody saved.
            let at = fault.location().map(tracing::field::display);
            tracing::error!(at, "a fault in Tulving");
            // It may be the end of the process.
            last.wait();
        }));
        Self { filter, lines, pen }
    }

    /// Goes on in another way.
    pub(crate) fn change(&self, logging: Logging) {
        let _ = self.filter.reload(targets(logging.level));
        let _ = self.lines.reload(layer(logging.format, &self.pen));
    }

    /// Waits a moment for the last lines.
    pub(crate) fn end(self) {
        self.pen.wait();
    }
}

fn targets(level: Level) -> Targets {
    Targets::new().with_target(OURS, level)
}

fn layer(format: Format, pen: &Pen) -> Lines {
    let layer = fmt::layer().with_ansi(false).with_target(false).with_writer(pen.clone());
    match format {
        Format::Text => layer.boxed(),
        Format::Json => {
            layer.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
        }
    }
}

/// Hands lines to the thread that writes them.
#[derive(Clone)]
struct Pen {
    lines: SyncSender<Line>,
    lost: Arc<AtomicU64>,
}

enum Line {
    Text(Vec<u8>),
    /// Everything before this was written.
    End(SyncSender<()>),
}

impl Pen {
    fn new() -> Self {
        let (lines, waiting) = sync_channel(WAITING);
        let lost = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&lost);
        // Ends with the process.
        thread::spawn(move || write(&waiting, &counted));
        Self { lines, lost }
    }

    /// Waits a moment until everything was written.
    fn wait(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(Line::End(done)).is_ok() {
            let _ = written.recv_timeout(LAST);
        }
    }
}

fn write(waiting: &Receiver<Line>, lost: &AtomicU64) {
    for line in waiting {
        match line {
            Line::Text(text) => {
                let _ = io::stderr().write_all(&text);
            }
            Line::End(done) => {
                let _ = done.send(());
            }
        }
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lines = lost, "nobody read the log fast enough, and lines of it are lost");
        }
    }
}

impl<'a> MakeWriter<'a> for Pen {
    type Writer = &'a Pen;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

/// Each line comes as one piece.
impl io::Write for &Pen {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(Line::Text(line.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

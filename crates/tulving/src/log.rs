//! The log of a server: lines on standard error, as text or as JSON.
//!
//! At every level, the log contains only messages of this program, because other libraries would log the content of
//! memories. No caller waits for a line to be written. A program that starts a server and never reads its standard error
//! loses lines, which are counted, but the server continues.

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

/// The prefix of all targets of this program.
const OURS: &str = "tulving";
/// Number of lines that may wait to be written.
const WAITING: usize = 4_096;
/// Time limit for writing the last lines.
const LAST: Duration = Duration::from_secs(1);

/// The settings of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogSettings {
    /// The level.
    pub(crate) level: Level,
    /// The format.
    pub(crate) format: LogFormat,
}

/// The format of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    /// Text for people.
    #[default]
    Text,
    /// JSON for programs.
    Json,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: Level::INFO, format: LogFormat::Text }
    }
}

type FilteredRegistry = Layered<reload::Layer<Targets, Registry>, Registry>;
type LogLayer = Box<dyn Layer<FilteredRegistry> + Send + Sync>;

/// The log of this process. If it is dropped without [`end`](Self::end), the last lines may be lost.
#[derive(Clone)]
pub(crate) struct BackgroundLog {
    filter: reload::Handle<Targets, Registry>,
    lines: reload::Handle<LogLayer, FilteredRegistry>,
    pen: LogWriter,
}

impl BackgroundLog {
    /// Starts the log, once per process.
    pub(crate) fn start(logging: LogSettings) -> Self {
        let pen = LogWriter::new();
        let (targets, filter) = reload::Layer::new(targets(logging.level));
        let (layer, lines) = reload::Layer::new(layer(logging.format, &pen));
        let subscriber = tracing_subscriber::registry().with(targets).with(layer);
        // `start` is called only once, so setting the subscriber cannot fail.
        let _ = tracing::subscriber::set_global_default(subscriber);
        let last = pen.clone();
        panic::set_hook(Box::new(move |fault| {
            // Only the location is logged, because a panic message may contain text that a user saved.
            let at = fault.location().map(tracing::field::display);
            tracing::error!(at, "internal error in Tulving");
            // The process may be about to end.
            last.wait();
        }));
        Self { filter, lines, pen }
    }

    /// Changes the settings.
    pub(crate) fn change(&self, logging: LogSettings) {
        let _ = self.filter.reload(targets(logging.level));
        let _ = self.lines.reload(layer(logging.format, &self.pen));
    }

    /// Waits up to a second for the last lines.
    pub(crate) fn end(self) {
        self.pen.wait();
    }
}

fn targets(level: Level) -> Targets {
    Targets::new().with_target(OURS, level)
}

fn layer(format: LogFormat, pen: &LogWriter) -> LogLayer {
    let layer = fmt::layer().with_ansi(false).with_target(false).with_writer(pen.clone());
    match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => {
            layer.json().flatten_event(true).with_current_span(false).with_span_list(false).boxed()
        }
    }
}

/// Hands lines to the thread that writes them.
#[derive(Clone)]
struct LogWriter {
    lines: SyncSender<LogMessage>,
    lost: Arc<AtomicU64>,
}

enum LogMessage {
    Text(Vec<u8>),
    /// Asks the thread to acknowledge that all earlier lines were written.
    End(SyncSender<()>),
}

impl LogWriter {
    fn new() -> Self {
        let (lines, waiting) = sync_channel(WAITING);
        let lost = Arc::<AtomicU64>::default();
        let counted = Arc::clone(&lost);
        // The thread ends with the process.
        thread::spawn(move || write(&waiting, &counted));
        Self { lines, lost }
    }

    /// Waits up to a second until everything was written.
    fn wait(&self) {
        let (done, written) = sync_channel(1);
        if self.lines.try_send(LogMessage::End(done)).is_ok() {
            let _ = written.recv_timeout(LAST);
        }
    }
}

fn write(waiting: &Receiver<LogMessage>, lost: &AtomicU64) {
    for line in waiting {
        match line {
            LogMessage::Text(text) => {
                let _ = io::stderr().write_all(&text);
            }
            LogMessage::End(done) => {
                let _ = done.send(());
            }
        }
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            tracing::warn!(lines = lost, "the log was not read fast enough; lines were lost");
        }
    }
}

impl<'a> MakeWriter<'a> for LogWriter {
    type Writer = &'a LogWriter;

    fn make_writer(&'a self) -> Self::Writer {
        self
    }
}

/// Each call to `write` gets one whole line.
impl io::Write for &LogWriter {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.lines.try_send(LogMessage::Text(line.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

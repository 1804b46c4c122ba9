//! Background work while a server runs. A command does this work after its answer; a server does it between calls.
//!
//! Between calls, the [`Maintenance`] records access counts, embeds, folds, and removes erased data from the files. Longer
//! work has its own threads: the [`LifecycleWorker`], the [`ConsolidationWorker`] and the [`LlmWorker`].

mod consolidation;
mod erased;
mod failures;
mod lifecycle;
mod llm_worker;
mod thread;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tulving_core::Engine;
use tulving_core::files::MirrorReport;
use tulving_core::model::error::{Class, Error};
use tulving_core::model::id::Seq;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::Upkeep;
use tulving_server::MaintenanceHook;
use tulving_store::{Home, SearchIndex};

use self::erased::ErasedData;
use self::failures::{LoggedFailures, coded};
use crate::worker;

pub(crate) use self::consolidation::ConsolidationWorker;
pub(crate) use self::lifecycle::LifecycleWorker;
pub(crate) use self::llm_worker::{LlmWorker, lock_llm_work};

/// Number of sections that are embedded in one step between calls.
const STEP: usize = 16;

/// Files that are not watched are checked this many times less often.
const SELDOM: u32 = 15;

/// Time between two checks for rules to apply or journals to consolidate. Another process may have done the work, or be
/// doing it.
const DUE: Duration = Duration::from_secs(10);

/// The waiting times.
#[derive(Clone, Copy)]
struct MaintenanceTiming {
    /// Calls must be quiet for this long before waiting work is done.
    quiet: Duration,
    /// Calls must be quiet for this long before files are rewritten.
    calm: Duration,
    /// After this time files are rewritten even if calls were never quiet for long enough: erased data must be gone
    /// within minutes.
    patience: Duration,
    /// Minimum time between two rewrites of the files.
    apart: Duration,
    /// Time between two checks for files that a person has edited.
    look: Duration,
}

const PACE: MaintenanceTiming = MaintenanceTiming {
    quiet: Duration::from_millis(200),
    calm: Duration::from_secs(5),
    patience: Duration::from_secs(10 * 60),
    apart: Duration::from_secs(60),
    look: Duration::from_secs(2),
};

/// Does waiting work in its own thread, whenever calls have been quiet for a moment.
pub(crate) struct Maintenance {
    wake: SyncSender<()>,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Notifies the maintenance thread that there may be work.
pub(crate) struct MaintenanceSignal(SyncSender<()>);

impl MaintenanceHook for MaintenanceSignal {
    fn tend(&self) {
        // If a notification is already pending, another one is not needed.
        let _ = self.0.try_send(());
    }
}

impl Maintenance {
    /// Starts the thread.
    pub(crate) fn start(
        engine: &Arc<Engine>,
        home: &Home,
        store: &Arc<dyn Upkeep>,
        index: &Arc<SearchIndex>,
    ) -> Self {
        Self::at_pace(PACE, engine, home, store, index)
    }

    fn at_pace(
        pace: MaintenanceTiming,
        engine: &Arc<Engine>,
        home: &Home,
        store: &Arc<dyn Upkeep>,
        index: &Arc<SearchIndex>,
    ) -> Self {
        let (wake, woken) = sync_channel(1);
        let stopped = Arc::new(AtomicBool::new(false));
        let worker = MaintenanceWorker {
            engine: Arc::clone(engine),
            home: home.clone(),
            store: Arc::clone(store),
            index: Arc::clone(index),
            stopped: Arc::clone(&stopped),
            pace,
        };
        let thread = std::thread::spawn(move || worker.keep(&woken));
        Self { wake, stopped, thread }
    }

    /// Returns the signal that the server sends after calls.
    pub(crate) fn signal(&self) -> MaintenanceSignal {
        MaintenanceSignal(self.wake.clone())
    }

    /// Stops the current work at the next step, and records access counts. Pending rewrites are left to the next process.
    pub(crate) fn stop(self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.wake.try_send(());
        drop(self.wake);
        let _ = self.thread.join();
    }
}

/// The state of the thread.
struct MaintenanceWorker {
    engine: Arc<Engine>,
    home: Home,
    store: Arc<dyn Upkeep>,
    index: Arc<SearchIndex>,
    stopped: Arc<AtomicBool>,
    pace: MaintenanceTiming,
}

impl MaintenanceWorker {
    fn keep(&self, woken: &Receiver<()>) {
        if self.home.is_read_only() {
            // The home is read-only, so no work can be written. Access counts are dropped, so that they do not fill the
            // memory.
            while !self.is_stopped() && woken.recv().is_ok() {
                drop(self.engine.flush());
            }
            return;
        }
        let mut erased = ErasedData::new(self.pace);
        let mut troubles = LoggedFailures::default();
        // Data that an earlier process erased.
        erased.look(&*self.store);
        troubles.note("could not prune the log of conversations", self.cut_logs_back().map_err(coded));
        let mut quiet_since = Instant::now();
        let mut look = self.pace.look;
        let mut others = OtherProcesses { head: self.engine.head().ok(), not_before: None };
        loop {
            let due = erased.due(quiet_since);
            let until = due.map_or(look, |due| due.saturating_duration_since(Instant::now()));
            let waits = match woken.recv_timeout(until.min(look)) {
                Ok(()) => {
                    quiet_since = Instant::now();
                    true
                }
                Err(RecvTimeoutError::Timeout) => {
                    let followed = self.follow_files();
                    // Folders that are not watched are walked, which may take a while.
                    look = if followed.watched { self.pace.look } else { self.pace.look * SELDOM };
                    followed.read > 0 || self.engine.has_work().unwrap_or(false) || self.is_left(&mut others)
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if waits {
                if !self.do_what_waits(&mut troubles) {
                    others.not_before = Some(self.later());
                }
                erased.look(&*self.store);
                troubles.note("could not checkpoint the write-ahead log", self.store.checkpoint());
            }
            if self.is_stopped() {
                break;
            }
            let calm = erased.due(quiet_since).is_some_and(|due| Instant::now() >= due);
            if calm || erased.is_overdue() {
                erased.rewrite(&*self.store, &self.index, &mut troubles);
            }
        }
        troubles.note("could not record access counts", self.engine.flush().map_err(coded));
    }

    /// Reads files that a person has edited. Files that could not be read are reported to callers that ask.
    fn follow_files(&self) -> MirrorReport {
        let mut all = MirrorReport::default();
        while !self.is_stopped() {
            let followed = self.engine.follow_files();
            let goes_on = followed.left > 0 && followed.read > 0;
            all = MirrorReport { read: all.read + followed.read, ..followed };
            if !goes_on {
                break;
            }
        }
        all
    }

    /// Prunes the log of every space to its newest turns.
    fn cut_logs_back(&self) -> Result<(), Error> {
        let user = self.engine.user(Origin::Cli, None)?;
        for space in self.engine.spaces(&user)? {
            match self.engine.prune_turns(&Caller { space: space.id, ..user.clone() }) {
                // The user may oversee a space without being a member. Its members prune the log when they log turns.
                Err(error) if error.class() == Class::Denied => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// Does the waiting work; failed work is retried later, here or by the next process. Returns true if the model answered.
    fn do_what_waits(&self, troubles: &mut LoggedFailures) -> bool {
        let (mut waits, mut answered) = (true, true);
        while waits && !self.is_stopped() {
            std::thread::sleep(self.pace.quiet);
            self.follow_files();
            troubles.note("could not record access counts", self.engine.flush().map_err(coded));
            let embedded = self.engine.embed_waiting(STEP).map_err(coded);
            let embedded = troubles.note("could not embed the waiting memories", embedded);
            answered = embedded.is_some();
            let embedded = embedded.unwrap_or_default();
            let processed = self.engine.process_waiting(worker::own()).map_err(coded);
            let processed = troubles.note("could not read the text of files", processed).flatten();
            waits = embedded.goes_on() || processed.is_some();
            troubles.note("could not fold the index", self.index.tend());
        }
        answered
    }

    /// True if something waits to be embedded and no other process is embedding it. An embedding process writes to the
    /// change log. Without this check, two processes could embed the same memories.
    fn is_left(&self, others: &mut OtherProcesses) -> bool {
        if others.not_before.is_some_and(|not_before| Instant::now() < not_before) {
            return false;
        }
        let head = self.engine.head().ok();
        let still = head.is_some() && head == std::mem::replace(&mut others.head, head);
        still
            && self.engine.has_to_embed().unwrap_or_else(|_| {
                others.not_before = Some(self.later());
                false
            })
    }

    fn later(&self) -> Instant {
        Instant::now() + self.pace.look * SELDOM
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Tracks memories that other or earlier processes left to be embedded, because no call to this process signals this work.
struct OtherProcesses {
    /// The end of the change log at the last check.
    head: Option<Seq>,
    /// The time until which a model that failed is not called.
    not_before: Option<Instant>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{fs, thread};

    use tempfile::TempDir;
    use tulving_core::model::error::ModelError;
    use tulving_core::model::limits::Limits;
    use tulving_core::model::request::{ForgetMode, ForgetRequest, SaveRequest};
    use tulving_core::ports::{Embedder, NoExtractor, NoFiles, NoObjects, SystemClock};
    use tulving_core::{Ports, SecretPolicies};
    use tulving_store::{SqliteOptions, SqliteStore};

    use super::*;

    const SOON: MaintenanceTiming = MaintenanceTiming {
        quiet: Duration::from_millis(1),
        calm: Duration::from_millis(20),
        patience: Duration::from_secs(3_600),
        apart: Duration::from_millis(1),
        look: Duration::from_secs(3_600),
    };

    struct None;

    impl Embedder for None {
        fn model(&self) -> Result<String, ModelError> {
            Err(ModelError::None)
        }

        fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
            Err(ModelError::None)
        }
    }

    struct Bed {
        engine: Arc<Engine>,
        upkeep: Arc<dyn Upkeep>,
        index: Arc<SearchIndex>,
        user: Caller,
        home: TempDir,
    }

    impl Bed {
        fn new() -> Self {
            Self::with(Arc::new(None))
        }

        fn with(embedder: Arc<dyn Embedder>) -> Self {
            let folder = tempfile::tempdir().expect("a folder");
            let home = Home::open_or_create(folder.path()).expect("a home");
            let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default()).expect("a store"));
            let index = Arc::new(SearchIndex::open(Arc::clone(&store), &home.index_dir()));
            let engine = Arc::new(Engine::new(Ports {
                store: store.clone(),
                embedder,
                former: Vec::new(),
                index: index.clone(),
                files: Arc::new(NoFiles),
                objects: Arc::new(NoObjects),
                extractor: Arc::new(NoExtractor),
                clock: Arc::new(SystemClock),
                limits: Limits::default(),
                secret_policies: SecretPolicies::default(),
            }));
            let user = engine.user(Origin::Cli, Option::None).expect("the user");
            Self { engine, upkeep: store, index, user, home: folder }
        }

        fn maintenance(&self, pace: MaintenanceTiming) -> Maintenance {
            let home = Home::open_or_create(self.home.path()).expect("a home");
            Maintenance::at_pace(pace, &self.engine, &home, &self.upkeep, &self.index)
        }

        /// Saves a memory, folds it into the index files, and erases it.
        fn erase(&self, content: &str) {
            let save =
                |content: &str| self.engine.save(&self.user, SaveRequest::new(content)).expect("saved");
            let id = save(content).memory.id;
            save(&format!("another beside {}", content.len()));
            self.index.tend_now().expect("folded");
            let request = ForgetRequest { mode: ForgetMode::Hard, reason: Option::None };
            self.engine.forget(&self.user, id.into(), &request).expect("erased");
        }

        fn lingers(&self) -> bool {
            self.upkeep.erased_lingers().expect("known")
                || self.index.status().expect("a status").holds_erased
        }

        fn holds(&self, text: &str) -> bool {
            [self.home.path(), &self.home.path().join("index")].into_iter().any(|folder| holds(folder, text))
        }
    }

    fn holds(folder: &Path, text: &str) -> bool {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.is_file()).any(|path| {
            let bytes = fs::read(path).expect("read");
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }

    /// Waits until the condition is true, which takes some milliseconds.
    #[track_caller]
    fn until(what: impl Fn() -> bool) {
        let began = Instant::now();
        while !what() {
            assert!(began.elapsed() < Duration::from_secs(60), "it never came to be");
            thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn what_was_erased_leaves_the_files_once_calls_are_quiet() {
        let bed = Bed::new();
        let maintenance = bed.maintenance(SOON);
        bed.erase("unutterable");
        assert!(bed.lingers());
        maintenance.signal().tend();
        until(|| !bed.lingers());
        // A second erasure, after the minimum time between rewrites.
        bed.erase("unspeakable");
        maintenance.signal().tend();
        until(|| !bed.lingers());
        maintenance.stop();
        assert!(!bed.holds("unutterable") && !bed.holds("unspeakable"));
        assert!(bed.holds("another beside"), "it looks where texts are");
    }

    #[test]
    fn the_log_of_every_space_is_cut_back_at_the_start() {
        use tulving_core::model::request::{TurnFilter, TurnRequest};
        use tulving_core::model::vocabulary::{SpaceKind, TurnRole};

        let bed = Bed::new();
        let group = bed.engine.create_space(&bed.user, "kitchen", SpaceKind::Group).expect("a space");
        let there = Caller { space: group.id, ..bed.user.clone() };
        let turn = TurnRequest {
            channel: Option::None,
            role: TurnRole::User,
            speaker: Option::None,
            content: "again".to_owned(),
            source: Option::None,
        };
        for caller in [&bed.user, &there] {
            for _ in 0..230 {
                bed.engine.log_turn(caller, &turn).expect("logged");
            }
        }
        let kept = |caller: &Caller| {
            let filter = TurnFilter { last: 1_000, ..TurnFilter::default() };
            bed.engine.turns(caller, &filter).expect("turns").turns.len()
        };
        assert_eq!((kept(&bed.user), kept(&there)), (230, 230));
        let maintenance = bed.maintenance(SOON);
        until(|| (kept(&bed.user), kept(&there)) == (200, 200));
        maintenance.stop();
    }

    #[test]
    fn what_others_left_is_embedded_to_the_last_section_without_a_call() {
        use tulving_testkit::embedder::FakeEmbedder;

        let bed = Bed::with(Arc::new(FakeEmbedder));
        let part = |n: usize| format!("## Part {n}\n\n{}\n\n", format!("A line about {n}. ").repeat(60));
        let long: String = (0..100).map(part).collect();
        bed.engine.save(&bed.user, SaveRequest::new(long.as_str())).expect("saved");
        let notes = |from: usize| {
            (from..from + 20).map(|n| SaveRequest::new(format!("Note {n} of the tide"))).collect()
        };
        bed.engine.save_many(&bed.user, notes(0)).expect("saved");
        let waiting = || bed.engine.waiting_to_be_embedded(&bed.user).expect("a count");
        assert!(waiting() > 0);
        let maintenance = bed.maintenance(MaintenanceTiming { look: Duration::from_millis(5), ..SOON });
        until(|| waiting() == 0);
        bed.engine.save_many(&bed.user, notes(20)).expect("saved");
        until(|| waiting() == 0);
        maintenance.stop();
    }

    #[test]
    fn the_files_are_left_alone_for_a_while_and_at_a_stop() {
        let bed = Bed::new();
        let maintenance = bed.maintenance(MaintenanceTiming { apart: Duration::from_secs(3_600), ..SOON });
        bed.erase("unutterable");
        maintenance.signal().tend();
        until(|| !bed.lingers());
        bed.erase("unspeakable");
        maintenance.signal().tend();
        thread::sleep(10 * SOON.calm);
        assert!(bed.lingers(), "not so soon again");
        maintenance.stop();
        assert!(bed.lingers(), "and a stop is quick");
    }

    #[test]
    fn calls_that_are_never_quiet_do_not_keep_it_for_ever() {
        let bed = Bed::new();
        let patience = Duration::from_millis(50);
        let maintenance =
            bed.maintenance(MaintenanceTiming { calm: Duration::from_secs(3_600), patience, ..SOON });
        bed.erase("unutterable");
        until(|| {
            maintenance.signal().tend();
            !bed.lingers()
        });
        maintenance.stop();
    }
}

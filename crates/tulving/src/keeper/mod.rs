//! What is done in the background while a server runs. A command does it after it has answered; a server has no end.
//!
//! The [`Keeper`] counts what was used, embeds, folds and gets what was erased out of the files, between calls. What takes
//! longer has threads of its own: the [`Tender`], the [`Consolidator`] and the [`Thinker`].

mod consolidator;
mod erased;
mod tender;
mod thinker;
mod thread;
mod troubles;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tulving_core::Engine;
use tulving_core::error::{Class, Error};
use tulving_core::id::Seq;
use tulving_core::journal::Followed;
use tulving_core::request::Caller;
use tulving_core::vocabulary::Origin;
use tulving_server::Upkeep;
use tulving_store::{SearchIndex, SqliteStore};

use self::erased::Erased;
use self::troubles::{Troubles, coded};
use crate::worker;

pub(crate) use self::consolidator::Consolidator;
pub(crate) use self::tender::Tender;
pub(crate) use self::thinker::{Thinker, thinking};

/// Sections that are embedded in one step between calls.
const STEP: usize = 16;

/// What is not watched is looked at so many times less often.
const SELDOM: u32 = 15;

/// How often it is looked whether rules are to be applied or journals to be consolidated. Another process may have done it, or
/// be at it.
const DUE: Duration = Duration::from_secs(10);

/// How long things wait.
#[derive(Clone, Copy)]
struct Pace {
    /// How long calls have to be quiet before what waits is done.
    quiet: Duration,
    /// How long they have to be quiet before files are rewritten.
    calm: Duration,
    /// After so long files are rewritten although calls were never quiet for that long: what was erased shall be gone
    /// within minutes.
    patience: Duration,
    /// How long at the least files are left alone after they were rewritten.
    apart: Duration,
    /// How often it is looked whether somebody has edited what people can read.
    look: Duration,
}

const PACE: Pace = Pace {
    quiet: Duration::from_millis(200),
    calm: Duration::from_secs(5),
    patience: Duration::from_secs(10 * 60),
    apart: Duration::from_secs(60),
    look: Duration::from_secs(2),
};

/// Does what waits, in a thread of its own, whenever calls have been quiet for a moment.
pub(crate) struct Keeper {
    ring: SyncSender<()>,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Tells the keeper that something may wait.
pub(crate) struct Bell(SyncSender<()>);

impl Upkeep for Bell {
    fn tend(&self) {
        // Where it rings already, once is enough.
        let _ = self.0.try_send(());
    }
}

impl Keeper {
    /// Starts it.
    pub(crate) fn start(engine: &Arc<Engine>, store: &Arc<SqliteStore>, index: &Arc<SearchIndex>) -> Self {
        Self::at_pace(PACE, engine, store, index)
    }

    fn at_pace(pace: Pace, engine: &Arc<Engine>, store: &Arc<SqliteStore>, index: &Arc<SearchIndex>) -> Self {
        let (ring, rung) = sync_channel(1);
        let stopped = Arc::new(AtomicBool::new(false));
        let house = House {
            engine: Arc::clone(engine),
            store: Arc::clone(store),
            index: Arc::clone(index),
            stopped: Arc::clone(&stopped),
            pace,
        };
        let thread = std::thread::spawn(move || house.keep(&rung));
        Self { ring, stopped, thread }
    }

    /// What rings for it after calls.
    pub(crate) fn bell(&self) -> Bell {
        Bell(self.ring.clone())
    }

    /// Ends what is being done at the next step, and counts what was used. What is still to be rewritten is left to the next
    /// process.
    pub(crate) fn stop(self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.ring.try_send(());
        drop(self.ring);
        let _ = self.thread.join();
    }
}

/// What is kept.
struct House {
    engine: Arc<Engine>,
    store: Arc<SqliteStore>,
    index: Arc<SearchIndex>,
    stopped: Arc<AtomicBool>,
    pace: Pace,
}

impl House {
    fn keep(&self, rung: &Receiver<()>) {
        let mut erased = Erased::new(self.pace);
        let mut troubles = Troubles::default();
        // What a process before this one left.
        erased.look(&self.store);
        troubles.note("the log of conversations is not cut back", self.cut_logs_back().map_err(coded));
        let mut quiet_since = Instant::now();
        let mut look = self.pace.look;
        let mut others = Others { head: self.engine.head().ok(), not_before: None };
        loop {
            let due = erased.due(quiet_since);
            let until = due.map_or(look, |due| due.saturating_duration_since(Instant::now()));
            let waits = match rung.recv_timeout(until.min(look)) {
                Ok(()) => {
                    quiet_since = Instant::now();
                    true
                }
                Err(RecvTimeoutError::Timeout) => {
                    let followed = self.follow_files();
                    // What is not watched is walked through, which may take a while.
                    look = if followed.watched { self.pace.look } else { self.pace.look * SELDOM };
                    followed.read > 0 || self.engine.has_work().unwrap_or(false) || self.is_left(&mut others)
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            if waits {
                if !self.do_what_waits(&mut troubles) {
                    others.not_before = Some(self.later());
                }
                erased.look(&self.store);
                troubles.note("the log is not moved into the database", self.store.move_log());
            }
            if self.is_stopped() {
                break;
            }
            let calm = erased.due(quiet_since).is_some_and(|due| Instant::now() >= due);
            if calm || erased.is_overdue() {
                erased.rewrite(&self.store, &self.index, &mut troubles);
            }
        }
        troubles.note("what was recalled is not counted", self.engine.flush().map_err(coded));
    }

    /// Reads what somebody has edited. What could not be read is said to who asks.
    fn follow_files(&self) -> Followed {
        let mut all = Followed::default();
        while !self.is_stopped() {
            let followed = self.engine.follow_files();
            let goes_on = followed.left > 0 && followed.read > 0;
            all = Followed { read: all.read + followed.read, ..followed };
            if !goes_on {
                break;
            }
        }
        all
    }

    /// Leaves every space the newest turns of its log.
    fn cut_logs_back(&self) -> Result<(), Error> {
        let user = self.engine.user(Origin::Cli, None)?;
        for space in self.engine.spaces(&user)? {
            match self.engine.prune_turns(&Caller { space: space.id, ..user.clone() }) {
                // Of a space that the user only watches over, others log.
                Err(error) if error.class() == Class::Denied => {}
                done => done?,
            }
        }
        Ok(())
    }

    /// What fails now is done at another time, here or by the next process. Says whether the model answered.
    fn do_what_waits(&self, troubles: &mut Troubles) -> bool {
        let (mut waits, mut answered) = (true, true);
        while waits && !self.is_stopped() {
            std::thread::sleep(self.pace.quiet);
            self.follow_files();
            troubles.note("what was recalled is not counted", self.engine.flush().map_err(coded));
            let embedded = self.engine.embed_waiting(STEP).map_err(coded);
            let embedded = troubles.note("what waits is not embedded", embedded);
            answered = embedded.is_some();
            let embedded = embedded.unwrap_or_default();
            let processed = self.engine.process_waiting(worker::own()).map_err(coded);
            let processed = troubles.note("the text of files is not read", processed).flatten();
            waits = embedded.goes_on() || processed.is_some();
            troubles.note("the index is not folded", self.index.tend());
        }
        answered
    }

    /// Whether something waits to be embedded that nobody is at. Who embeds writes to the log, and two who embed the same do
    /// it twice.
    fn is_left(&self, others: &mut Others) -> bool {
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

/// What other processes left to be embedded, also those before this one: no call here rings for that.
struct Others {
    /// The end of the change log when it was looked at last.
    head: Option<Seq>,
    /// A model that failed is let be until then.
    not_before: Option<Instant>,
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::{fs, thread};

    use tempfile::TempDir;
    use tulving_core::error::ModelError;
    use tulving_core::limits::Limits;
    use tulving_core::ports::{Embedder, NoExtractor, NoFiles, NoObjects, SystemClock};
    use tulving_core::request::{ForgetRequest, Manner, SaveRequest};
    use tulving_core::{Parts, Secrecy};
    use tulving_store::{Home, Options};

    use super::*;

    const SOON: Pace = Pace {
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
        store: Arc<SqliteStore>,
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
            let store = Arc::new(SqliteStore::open(&home, Options::default()).expect("a store"));
            let index = Arc::new(SearchIndex::open(Arc::clone(&store), &home.index_dir()));
            let engine = Arc::new(Engine::new(Parts {
                store: store.clone(),
                embedder,
                former: Vec::new(),
                index: index.clone(),
                files: Arc::new(NoFiles),
                objects: Arc::new(NoObjects),
                extractor: Arc::new(NoExtractor),
                clock: Arc::new(SystemClock),
                limits: Limits::default(),
                secrecy: Secrecy::default(),
            }));
            let user = engine.user(Origin::Cli, Option::None).expect("the user");
            Self { engine, store, index, user, home: folder }
        }

        fn keeper(&self, pace: Pace) -> Keeper {
            Keeper::at_pace(pace, &self.engine, &self.store, &self.index)
        }

        /// Saves a memory, takes it into the files of the index, and erases it.
        fn erase(&self, content: &str) {
            let save =
                |content: &str| self.engine.save(&self.user, SaveRequest::new(content)).expect("saved");
            let id = save(content).id;
            save(&format!("another beside {}", content.len()));
            self.index.tend_now().expect("folded");
            let request = ForgetRequest { manner: Manner::Hard, reason: Option::None };
            self.engine.forget(&self.user, id.into(), &request).expect("erased");
        }

        fn lingers(&self) -> bool {
            self.store.erased_lingers().expect("known") || self.index.status().expect("a status").holds_erased
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

    /// Waits until something is so, which takes some milliseconds.
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
        let keeper = bed.keeper(SOON);
        bed.erase("unutterable");
        assert!(bed.lingers());
        keeper.bell().tend();
        until(|| !bed.lingers());
        // And again, after the rest.
        bed.erase("unspeakable");
        keeper.bell().tend();
        until(|| !bed.lingers());
        keeper.stop();
        assert!(!bed.holds("unutterable") && !bed.holds("unspeakable"));
        assert!(bed.holds("another beside"), "it looks where texts are");
    }

    #[test]
    fn the_log_of_every_space_is_cut_back_at_the_start() {
        use tulving_core::request::{TurnFilter, TurnRequest};
        use tulving_core::vocabulary::{SpaceKind, TurnRole};

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
            let filter = TurnFilter { channel: Option::None, last: 1_000 };
            bed.engine.turns(caller, &filter).expect("turns").len()
        };
        assert_eq!((kept(&bed.user), kept(&there)), (230, 230));
        let keeper = bed.keeper(SOON);
        until(|| (kept(&bed.user), kept(&there)) == (200, 200));
        keeper.stop();
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
        let keeper = bed.keeper(Pace { look: Duration::from_millis(5), ..SOON });
        until(|| waiting() == 0);
        bed.engine.save_many(&bed.user, notes(20)).expect("saved");
        until(|| waiting() == 0);
        keeper.stop();
    }

    #[test]
    fn the_files_are_left_alone_for_a_while_and_at_a_stop() {
        let bed = Bed::new();
        let keeper = bed.keeper(Pace { apart: Duration::from_secs(3_600), ..SOON });
        bed.erase("unutterable");
        keeper.bell().tend();
        until(|| !bed.lingers());
        bed.erase("unspeakable");
        keeper.bell().tend();
        thread::sleep(10 * SOON.calm);
        assert!(bed.lingers(), "not so soon again");
        keeper.stop();
        assert!(bed.lingers(), "and a stop is quick");
    }

    #[test]
    fn calls_that_are_never_quiet_do_not_keep_it_for_ever() {
        let bed = Bed::new();
        let patience = Duration::from_millis(50);
        let keeper = bed.keeper(Pace { calm: Duration::from_secs(3_600), patience, ..SOON });
        bed.erase("unutterable");
        until(|| {
            keeper.bell().tend();
            !bed.lingers()
        });
        keeper.stop();
    }
}

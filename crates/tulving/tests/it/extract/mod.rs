//! Text extraction by the real binary in a separate process: the text, the limits, and the cleanup.

/// Files of every form, and images with tesseract.
mod files;

/// Files that were made to harm.
mod hostile;

/// The limits of the reading process, and its end.
mod process;

use std::path::{Path, PathBuf};
use std::time::Duration;

use tulving_store::extract::{ChildExtractor, ExtractLimits};
use tulving_testkit::pdf::{page, stream};

const PDF: &str = "application/pdf";
const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const SHEETS: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// The binary that reads.
fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_tulving"))
}

/// One that reads within limits that are reached soon.
fn small() -> ExtractLimits {
    ExtractLimits {
        cpu: Duration::from_secs(2),
        wall: Duration::from_secs(60),
        memory: 400 << 20,
        ..ExtractLimits::default()
    }
}

fn extractor(limits: ExtractLimits) -> ChildExtractor {
    ChildExtractor::new(binary(), limits)
}

/// A file of the tests of the store.
fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tulving-store/tests/extract");
    std::fs::read(folder.join(name)).expect("a file of the tests")
}

/// A file that keeps the processor busy for as long as it may: forms that each draw the next one ten times, so that there are as
/// many drawings as ten to the power of forms.
fn endless() -> Vec<u8> {
    let form = |next: usize| {
        let says = format!("/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {next} 0 R>>>>");
        stream(&says, &b"/X Do q Q ".repeat(10))
    };
    page(b"/X Do", "/XObject<</X 6 0 R>>", &(7..20).map(form).collect::<Vec<_>>())
}

/// The processes that this one has started and that are still there, if only to be waited for.
fn children() -> Vec<u32> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes").filter_map(Result::ok) {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        if parent_of(id) == Some(own) {
            found.push(id);
        }
    }
    found
}

/// A number of what the system says of a process, counted from its name.
fn stat_of(id: u32, number: usize) -> Option<i64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name may have anything in it, but ends at the last bracket.
    stat.rsplit_once(')')?.1.split_whitespace().nth(number)?.parse().ok()
}

fn parent_of(id: u32) -> Option<u32> {
    stat_of(id, 1).and_then(|parent| parent.try_into().ok())
}

/// Returns true if a process started by this one or by a child has lowered all of its limits. The niceness is lowered last, to
/// ten more than that of the parent, at most 19. If the parent is at 19 already, the last other limit decides.
fn is_limited(id: u32) -> bool {
    let niceness = |id| stat_of(id, 16);
    let own = niceness(std::process::id()).expect("this process");
    let limits = std::fs::read_to_string(format!("/proc/{id}/limits")).unwrap_or_default();
    let bound =
        |line: &str| line.strip_prefix("Max processes").is_some_and(|rest| rest.trim().starts_with("0 "));
    niceness(id) == Some((own + 10).min(19)) && limits.lines().any(bound)
}

/// Waits for something that comes soon.
fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

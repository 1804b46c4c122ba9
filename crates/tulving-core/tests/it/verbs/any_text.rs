//! Any text that can be stored, in any field, can be dumped, loaded elsewhere and dumped again unchanged.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tulving_core::LoadOptions;
use tulving_core::model::record::{DumpPosition, Record};
use tulving_core::model::request::{
    Caller, ForgetMode, ForgetRequest, SaveRequest, TurnRequest, UpdateRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{AuditAct, ContentType, Origin, TurnRole};

use crate::bed::{Bed, turn};

/// Pieces of text that have caused bugs, or could: letters in several compositions, marks without a letter, endless marks,
/// letters that grow when composed, invisible characters, whitespace other than spaces, neighbours of surrogates, line
/// breaks, and patterns of titles, tags, private passages and secrets.
const PIECES: &[&str] = &[
    "e\u{301}",
    "\u{e9}",
    "\u{301}",
    "\u{301}\u{323}",
    "\u{212b}",
    "\u{fb01}",
    "\u{1100}\u{1161}\u{11a8}",
    "\u{958}",
    "\u{1d160}",
    "\u{fb2c}",
    "\u{344}",
    "\u{37e}",
    "\u{130}",
    "\u{1c5}",
    "\u{df}",
    "\u{3c2}",
    "\u{200b}",
    "\u{200d}",
    "\u{200e}",
    "\u{202e}",
    "\u{2066}",
    "\u{2069}",
    "\u{feff}",
    "\u{ad}",
    "\u{2060}",
    "\u{a0}",
    "\u{2000}",
    "\u{2028}",
    "\u{3000}",
    "\u{d7ff}",
    "\u{e000}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{10ffff}",
    "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}",
    "\u{1f1e9}\u{1f1ea}",
    "日本語。",
    "مرحبا",
    "\r\n",
    "\r",
    "\n",
    "\n\n",
    "\t",
    " ",
    ". ",
    ": ",
    "# ",
    "## Cafe\u{301}\n",
    "- ",
    "`",
    "```\n",
    "---\n",
    "---\ntitle: re\u{301}sume\u{301}\n---\n",
    "<private>",
    "</private>",
    "password: Winter2031! ",
    "The deploy pipeline runs. ",
    "re\u{301}sume\u{301} ",
    "Deploy pipeline ",
    "https://example.com/e\u{301} ",
];

/// Pieces that a save refuses or removes.
const REFUSED: &[&str] = &["\0", "\u{1b}[31m", "\u{7f}", "\u{85}", "\u{b}", "\u{c}", "\u{9f}"];

fn pieces(of: &'static [&'static str], most: usize) -> impl Strategy<Value = String> {
    vec(proptest::sample::select(of), 0..most).prop_map(|pieces| pieces.concat())
}

/// Generates a line, or a text that looks like one.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => pieces(PIECES, 8),
        2 => "\\PC{0,12}",
        1 => pieces(REFUSED, 2),
        // One letter with more marks than the character limit of any field; and one that grows in the middle of a limit.
        1 => (80..600_usize).prop_map(|marks| format!("a{}", "\u{301}\u{323}".repeat(marks / 2))),
        1 => (80..600_usize).prop_map(|letters| "\u{1d160}".repeat(letters)),
    ]
}

/// Generates a text, now and then long enough that title, summary and tags are made from it, and cut.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => pieces(PIECES, 12),
        4 => pieces(PIECES, 160),
        2 => "\\PC{0,300}",
        1 => (line(), pieces(PIECES, 40)).prop_map(|(line, rest)| format!("{line}{rest}")),
        2 => (70..90_usize, pieces(PIECES, 40)).prop_map(|(at, rest)| {
            format!("{}e\u{301}\u{301}\u{301} {rest}\nThe second line. It goes on.", "a ".repeat(at / 2))
        }),
        1 => (1..30_usize).prop_map(|times| "Le re\u{301}sume\u{301} du cafe\u{301} ferme\u{301} a\u{300} dix heures. ".repeat(times)),
    ]
}

fn instant() -> impl Strategy<Value = Timestamp> {
    prop_oneof![any::<i64>(), -5_000_000_000_000_000..5_000_000_000_000_000_i64]
        .prop_map(Timestamp::from_micros)
}

prop_compose! {
    /// Generates a save with a value in every field that takes text.
    fn saving()(
        content in text(),
        lines in vec(option::of(line()), 8),
        tags in option::of(vec(line(), 0..4)),
        path in option::weighted(0.3, line()),
        form in proptest::sample::select(ContentType::ALL.to_vec()),
        given_form in any::<bool>(),
        importance in option::of(0.0..=1.0_f64),
        times in vec(option::weighted(0.2, instant()), 3),
    ) -> SaveRequest {
        let [key, title, summary, language, source_note, assisted_by_agent, conversation, speaker] =
            <[Option<String>; 8]>::try_from(lines).expect("eight of them");
        SaveRequest {
            content_type: given_form.then_some(form),
            key, title, summary, language, source_note, assisted_by_agent, conversation, speaker, tags,
            source_path: path,
            importance,
            occurred_at: times[0], valid_from: times[1], expires_at: times[2],
            ..SaveRequest::new(content)
        }
    }
}

/// Removes the fields that must be unique or may be refused, so that the content is always stored.
fn bare(request: &SaveRequest) -> SaveRequest {
    SaveRequest { content_type: request.content_type, ..SaveRequest::new(request.content.clone()) }
}

/// Stores a request; if it is refused, stores it without its other fields.
fn store(bed: &Bed, caller: &Caller, request: SaveRequest) -> bool {
    let plain = bare(&request);
    let saved = bed.engine.save(caller, request).or_else(|_| bed.engine.save(caller, plain));
    let Ok(saved) = saved else { return false };
    let edit = UpdateRequest {
        content: Some(format!("{} e\u{301}dited", saved.memory.id)),
        ..UpdateRequest::default()
    };
    if saved.memory.number.is_some_and(|number| number.0.is_multiple_of(3)) {
        bed.engine.update(caller, saved.memory.id.into(), &edit).expect("edited");
    }
    true
}

/// Returns the lines of the whole dump of a home, without the entry that a load leaves.
fn dumped(bed: &Bed) -> Vec<String> {
    let (mut lines, mut position) = (Vec::new(), Some(DumpPosition::default()));
    while let Some(at) = position {
        let (page, next) = bed.engine.dump(&bed.user(), at, 100).expect("a page");
        let kept = page.iter().filter(|record| match record {
            Record::Audit(entry) => entry.act != AuditAct::Loaded,
            record => !record.is_frame(),
        });
        lines.extend(kept.map(|record| serde_json::to_string(record).expect("a line")));
        position = next;
    }
    lines
}

fn loaded(lines: &[String]) -> Result<Bed, String> {
    let bed = Bed::new();
    let read = lines.iter().map(|line| tulving_core::model::record::from_line(line));
    let records = read.collect::<Result<Vec<_>, _>>()?;
    bed.try_load(records, LoadOptions::default()).map_err(|error| error.to_string())?;
    Ok(bed)
}

#[test]
fn a_text_with_decomposed_letters_can_be_dumped_and_loaded() {
    let bed = Bed::new();
    let content = format!(
        "Le cafe\u{301} du coin ferme a\u{300} dix heures\n\n{}",
        "Un re\u{301}sume\u{301} assez long. ".repeat(30)
    );
    bed.save(&bed.user(), content.as_str());
    let lines = dumped(&bed);
    let again = loaded(&lines).expect("what was dumped");
    assert_eq!(dumped(&again), lines);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_can_be_stored_can_be_dumped_and_loaded(
        saves in vec(saving(), 1..8),
        turns in vec((text(), option::of(line()), option::of(line()), option::of(line())), 0..4),
        reason in option::of(line()),
        agent in option::of(line()),
    ) {
        let bed = Bed::new();
        let caller = bed.engine.user(Origin::Cli, agent.as_deref()).unwrap_or_else(|_| bed.user());
        let count = saves.into_iter().filter(|request| store(&bed, &caller, request.clone())).count();
        for (content, channel, speaker, source) in turns {
            let whole = TurnRequest { channel, role: TurnRole::User, speaker, content: content.clone(), source };
            let _ = bed.engine.log_turn(&caller, &whole).or_else(|_| bed.engine.log_turn(&caller, &turn(&content)));
        }
        let kept = bed.save(&caller, "to be forgotten");
        let forget = ForgetRequest { mode: ForgetMode::Soft, reason };
        let bare = ForgetRequest { mode: ForgetMode::Soft, reason: None };
        let forgotten = bed.engine.forget(&caller, kept.memory.id.into(), &forget);
        forgotten.or_else(|_| bed.engine.forget(&caller, kept.memory.id.into(), &bare)).expect("forgotten");
        let lines = dumped(&bed);
        let memories = lines.iter().filter(|line| line.contains("\"record\":\"memory\"")).count();
        prop_assert!(memories > usize::from(count > 0), "{} memories of {} saves", memories, count);
        let again = match loaded(&lines) {
            Ok(again) => again,
            Err(why) => return Err(TestCaseError::fail(why)),
        };
        prop_assert_eq!(dumped(&again), lines);
    }
}

use proptest::prelude::*;

use super::*;

fn speakers(text: &str) -> Vec<(Option<String>, String)> {
    turns(text, usize::MAX).into_iter().map(|turn| (turn.speaker, turn.text)).collect()
}

fn by(speaker: &str, text: &str) -> (Option<String>, String) {
    (Some(speaker.to_owned()), text.to_owned())
}

#[test]
fn chats_are_known_in_their_usual_forms() {
    for text in [
        "[10:32] Ann: hi\n[10:33] Ben: hello",
        "12/05/2024, 10:32 - Ann: hi\n12/05/2024, 10:33 - Ben: hello\n12/05/2024, 10:33 - Ann: shall we?",
        "[2024-05-12 10:32:01] <ann> hi\n[2024-05-12 10:32:05] <ben> hello",
        "Ann: are you there?\nBen: yes\nAnn: did you see it?\nBen: not yet",
        "**Ann:** are you there?\n**Ben:** yes\n**Ann:** did you see it?\n**Ben:** not yet",
        "User: rename it\nAssistant: done\n\nI also changed the tests.",
        "Ann Lee  10:32 AM\nare you there?\n\nBen Oh  10:33 AM\nyes\n\nAnn Lee  10:34 AM\ngood",
        "田中: こんにちは\n山本: はい\n田中: 元気？\n山本: 元気です",
    ] {
        assert_eq!(talk(text), Some(ConversationOrigin::Chat), "{text}");
    }
}

#[test]
fn transcripts_are_known_in_their_usual_forms() {
    for text in [
        "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nHello",
        "WEBVTT - a talk\n\nNOTE x\n\n00:01.000 --> 00:02.000\nHello",
        "1\n00:00:01,000 --> 00:00:02,000\nHello\n\n2\n00:00:03,000 --> 00:00:04,000\nthere",
        "0:00:01.000,0:00:02.000\nHello",
        "Speaker 1 (00:00:04)\nThanks for coming.\n\nSpeaker 2 (00:00:12)\nSure.",
        "[00:00:04] Ann: Thanks for coming.\n[00:00:12] Ben: Sure.",
        "Speaker 1: Thanks.\nSpeaker 2: Sure.\nSpeaker 1: So?\nSpeaker 2: Well.",
        "# Fix it\n\n2 messages\n\n## User (2026-05-27T09:29:00Z)\n\nFix it\n\n## Assistant: Max\n\nOn it.\n",
    ] {
        assert_eq!(talk(text), Some(ConversationOrigin::Transcript), "{text}");
    }
}

#[test]
fn what_is_no_conversation_stays_what_it_is() {
    for text in [
        "",
        "Note: this is important.\nNote: so is this.\nWarning: be careful.\nNote: the end.",
        "Name: Ann\nAge: 30\nCity: Graz\n\nName: Ben\nAge: 31\nCity: Linz",
        "ARR: annual recurring revenue.\nChurn: who leaves.\nCAC: what it costs.\nNRR: retention.",
        "Q: Does it work?\nA: Yes.\nQ: Really?\nA: Yes.",
        "Yesterday: parser\nToday: lexer\nBlockers: none",
        "[10:32] INFO: started\n[10:33] WARN: slow\n[10:34] INFO: done",
        "09:00 Breakfast\n10:00 Meeting: plans\n12:00 Lunch: soup",
        "- 13:02 a deployment began\n- 13:05 the error rate rose",
        "The plan is simple: we go there. Ann: she drives.",
        "# Notes\n\nNote: x\n\nTip: y",
        "Ann: lead\nBen: deputy",
    ] {
        assert_eq!(talk(text), None, "{text}");
    }
}

#[test]
fn who_says_what_is_told_without_times() {
    let chat = "[10:32] Ann: hi\nthere\n[10:33] Ben: hello\n[10:34] Ben: again";
    assert_eq!(speakers(chat), [by("Ann", "hi\nthere"), by("Ben", "hello\nagain")]);
    let headed = "Speaker 1 (00:00:04)\nThanks.\n\nSpeaker 2 (00:00:12)\nSure.";
    assert_eq!(speakers(headed), [by("Speaker 1", "Thanks.\n"), by("Speaker 2", "Sure.")]);
    let subtitles = "WEBVTT\nKind: captions\n\n1\n00:01.000 --> 00:02.000\nIt goes\n\n2\n00:03.000 --> 00:04.000\non here.";
    assert_eq!(speakers(subtitles), [(None, "It goes on here.".to_owned())]);
    let voices = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hi</v>\n\n00:03.000 --> 00:04.000\n<v Ben>Hello";
    assert_eq!(speakers(voices), [by("Ann", "Hi"), by("Ben", "Hello")]);
    let archive =
        "# Fix it\n\nx\n\n## User (2026-05-27T09:29:00Z)\n\nFix it\n\n## Assistant: Max\n\nOn it.\n";
    assert_eq!(speakers(archive), [by("User", "Fix it\n"), by("Max", "On it.")]);
}

#[test]
fn an_export_is_a_conversation_and_other_json_is_not() {
    let list =
        r#"[{"role":"user","content":"hi"},{"role":"assistant","content":"a\nb","speaker":"Max","at":"x"}]"#;
    assert_eq!(speakers(list), [by("user", "hi"), by("Max", "a\nb")]);
    assert!(is_exported(list) && is_exported(&format!(r#"{{"title":"x","messages":{list}}}"#)));
    for json in [
        "[]",
        "{}",
        r#"{"messages":[]}"#,
        r#"[{"role":"admin","content":"x"}]"#,
        r#"[{"role":"user","content":1}]"#,
        r#"[{"role":"user","content":"x","price":3}]"#,
        r#"{"messages":"x"}"#,
        "user",
    ] {
        assert!(!is_exported(json), "{json}");
    }
    assert!(!is_exported(&format!("{{\"messages\":{}", "[".repeat(200_000))));
}

#[test]
fn a_long_export_is_cut_between_letters_and_stays_one() {
    let export = r#"[{"role":"user","content":"é hi"},{"role":"assistant","content":"yes"},{"role":"user","content":"so"}]"#;
    let said =
        |most: usize| -> Vec<String> { turns(export, most).into_iter().map(|turn| turn.text).collect() };
    assert_eq!(said(6), ["é hi", "y"]);
    assert_eq!(said(100), ["é hi", "yes", "so"]);
}

proptest! {
    #[test]
    fn no_text_panics(text in "([A-Ca-c:\\[\\]()<>0-9 .#\n]|User|Assistant|WEBVTT|-->|\\PC){0,120}") {
        let _ = (talk(&text), turns(&text, 60), is_archive(&text));
    }

    #[test]
    fn nothing_that_is_said_is_lost(words in proptest::collection::vec("[a-z]{1,8}", 1..12)) {
        let text: String = words.iter().enumerate().map(|(at, word)| {
            let speaker = if at % 2 == 0 { "Ann" } else { "Ben" };
            format!("[10:{:02}] {speaker}: {word}\n", at + 10)
        }).collect();
        let said: Vec<String> = turns(&text, usize::MAX).iter().flat_map(|turn| turn.text.lines().map(str::to_owned)).collect();
        prop_assert_eq!(said, words);
    }
}

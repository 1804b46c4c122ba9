//! The shown part of a memory: its sections, within a token budget.

use tulving_core::model::answer::Strength;
use tulving_core::model::limits::Limits;
use tulving_core::model::request::{Filter, Fusion, Mode, RecallQuestion, RecallRequest};

use super::{ask, bed};

#[test]
fn a_token_budget_is_kept_and_what_has_no_room_is_counted() {
    let bed = bed();
    let user = bed.user();
    for n in 0..8 {
        bed.save(
            &user,
            format!("Note {n} about the greenhouse: {}", "water the tomatoes ".repeat(4)).as_str(),
        );
    }
    bed.save(&user, "Tomatoes like it warm");
    let hits = |budget| {
        let asked =
            RecallQuestion { token_budget: Some(budget), ..RecallQuestion::new("greenhouse tomatoes") };
        let answer = ask(&bed, &user, asked);
        (answer.hits.len(), answer.left_out)
    };
    assert_eq!((hits(1), hits(10_000)), ((0, 9), (9, 0)));
    assert_eq!(hits(70), (3, 6), "what is shorter still has room");
}

#[test]
fn what_has_no_room_lends_no_evidence_to_what_is_given() {
    let bed = bed();
    let user = bed.user();
    let question = "Deploys of the website go through make ship after two approvals by reviewers";
    bed.save(&user, question);
    bed.save(&user, "b website");
    let given = |token_budget, abstain_below| {
        let answer =
            ask(&bed, &user, RecallQuestion { token_budget, abstain_below, ..RecallQuestion::new(question) });
        (answer.hits.len(), answer.evidence.expect("a question"), answer.left_out, answer.withheld)
    };
    assert_eq!(given(None, None), (2, Strength::Strong, 0, 0));
    assert_eq!(given(Some(100), None), (2, Strength::Strong, 0, 0));
    assert_eq!(given(Some(4), None), (1, Strength::None, 1, 0), "what is left is not about it");
    assert_eq!(given(Some(1), None), (0, Strength::None, 2, 0), "nothing is about nothing");
    assert_eq!(given(Some(4), Some(Strength::Weak)), (0, Strength::None, 2, 0));
    assert_eq!(given(Some(100), Some(Strength::Weak)), (2, Strength::Strong, 0, 0));
}

#[test]
fn hits_that_an_answer_has_no_bytes_for_are_cut_to_their_section_and_none_is_missing() {
    let bed = bed().with_limits(Limits { answer_bytes: 5_000, ..Limits::default() });
    let user = bed.user();
    let part = |name: &str, n: u32| {
        format!("## {name}\n\n{}\n\n", format!("The {name} {n} is described here. ").repeat(30))
    };
    for n in 0..6 {
        bed.save(&user, ["pump", "valve", "hose"].map(|name| part(name, n)).concat().trim_end());
    }
    bed.engine.embed_waiting(100).expect("embedded");
    let answer = ask(&bed, &user, RecallQuestion::new("the valve"));
    assert_eq!(answer.hits.len(), 6);
    let whole = answer.hits.iter().take_while(|hit| !hit.cut).count();
    assert_eq!(whole, 1, "the first is whole, the next would not fit");
    for hit in &answer.hits[whole..] {
        let (section, content) = (hit.section.as_ref().expect("a section"), &hit.memory.fields.text.content);
        assert!(hit.cut && content.len() == section.end - section.start && content.contains("valve"));
    }
    let bytes: usize = answer.hits.iter().map(|hit| hit.memory.fields.text.content.len()).sum();
    assert!(bytes < 5_000 + 5 * 2_000, "{bytes}");
    let listed = RecallRequest { mode: Mode::Recent, filter: Filter::default(), sort: None, limit: 6 };
    let recent = bed.engine.recall(&user, &listed).expect("read");
    assert_eq!((recent.hits.len() as u64 + recent.left_out, recent.total_found), (6, 6));
    assert!(recent.hits.len() < 6 && recent.left_out > 0, "the list says what it left out");
}

#[test]
fn within_a_token_budget_a_long_content_is_cut_to_its_section() {
    let bed = bed();
    let user = bed.user();
    let part =
        |name: &str| format!("## {name}\n\n{}\n\n", format!("The {name} is described here. ").repeat(30));
    let text = ["pump", "valve", "hose"].map(part).concat();
    let text = text.trim_end();
    bed.save(&user, text);
    bed.engine.embed_waiting(10).expect("embedded");
    let hit = |token_budget| {
        ask(&bed, &user, RecallQuestion { token_budget, ..RecallQuestion::new("the valve") })
            .hits
            .pop()
            .expect("found")
    };
    let (whole, short) = (hit(None), hit(Some(1_000)));
    assert_eq!((whole.cut, whole.memory.fields.text.content.as_str()), (false, text));
    let section = short.section.expect("a section");
    assert!(short.cut && short.memory.fields.text.content == text[section.start..section.end]);
}

#[test]
fn the_best_section_of_a_long_memory_is_named() {
    let bed = bed();
    let user = bed.user();
    let filler = |word: &str| format!("{word} is described here at some length. ").repeat(30);
    let text = format!(
        "# Manual\n\n## Pumps\n\n{}\n\n## Valves\n\n{} The relief valve opens at nine bar.\n\n## Hoses\n\n{}",
        filler("A pump"),
        filler("A valve"),
        filler("A hose")
    );
    bed.save(&user, text.as_str());
    bed.engine.embed_waiting(10).expect("embedded");
    let answer = ask(&bed, &user, RecallQuestion::new("at how many bar does the relief valve open?"));
    let hit = &answer.hits[0];
    let section = hit.section.as_ref().expect("a section");
    let shown = &hit.memory.fields.text.content[section.start..section.end];
    assert!(shown.contains("relief valve opens at nine bar"), "{shown}");
    assert!(shown.len() < text.len() / 2);
    assert_eq!(section.heading_path, ["Manual", "Valves"]);
}

/// Returns a manual with a section for each name; those in `about` describe the relief valve.
fn manual(names: &[&str], about: &[&str]) -> String {
    let section = |name: &&str| {
        let filler = format!("The {name} is cleaned and oiled with care. ").repeat(18);
        let described = if about.contains(name) { "The relief valve opens at nine bar there. " } else { "" };
        format!("## {name}\n\n{described}{filler}\n\n")
    };
    format!("# Manual\n\n{}", names.iter().map(section).collect::<String>())
}

#[test]
fn further_good_sections_stand_below_the_best_one() {
    let bed = bed();
    let user = bed.user();
    let names = ["Pump", "Boiler", "Hose", "Tank", "Motor", "Fan", "Door"];
    let text = manual(&names, &["Boiler", "Tank", "Fan", "Door", "Motor"]);
    bed.save(&user, text.as_str());
    bed.save(&user, "The relief valve opens at nine bar");
    bed.engine.embed_waiting(10).expect("embedded");
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        let answer = ask(
            &bed,
            &user,
            RecallQuestion { fusion, ..RecallQuestion::new("The relief valve opens at nine bar there") },
        );
        assert_eq!(answer.hits.len(), 2);
        let long = answer.hits.iter().find(|hit| hit.section.is_some()).expect("the manual");
        let best = long.section.as_ref().expect("a section");
        assert_eq!(long.further.len(), 3, "{:?}", long.further);
        let mut above = long.relevance_score.get();
        for further in &long.further {
            let place = &further.section;
            assert_eq!(further.content, text[place.start..place.end]);
            assert!(further.content.contains("opens at nine bar"), "{}", further.content);
            let first = text.lines().nth(place.line - 1).expect("a line");
            assert!(further.content.starts_with(first) && first == format!("## {}", place.heading_path[1]));
            assert_ne!(place.start, best.start);
            assert!(further.relevance_score.get() <= above);
            above = further.relevance_score.get();
        }
        let short = answer.hits.iter().find(|hit| hit.section.is_none()).expect("the other");
        assert_eq!(short.further, []);
    }
    let answer = ask(&bed, &user, RecallQuestion::new("the Hose is cleaned and oiled with care"));
    assert!(
        answer.hits[0].further.iter().all(|further| further
            .section
            .heading_path
            .last()
            .is_some_and(|label| label != "Hose"))
    );
}

#[test]
fn further_sections_are_the_first_to_have_no_room_in_a_budget() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, manual(&["Pump", "Boiler", "Hose", "Tank"], &["Boiler", "Tank"]).as_str());
    bed.save(
        &user,
        format!("The relief valve opens at nine bar. {}", "It was bought used. ".repeat(12)).as_str(),
    );
    bed.engine.embed_waiting(10).expect("embedded");
    let given = |token_budget| {
        let question = "The relief valve opens at nine bar there";
        let answer = ask(&bed, &user, RecallQuestion { token_budget, ..RecallQuestion::new(question) });
        let further: Vec<usize> = answer.hits.iter().map(|hit| hit.further.len()).collect();
        (further.iter().sum::<usize>(), further.len(), answer.left_out)
    };
    assert_eq!(given(None), (1, 2, 0));
    assert_eq!(given(Some(1_000)), (1, 2, 0));
    assert_eq!(given(Some(400)), (0, 2, 0), "both memories, and nothing further");
}

/// Returns a handbook of many small sections, at several levels, with every text that looks like a heading and
/// is not one.
fn handbook() -> String {
    let small = |level: &str, name: &str, says: &str| format!("{level} {name}\n\n{says}\n\n");
    let mut text = String::from("# Handbook\n\nFor the crew of the boat.\n\n");
    for (name, says) in [
        ("Engine", "Let it run for five minutes before casting off."),
        ("Galley", "The stove burns paraffin from the blue tin."),
        ("Anchor", "Thirty metres of chain lie in the forward locker."),
        ("Radio", "Channel sixteen is watched at all times."),
        ("Mooring", "Two lines at the bow and one at the stern."),
        ("Bilge", "Pump it every morning and write the count down."),
    ] {
        text.push_str(&small("##", name, says));
        text.push_str(&small("###", &format!("{name} checklist"), "Look at it twice a day."));
    }
    text.push_str("Night watch\n-----------\n\nFour hours each, the youngest begins.\n\n");
    text.push_str("```sh\n# Provisions\nmake list\n```\n\n");
    text.push_str("Provisions\n----------\n\nRice and lentils for three weeks.\n\n");
    text.push_str("Laundry\n=======\n\nOn Sundays, in the harbour.\n");
    text.trim_end().to_owned()
}

#[test]
fn an_exact_heading_was_labelled_as_its_neighbour() {
    let bed = bed();
    let user = bed.user();
    let text = handbook();
    bed.save(&user, text.as_str());
    bed.save(&user, "The boat is painted white");
    bed.engine.embed_waiting(10).expect("embedded");
    let names = [
        ("Galley", "## Galley"),
        ("anchor", "## Anchor"),
        ("Mooring checklist", "### Mooring checklist"),
        ("Bilge", "## Bilge"),
        ("Night watch", "Night watch\n-----------"),
        ("Provisions", "Provisions\n----------"),
        ("Laundry", "Laundry\n======="),
    ];
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        for (question, begins) in names {
            let answer = ask(&bed, &user, RecallQuestion { fusion, ..RecallQuestion::new(question) });
            let hit = answer.hits.iter().find(|hit| hit.section.is_some()).expect("the handbook");
            let section = hit.section.as_ref().expect("a section");
            let label = section.heading_path.last().expect("a heading");
            assert!(label.eq_ignore_ascii_case(question), "{question}: {:?}", section.heading_path);
            assert!(hit.shown().starts_with(begins), "{question}: {}", hit.shown());
            assert_eq!(hit.shown(), &text[section.start..section.end]);
            let line = text.lines().nth(section.line - 1).expect("a line");
            assert_eq!(line.trim_start_matches(['#', ' ']), label, "the line is that of the label");
        }
    }
    let budget =
        ask(&bed, &user, RecallQuestion { token_budget: Some(200), ..RecallQuestion::new("Galley") });
    let cut = budget.hits.iter().find(|hit| hit.cut).expect("cut to its section");
    assert!(cut.memory.fields.text.content.starts_with("## Galley\n\nThe stove"));
}

#[test]
fn words_below_a_heading_are_labelled_with_it_and_no_other() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, handbook().as_str());
    bed.engine.embed_waiting(10).expect("embedded");
    for (question, label) in [
        ("how many metres of chain are in the forward locker?", "Anchor"),
        ("channel sixteen at all times", "Radio"),
        ("rice and lentils", "Provisions"),
        ("what does make list do?", "Night watch"),
        ("for the crew of the boat", "Handbook"),
    ] {
        let hit = ask(&bed, &user, RecallQuestion::new(question)).hits.remove(0);
        assert_eq!(hit.heading_path().last().map(String::as_str), Some(label), "{question}");
    }
}

use proptest::prelude::*;

use super::*;
use crate::classify::form::of_text;

fn described(name: Option<&str>, content: &str) -> (Option<Kind>, Option<Stability>) {
    let RuleClassification { kind, stability } = sorted(content, &of_text(name, content), name);
    (kind, stability)
}

#[test]
fn a_fact_keeps_what_follows_from_its_type() {
    for fact in [
        "The user prefers dark mode",
        "User's name is Alex",
        "Ann works at Acme as a nurse.",
        "The user is currently living in Berlin.",
        "The user moved to Lyon in 2021.",
        "Likes short answers.",
        "The server runs on port 8080.",
        "Ben is allergic to nuts because of his genes.",
        "The team meets on Mondays.",
        "Ann is currently doing kickboxing as a workout.",
        "Ann adopted two cats over the summer.",
        "Ben moved to Graz since his sister lives there.",
        "Birthday: 6 May 1990",
        "Daily standup: 9:30 every day",
        "Standup: at 9:30 in the blue room.",
        "Why: unknown",
        "Glossary: the list of terms is in the wiki.",
        "Interview: Tuesdays at 3 pm.",
        "Run is the name of the scheduler.",
        "The importer first validates the file and then writes it.",
        "Wants to visit Japan next year.",
        "東京に住んでいます。",
        "",
    ] {
        assert_eq!(described(None, fact), (None, None), "{fact}");
    }
}

#[test]
fn a_sentence_that_is_more_than_a_fact_is_known() {
    let procedural = (Some(Kind::Procedural), Some(Stability::Evolving));
    let rationale = (Some(Kind::Rationale), Some(Stability::Stable));
    let episodic = (Some(Kind::Episodic), Some(Stability::Volatile));
    for (said, expected) in [
        ("Deploy by running `make release` and then `make publish`.", procedural),
        ("To get access, open a ticket and name your lead.", procedural),
        ("First stop the worker, then run the migration, and finally start it again.", procedural),
        ("We chose SQLite over Postgres because there is nothing to install.", rationale),
        ("GraphQL was rejected because caching would no longer work.", rationale),
        ("Yesterday we met with the supplier.", episodic),
        ("Last week the user interviewed three people.", episodic),
        ("The staging server is down right now.", episodic),
        ("Currently debugging the login test.", episodic),
    ] {
        assert_eq!(described(None, said), expected, "{said}");
    }
}

#[test]
fn a_label_before_a_saying_counts_as_a_heading_does() {
    let rationale = (Some(Kind::Rationale), Some(Stability::Stable));
    let episodic = (Some(Kind::Episodic), Some(Stability::Volatile));
    for (said, expected) in [
        ("Meeting notes: discussed the roadmap with Sarah, agreed on Q1.", episodic),
        ("Daily standup: Tom fixed the login bug, Priya reviewed.", episodic),
        ("Standup summary: search is slow, Ana looks into it.", episodic),
        ("Why we chose Rust: trade-offs and reasoning", rationale),
        ("Why we chose Rust: memory safety without a garbage collector.", rationale),
    ] {
        assert_eq!(described(None, said), expected, "{said}");
        let (head, rest) = said.split_once(": ").expect("a label");
        assert_eq!(described(None, &format!("# {head}\n\n{rest}")), expected, "{said}");
    }
}

#[test]
fn conversations_are_of_their_time() {
    let chat = "[10:32] Ann: how do I deploy?\n[10:33] Ben: run make";
    assert_eq!(described(None, chat), (Some(Kind::Episodic), Some(Stability::Volatile)));
}

#[test]
fn code_and_links_are_left_to_their_type() {
    assert_eq!(described(Some("runbooks/deploy.sh"), "make deploy\n"), (None, None));
    assert_eq!(described(None, "https://example.org/runbook"), (None, None));
    assert_eq!(described(Some("package.json"), "{\"name\": \"x\"}"), (None, None));
    assert_eq!(described(Some("a.json"), "{\"openapi\": \"3.1.0\"}").0, Some(Kind::Semantic));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_document_panics_and_the_answer_is_the_same_each_time(
        name in proptest::option::of("(docs/|adr/)?[a-z0-9-]{0,12}\\.(md|txt|json|rs)"),
        content in "([#*|`:.,a-z \n-]|# Decision\n|- \\[ \\] |1\\. run |Attendees: |because |yesterday |\\PC){0,60}",
    ) {
        prop_assert_eq!(described(name.as_deref(), &content), described(name.as_deref(), &content));
    }
}

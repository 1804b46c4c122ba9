//! Projects and facts: things that are built or used, and the state and location of things in the speaker's world.

use super::clause::Clause;
use super::filter;
use super::rules::{FactMatch, FactSpeaker, points, said};
use super::third_person;
use crate::classify::lexicon::listed;
use crate::vocabulary::{MemoryType, Stability};
use crate::when::WEEKDAYS;

/// Matches "I'm working on a parser", "we use pnpm", "my side project is called Lanternfish".
pub(super) fn project(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    if let Some(content) = building(clause, voice) {
        let found = FactMatch::new(MemoryType::Project, content);
        return Some(FactMatch { stability: Some(Stability::Evolving), ..found });
    }
    let content = using(clause, voice).or_else(|| called(clause, voice)).or_else(|| ourselves(clause))?;
    Some(FactMatch::new(MemoryType::Project, content))
}

fn building(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let person = clause.word(0);
    let be = clause.any(0, "i am, we are, i have been, we have been")?;
    let at = clause.past(be, "currently now mostly also mainly just still");
    let verbs = "\
        working on, building, developing, rewriting, porting, migrating, writing a book, writing a library, writing a compiler, \
        designing";
    let object = clause.any(at, verbs)?;
    if points(clause, object) || clause.left(object) < 2 || clause.holds("error") || clause.holds("bug") {
        return None;
    }
    Some(if person == "we" { said(clause) } else { voice.does("is", clause, at) })
}

/// Matches "We use Terraform for our infrastructure", "I use a Mac".
fn using(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let person = clause.word(0);
    let at = clause.past(1, "currently now mostly also mainly always only all both still");
    let uses =
        clause.any(at, "use, rely on, deploy with, deploy to, host on, build with, test with, run on")?;
    if !listed("i we", person) || points(clause, uses) {
        return None;
    }
    Some(match person {
        "we" => said(clause),
        _ => voice.does(&third_person::verb(clause.word(at)), clause, at + 1),
    })
}

/// Matches "My side project is called Lanternfish."
fn called(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let named = listed("my our the", clause.word(0))
        && (1..4).any(|at| {
            listed(
                "project product startup app company library tool game book thesis codebase",
                clause.word(at),
            )
        });
    let is = (2..6).find_map(|at| clause.any(at, "is called, is named, codenamed, is about"))?;
    (named && !points(clause, is))
        .then(|| if clause.word(0) == "my" { voice.owns(clause) } else { said(clause) })
}

/// Matches "We're a team of five."
fn ourselves(clause: &Clause<'_>) -> Option<String> {
    let what = (3..6).any(|at| {
        listed("team company startup agency family band couple nonprofit charity firm shop", clause.word(at))
    });
    (clause.any(0, "we are a, we are an").is_some() && what).then(|| said(clause))
}

/// Matches "The staging server is staging.acme.example", "our API uses snake_case".
pub(super) fn fact(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let whose = clause.word(0);
    if !listed("the our my", whose) {
        return None;
    }
    let verb = verb_of(clause)?;
    if (1..verb).any(|at| listed(NO_SUBJECTS, clause.word(at))) {
        return None;
    }
    let value = clause.past(verb + 1, "now also currently always all only still both");
    let momentary = listed("is are has have", clause.word(verb))
        && filter::is_momentary(clause, value)
        && !is_participle(clause, value);
    if momentary || clause.left(verb + 1) == 0 || clause.word(value) == "not" || points(clause, value) {
        return None;
    }
    // A statement about a thing without an owner must be exact, or its subject must be something that lasts.
    let subject_lasts = (1..verb).any(|at| listed(LASTING, clause.word(at)));
    let exact = (value..clause.words.len()).any(|at| is_exact(clause, at));
    if whose == "the"
        && !(subject_lasts && (exact || !listed("is are has have", clause.word(verb))))
        && !(exact && lives(clause, verb))
        && !clause.word(1).starts_with("deadline")
    {
        return None;
    }
    if whose != "the" && !subject_lasts && !exact {
        return None;
    }
    let project = (1..verb).any(|at| listed(CODE, clause.word(at)));
    let memory_type = if project { MemoryType::Project } else { MemoryType::Fact };
    let content = if whose == "my" { voice.owns(clause) } else { said(clause) };
    Some(FactMatch::new(memory_type, content))
}

/// Returns the position of the verb in a statement about a thing, if the verb is among the first words.
fn verb_of(clause: &Clause<'_>) -> Option<usize> {
    let verbs = "is are uses use runs run lives live has have listens requires supports needs targets follows contains stores deploys starts ends expires costs belongs sits resides speaks exposes serves consists depends";
    (2..8).find(|at| listed(verbs, clause.word(*at)))
}

fn lives(clause: &Clause<'_>, verb: usize) -> bool {
    listed("lives live sits resides runs listens", clause.word(verb))
}

/// Returns true for phrases such as "is written in Elixir" and "is hosted at", which do not describe a momentary state.
fn is_participle(clause: &Clause<'_>, at: usize) -> bool {
    listed(
        "written built hosted deployed stored located based licensed named called made kept mirrored",
        clause.word(at),
    )
}

/// Returns true if a word is a technical name, or a number.
fn is_exact(clause: &Clause<'_>, at: usize) -> bool {
    let written = clause.written(at);
    let inner = |c: char| matches!(c, '.' | '/' | '_' | ':' | '@');
    written.chars().any(|c| c.is_ascii_digit())
        || written.trim_matches(|c: char| !c.is_alphanumeric() && c != '/' && c != '~').contains(inner)
        || WEEKDAYS.contains(&clause.word(at))
}

/// Subjects of momentary statements, and of statements about the conversation.
const NO_SUBJECTS: &str = "\
    error errors test tests log logs output result results function problem issue issues bug bugs question answer line build compiler \
    command script method variable loop stack trace traceback exception message warning code file files list point thing reason idea plan \
    pipeline ci branch commit pr head eyes mind bad turn guess understanding impression favorite favourite screen page button first second last \
    next other same only best worst rest whole weather food day days life job boss";

/// Subjects of lasting statements.
const LASTING: &str = "\
    server servers service services database db repo repository api backend frontend app apps website site cluster codebase package module \
    library project product team office company deadline domain host port address url endpoint queue bucket account schema stack docs \
    documentation environment staging production prod infrastructure framework monorepo workspace folder directory config configuration \
    dashboard job cron worker router gateway proxy registry image container cache index table column field format version licence license \
    timezone warehouse machine laptop printer car house flat apartment kitchen school garden phone keyboard monitor editor shell terminal \
    budget contract release sprint cycle quarter policy convention standard style guide customer customers client clients investor supplier \
    competitor";

/// Subjects related to code.
const CODE: &str = "\
    service services repo repository backend frontend app apps codebase package module library project product api monorepo endpoint schema \
    stack framework config configuration database db website site";

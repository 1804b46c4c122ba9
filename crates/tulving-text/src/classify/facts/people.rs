//! The identity of the speaker, and the people whom the speaker mentions.

use super::clause::Clause;
use super::filter;
use super::rules::{FactMatch, FactSpeaker, points, said};
use super::third_person;
use crate::classify::lexicon::listed;
use crate::vocabulary::MemoryType;

/// Maximum number of words of a name.
const NAME: usize = 3;

/// Matches "My name is Anna", "call me Bea", "I'm Carla".
pub(super) fn own_name(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let called = "\
        my name is, my full name is, my nickname is, call me, please call me, i am called, i go by, people call me, everyone calls me";
    let from = match clause.any(0, called) {
        Some(from) => from,
        None if clause.says(0, "i am") && is_alone(clause, 2) && is_name(clause, 2) => 2,
        None => return None,
    };
    let words = (from..from + NAME).take_while(|at| is_name(clause, *at)).count();
    if words == 0 {
        return None;
    }
    let name: Vec<&str> = (from..from + words).map(|at| clause.written(at)).collect();
    let content = format!("{}'s name is {}", voice.subject, name.join(" "));
    Some(FactMatch::new(MemoryType::Identity, content))
}

/// Returns true if a word is followed by a comma or by very few words: "I'm Carla, a translator".
fn is_alone(clause: &Clause<'_>, at: usize) -> bool {
    clause.left(at) <= 2 || clause.marked(at).ends_with(',')
}

/// Returns true if a word is written like a name.
fn is_name(clause: &Clause<'_>, at: usize) -> bool {
    let written = clause.written(at);
    let mut letters = written.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.all(|c| c.is_lowercase() || matches!(c, '-' | '\'' | '’'))
        && written.chars().count() > 1
        && !listed(NO_NAMES, clause.word(at))
        && !listed(NATIONS, clause.word(at))
}

/// Capitalized words that are not names of people.
const NO_NAMES: &str = "\
    ok okay sorry done back ready sure fine good great happy here there it this that the a an i we you he she they what who where when why how \
    everyone everybody someone somebody nobody people all some most both each every our my your his her its their but and or so \
    please thanks hello hi hey yes no not now then also just still only maybe monday tuesday wednesday thursday friday saturday \
    sunday january february march april may june july august september october november december english german french spanish \
    typescript javascript python rust java kotlin swift ruby php docker kubernetes postgres postgresql mysql sqlite redis kafka \
    react vue angular svelte tailwind terraform jenkins github gitlab git linux windows mac macos android chrome firefox safari \
    slack notion jira figma excel aws azure gcp nginx apache django flask rails laravel node deno bun webpack vite npm yarn pnpm \
    graphql rest mongo mongodb elasticsearch grafana prometheus sentry stripe cloudflare netlify vercel heroku ansible buildkite \
    circleci bitbucket confluence teams zoom outlook google microsoft apple amazon openai anthropic emacs vim helix neovim \
    everything nothing something anything one two three tests test code data";

/// Nationalities.
const NATIONS: &str = "\
    african albanian algerian american argentinian armenian asian australian austrian bavarian belgian brazilian british bulgarian \
    canadian catalan chilean chinese colombian croatian cuban czech danish dutch egyptian estonian european filipino finnish flemish \
    georgian ghanaian greek hungarian icelandic indian indonesian iranian iraqi irish israeli italian jamaican japanese kenyan korean \
    latvian lebanese lithuanian malaysian mexican moroccan nepali nigerian norwegian pakistani persian peruvian polish portuguese \
    romanian russian scottish serbian slovak slovenian spanish swedish swiss syrian taiwanese thai tunisian turkish ukrainian \
    venezuelan vietnamese welsh english french german";

/// Matches "I work as a nurse", "I'm a developer", "I live in Vienna", "I'm allergic to peanuts".
pub(super) fn identity(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let content = about_me(clause, voice).or_else(|| of_mine(clause, voice))?;
    Some(FactMatch::new(MemoryType::Identity, content))
}

fn about_me(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    if clause.word(0) != "i" {
        return None;
    }
    let at = clause.past(1, "currently also now mostly mainly actually originally still just");
    let after = clause.past(at + 1, "currently also now actually originally still just a an very");
    let described = |verb: &str, from: usize| Some(voice.does(verb, clause, from));
    match clause.word(at) {
        "work"
            if listed("as at for in from with remotely", clause.word(at + 1)) && !points(clause, at + 2) =>
        {
            described("works", at + 1)
        }
        "live" if listed("in near with at on", clause.word(at + 1)) && !points(clause, at + 2) => {
            described("lives", at + 1)
        }
        "grew" if clause.word(at + 1) == "up" => described("grew", at + 1),
        "moved" if clause.word(at + 1) == "to" && is_capital(clause, at + 2) => described("moved", at + 1),
        "studied" | "speak" if is_capital(clause, at + 1) || listed("at in", clause.word(at + 1)) => {
            described(if clause.word(at) == "speak" { "speaks" } else { "studied" }, at + 1)
        }
        "was" if clause.word(at + 1) == "born" => described("was", at + 1),
        "have" | "own"
            if listed("a an two three four five", clause.word(at + 1))
                && (at + 2..at + 5).any(|at| listed(HAVE, clause.word(at))) =>
        {
            described(&third_person::verb(clause.word(at)), at + 1)
        }
        "have" if clause.any(at + 1, "been a, been an").is_some() && is_role(clause, at + 3) => {
            described("has", at + 1)
        }
        "am" => match clause.word(at + 1) {
            "not" => None,
            "from" | "based" if (at + 2..at + 5).any(|at| is_capital(clause, at)) => described("is", at + 1),
            "on" | "in"
                if is_capital(clause, at + 2) && (at + 3..at + 5).any(|at| clause.word(at) == "time") =>
            {
                described("is", at + 1)
            }
            _ if clause.says(at + 1, "allergic to")
                || clause.says(at + 1, "married")
                || clause.says(at + 2, "years old") =>
            {
                described("is", at + 1)
            }
            _ if listed(TRAITS, clause.word(after)) || listed(NATIONS, clause.word(after)) => {
                described("is", at + 1)
            }
            "a" | "an" | "the" | "originally" | "also" | "currently" if is_role(clause, at + 2) => {
                described("is", at + 1)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Nouns for things that people have for a long time.
const HAVE: &str = "dog dogs cat cats kid kids child children daughter daughters son sons sister sisters brother brothers wife husband horse horses parrot rabbit twins phd degree master's bachelor's tattoo house flat apartment garden bike car";

/// Lasting traits.
const TRAITS: &str = "\
    vegan vegetarian pescatarian diabetic left-handed right-handed colorblind colour-blind color-blind dyslexic deaf retired self-employed bilingual \
    autistic pregnant muslim christian jewish buddhist hindu celiac coeliac lactose asthmatic widowed divorced engaged";

fn is_capital(clause: &Clause<'_>, at: usize) -> bool {
    clause.written(at).starts_with(char::is_uppercase)
}

/// Returns true if the words from a position on name a role: a profession or a position in a group.
pub(super) fn is_role(clause: &Clause<'_>, from: usize) -> bool {
    let ends =
        "in at for from with who and but of on mostly that which by working since now based living to is";
    let words =
        (from..from + 5).map(|at| clause.word(at)).take_while(|word| !word.is_empty() && !listed(ends, word));
    for (at, word) in (from..).zip(words) {
        if names_role(word) {
            return true;
        }
        if clause.marked(at).ends_with([',', ';']) {
            return false;
        }
    }
    false
}

fn names_role(word: &str) -> bool {
    let suffix =
        ["er", "or", "ist", "ian", "eer", "wright"].iter().any(|end| word.len() > 4 && word.ends_with(end));
    (suffix && !listed(NO_ROLES, word)) || listed(ROLES, word)
}

const ROLES: &str = "\
    nurse student chef cook pilot analyst consultant accountant assistant architect lead head chief ceo cto cfo coo cmo vp intern dad mom mum mother \
    father parent freelancer professor coach clerk judge vet surgeon dba sre devops pm po agent attorney apprentice trainee graduate undergrad phd postdoc vegan \
    vegetarian diabetic native citizen resident widow expat immigrant boss spouse wife husband partner friend colleague neighbour neighbor \
    roommate flatmate mate cousin brother sister son daughter uncle aunt sponsor expert owner contact";

const NO_ROLES: &str = "\
    server servers container parser compiler router provider broker scheduler loader builder folder cluster number order paper layer buffer \
    newsletter computer docker browser editor monitor vector error tracker register other another later never ever whatever water letter \
    matter center color minor major prior either neither rather under over after before winter summer tower power filter master \
    super inner outer upper lower former latter helper wrapper adapter handler listener worker linter formatter bundler user users faster better \
    slower bigger smaller sooner older newer younger higher longer shorter stranger october september november december offer answer \
    together remember consider beginner loser clever sober bitter tired behavior behaviour floor door indoor";

/// Matches "My birthday is on March 3", "my pronouns are …".
fn of_mine(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    let named = clause.word(0) == "my" && (1..4).any(|at| listed(MINE, clause.word(at)));
    let verb = (2..5).find(|at| listed("is are", clause.word(*at)))?;
    (named && clause.left(verb + 1) > 0 && !filter::is_momentary(clause, verb + 1))
        .then(|| voice.owns(clause))
}

const MINE: &str = "birthday timezone zone pronouns age hometown nationality profession occupation job title language email height hobby hobbies employer company";

/// Matches "My wife Anna works at the library", "Tom is our designer", "our CTO is Ravi".
pub(super) fn person(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<FactMatch> {
    let content = relative(clause, voice).or_else(|| holder(clause, voice)).or_else(|| named(clause))?;
    Some(FactMatch::new(MemoryType::Person, content))
}

const RELATIVES: &str = "\
    wife husband partner girlfriend boyfriend fiance fiancee fiancé fiancée brother sister mother father mom mum dad son daughter kid child boss manager \
    colleague coworker co-worker teammate friend roommate flatmate neighbour neighbor landlord landlady doctor dentist therapist cousin uncle aunt \
    grandma grandmother grandpa grandfather nephew niece assistant mentor supervisor advisor lawyer accountant dog cat teacher coach stepson stepdaughter ex \
    son-in-law mother-in-law father-in-law brother-in-law sister-in-law client kids children sons daughters brothers sisters parents dogs cats";

/// Matches "My wife Anna works at the library", "my manager is called Devika", "my sister's name is Ida".
fn relative(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    if clause.word(0) != "my" {
        return None;
    }
    let at = clause.past(1, "older younger elder little big oldest youngest best good old new former current direct late two three");
    let word = clause.word(at);
    if let Some(owner) = word.strip_suffix("'s") {
        let named = listed(RELATIVES, owner) && clause.says(at + 1, "name is") && is_name(clause, at + 3);
        return named.then(|| voice.owns(clause));
    }
    if !listed(RELATIVES, word) {
        return None;
    }
    let next = at + 1;
    let called = clause
        .any(next, "is called, is named, are called, are named, is, are, called, named")
        .filter(|to| is_name(clause, *to));
    let named = is_name(clause, next) && clause.left(next + 1) >= 2;
    (called.is_some() || named).then(|| voice.owns(clause))
}

/// Matches "Our CTO is Ravi."
fn holder(clause: &Clause<'_>, voice: FactSpeaker<'_>) -> Option<String> {
    if !listed("our my the", clause.word(0)) || !is_role(clause, 1) {
        return None;
    }
    let verb = (2..7).find(|at| clause.word(*at) == "is")?;
    let at = verb + 1 + usize::from(listed("called named", clause.word(verb + 1)));
    is_name(clause, at).then(|| if clause.word(0) == "my" { voice.owns(clause) } else { said(clause) })
}

/// Matches "Tom is our designer", "Kenji handles all of our deployments".
fn named(clause: &Clause<'_>) -> Option<String> {
    if !is_name(clause, 0) {
        return None;
    }
    let verb = if is_name(clause, 1) { 2 } else { 1 };
    let is = clause.word(verb) == "is"
        && listed("our my the a an head in", clause.word(verb + 1))
        && is_role(clause, verb + 1);
    let charge = clause.any(
        verb,
        "\
    is responsible for, is in charge of, takes care of, reports to, works on, works at, works for, works in, \
    joined our",
    );
    let does = listed("handles owns leads manages runs maintains reviews approves", clause.word(verb))
        && (clause.holds("our") || clause.holds("the"));
    let from = clause.word(1) == "from"
        && (3..6).any(|at| listed("has handles approves owns is leads does needs", clause.word(at)));
    (is || charge.is_some() || does || from).then(|| said(clause))
}

//! Filters out sentences that state nothing about the speaker's world: questions, suppositions, reports, jokes, role
//! play and secrets.

use super::clause::Clause;
use crate::classify::lexicon::{listed, phrases};

/// Returns the words of a text in lower case, with a space before and after each word.
fn spaced(text: &str) -> String {
    let lower = text.to_lowercase().replace('’', "'");
    let word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '/' | '_');
    let words: Vec<&str> = lower.split(|c: char| !word(c)).filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

fn holds(said: &str, cues: &str) -> bool {
    phrases(cues).any(|cue| said.contains(&format!(" {cue} ")))
}

fn begins(said: &str, cues: &str) -> bool {
    phrases(cues).any(|cue| said.starts_with(&format!(" {cue} ")))
}

/// Returns true if a complete turn is role play, a song or a supposition, so that its sentences are not true
/// statements.
pub(super) fn is_play(own: &str) -> bool {
    let said = spaced(own);
    holds(&said, PLAYS) || begins(&said, PLAY_BEGINS) || holds(&said, SONGS)
}

const PLAYS: &str = "\
    pretend, role play, roleplay, act as, acting as, you are now, in this story, in the story, in my story, \
    in my novel, in character, let's play, hypothetically, thought experiment, write a story, write a poem, \
    write a song, lyrics, once upon a time, for the sake of argument, the persona";

const PLAY_BEGINS: &str = "\
    imagine, suppose, assume, assuming, picture this, you are a, you are an, you are the, you're a, \
    let's say, let's imagine, let's pretend, say i am, say i'm";

/// Lines that are more often quoted from a song than meant.
const SONGS: &str = "\
    and i cannot lie, a little teapot, a barbie girl, is this the real life, here i go again";

/// Returns true if a text is a greeting, a thank-you or empty, so that it is not worth saving.
pub fn is_small_talk(text: &str) -> bool {
    let said = spaced(text);
    let mut words = said.split_whitespace();
    said.split_whitespace().count() <= COURTEOUS && words.all(|word| listed(COURTESY, word))
}

/// Maximum number of words of a greeting or a thank-you.
const COURTEOUS: usize = 10;
const COURTESY: &str = "\
    hi hello hey hiya howdy yo hallo hola bonjour salut servus moin ciao greetings good morning afternoon evening night day \
    thanks thank thx ty cheers danke merci gracias grazie you so very much a lot again there all everyone bye goodbye \
    see later soon tomorrow welcome you're great nice cool awesome perfect lovely how are doing today and to meet lol haha";

/// Returns true if a sentence is a statement.
pub(super) fn is_statement(sentence: &str) -> bool {
    let said = spaced(sentence);
    !(sentence.trim_end().ends_with('?')
        || asks(&said)
        || begins(&said, TASKS)
        || holds(&said, SUPPOSED)
        || holds(&said, UNSURE)
        || holds(&said, REPORTED)
        || is_joke(sentence, &said))
}

/// Returns true if the words form a question without a question mark.
fn asks(said: &str) -> bool {
    let mut words = said
        .split_whitespace()
        .skip_while(|word| listed("so and but hey hi hello ok okay please well", word));
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let asked = listed("what which who whom whose where why how what's who's where's how's wondering", first);
    let turned =
        listed("do does did is are was were am can could would will should shall may have has had", first)
            && listed(
                "i you we he she it they my our your the this that there anyone anybody somebody",
                second,
            );
    let when = first == "when" && listed("do does did is are was were will can should", second);
    asked || turned || when
}

/// Instructions that refer to a text after them.
const TASKS: &str = "\
    translate, please translate, summarize, summarise, rewrite, rephrase, paraphrase, proofread, correct, write, please write, draft, compose, reply, \
    print, echo, output, generate, quote, here is the, here's the, user story";

const SUPPOSED: &str = "\
    if i, if we, if my, if our, if you, if the, if it, if there, if only, what if, as if, unless, in case, \
    suppose, supposing, imagine, assume, assuming, provided that, would have, could have, should have, \
    i wish, i'd like, i would like, were i, let's say, in theory, for example, e g, used to, when i was, \
    back when";

const UNSURE: &str = "\
    maybe, perhaps, possibly, probably, i guess, i think, i suppose, i assume, i believe, not sure, unsure, \
    i don't know, i do not know, don't remember, do not remember, can't remember, i forgot, whether, might, \
    no idea, i doubt, it seems, it looks like, apparently, kind of, sort of, i wonder, never said, \
    didn't say, or not";

const REPORTED: &str = "\
    he said, she said, they said, said that, he says, she says, they say, says that, told me, told us, \
    tells me, wrote that, put it, the customer wrote, someone posted, somebody said, someone said, \
    people say, according to, quote, quoting, the log says, the test says, the error says, the docs say, \
    it says, the message says, he wrote, she wrote, they wrote, claims, claimed";

fn is_joke(sentence: &str, said: &str) -> bool {
    let bare = sentence.trim().trim_end_matches(|c: char| c.is_whitespace() || c == '.' || c == '!');
    let denied = ["... not", "… not", ", not", " NOT"].iter().any(|end| bare.ends_with(end));
    denied || said.ends_with(" /s ") || holds(said, JOKES)
}

const JOKES: &str = "\
    yeah right, oh great, oh sure, oh joy, oh wonderful, sure sure, just love it when, just love when, \
    totally love, just kidding, jk, lol, haha, as if, so much fun, what could go wrong, \
    my favorite thing ever, my favourite thing ever, /sarcasm";

/// Returns true if a text names a secret. Such a text must not be saved.
pub fn names_secret(text: &str) -> bool {
    holds(&spaced(text), SECRETS)
}

const SECRETS: &str = "\
    password, passwords, passphrase, passcode, api key, api keys, apikey, api_key, secret key, private key, \
    access key, access token, auth token, bearer token, token is, my pin, pin code, pin is, credit card, \
    card number, cvv, iban, social security, ssn, seed phrase, recovery phrase, credentials, secret is";

/// Returns true if a text without an addressee gives an agent a duty: "the assistant must …", "you always …".
pub fn binds_agent(text: &str) -> bool {
    let said = spaced(text);
    let words: Vec<&str> = said.split_whitespace().collect();
    words.iter().enumerate().any(|(at, word)| {
        let next = &words[at + 1..words.len().min(at + 1 + DUTY_WITHIN)];
        listed(AGENTS, word) && next.iter().any(|word| listed(DUTIES, word))
    })
}

/// Maximum number of words between an agent and its duty.
const DUTY_WITHIN: usize = 2;
const AGENTS: &str = "assistant assistants agent agents ai ais bot chatbot llm llms you";
const DUTIES: &str = "must should shall always never ought";

/// Returns true if a statement is only true at the moment.
pub(super) fn is_momentary(clause: &Clause<'_>, from: usize) -> bool {
    let at = clause
        .past(from, "still now currently again also very so too just not always all really quite completely");
    let word = clause.word(at);
    word.is_empty()
        || listed(MOMENTS, word)
        || word.ends_with("ing")
        || clause.holds("right now")
        || clause.holds("at the moment")
}

const MOMENTS: &str = "\
    down up broken slow fast red green ready done here there wrong stuck offline online back empty full fine ok okay good bad \
    great nice perfect weird strange odd flaky dead unreachable unavailable correct incorrect finished ugly messy huge big small \
    hard easy difficult impossible possible unclear clear confusing annoying terrible awful awesome amazing fixed gone late early \
    it this that what why how because about";

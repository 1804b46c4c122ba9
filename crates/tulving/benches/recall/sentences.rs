//! Sentences as people would save them, made from templates, for realistic embeddings.

use std::collections::HashSet;

use fastrand::Rng;

const PERSON: &[&str] = &[
    "Anna",
    "Marta",
    "the new tenant",
    "my brother",
    "our landlord",
    "the night nurse",
    "Tomas",
    "Priya",
    "the choir",
    "Yusuf",
    "grandmother",
    "the plumber",
    "my manager",
    "the design team",
    "Elena",
    "the coach",
    "Mr. Okafor",
    "Lucy",
    "the neighbour's son",
    "the auditors",
    "Kenji",
    "the vet",
    "my sister-in-law",
    "the book club",
    "Rosa",
    "the intern",
];
const PLACE: &[&str] = &[
    "in Lisbon",
    "at the harbour",
    "behind the library",
    "in the basement",
    "on the third floor",
    "near the old mill",
    "in the staging cluster",
    "at the allotment",
    "in Osaka",
    "by the lake",
    "at the clinic",
    "in the glove box",
    "on the shared drive",
    "in the Alps",
    "at the bakery on Mill Road",
    "in the attic",
    "at gate twelve",
    "in Nairobi",
    "in the repository",
    "under the stairs",
    "at the community centre",
    "in the meeting room",
    "on the ferry",
];
const TIME: &[&str] = &[
    "last Tuesday",
    "every Sunday night",
    "in the spring of 2021",
    "before the holidays",
    "at half past six",
    "after the release",
    "during the storm",
    "in May",
    "on the second of August",
    "since the operation",
    "when the lease ends",
    "the week after the wedding",
    "as soon as the tests pass",
    "at the end of the quarter",
    "while the road was closed",
    "in her last year of school",
    "twice a month",
    "on the day of the final",
];
const THING: &[&str] = &[
    "the red bicycle",
    "the backup of the database",
    "a sourdough starter",
    "the insurance papers",
    "the cello",
    "an old radio",
    "the login page",
    "the retry limit",
    "a pair of hiking boots",
    "the greenhouse",
    "the tax return",
    "the spare key",
    "a telescope",
    "the billing service",
    "the wedding dress",
    "her collection of stamps",
    "the heat pump",
    "the search index",
    "a box of letters",
    "the vaccination card",
    "the piano",
    "the build pipeline",
    "the rent contract",
    "a jar of honey",
    "the climbing rope",
    "the ledger",
    "the coffee grinder",
    "the sailing boat",
];
const FOOD: &[&str] = &[
    "lentil soup",
    "pickled herring",
    "mushroom risotto",
    "plum cake",
    "rye bread",
    "goat cheese",
    "miso ramen",
    "grilled aubergine",
    "oat porridge",
    "fish tacos",
    "dumplings",
    "walnut pie",
    "saffron rice",
    "roast chestnuts",
];
const ACTIVITY: &[&str] = &[
    "learning Portuguese",
    "running a half marathon",
    "restoring furniture",
    "painting the fence",
    "keeping bees",
    "studying for the bar exam",
    "writing a novel",
    "training a rescue dog",
    "playing chess by mail",
    "baking bread",
    "volunteering at the shelter",
    "tracing the family tree",
    "rewriting the parser",
    "photographing birds",
    "swimming in cold water",
    "teaching algebra",
    "repairing clocks",
    "singing tenor",
    "growing tomatoes",
];
const REASON: &[&str] = &[
    "because the doctor advised it",
    "because the disk was full",
    "since it reminds her of home",
    "to save money",
    "because nobody answered the phone",
    "after the warning from the bank",
    "so that the children can sleep",
    "because the certificate had expired",
    "to keep the costs below the budget",
    "since the train was cancelled",
    "because of an allergy to nuts",
    "to honour a promise",
    "because the old one leaked",
    "after a long argument",
];
const STATE: &[&str] = &[
    "is broken",
    "has to be renewed",
    "was sold",
    "needs a new owner",
    "is kept locked",
    "was found again",
    "costs more than expected",
    "must not be touched",
    "is ready",
    "was forgotten",
    "belongs to the museum now",
    "runs twice as fast as before",
    "smells of smoke",
    "is insured until December",
    "was moved",
];
const FEELING: &[&str] = &[
    "is proud of",
    "worries about",
    "cannot stand",
    "is fond of",
    "dreams of",
    "is tired of",
    "is afraid of",
    "is curious about",
    "has mixed feelings about",
    "never speaks about",
    "is good at",
    "regrets",
];
const AMOUNT: &[&str] =
    &["twelve", "forty", "about a hundred", "three", "nearly two thousand", "seven", "half a dozen"];
const UNIT: &[&str] =
    &["euros", "kilometres", "pages", "milliseconds", "guests", "litres", "hours", "megabytes"];
const TEMPLATES: &[&str] = &[
    "{person} {feeling} {activity} {place}.",
    "{thing} {state} {reason}.",
    "{person} left {thing} {place} {time}.",
    "We agreed that {person} looks after {thing} {time}.",
    "For lunch {person} made {food} {reason}.",
    "{person} started {activity} {time}, {reason}.",
    "Remember that {thing} {place} {state}.",
    "{activity} takes {amount} {unit} {time}.",
    "{person} asked whether {thing} {state}.",
    "The recipe for {food} comes from {person}, who found it {place}.",
    "{person} paid {amount} {unit} for {thing} {time}.",
    "Nobody knew that {person} {feeling} {food}.",
    "If {thing} {state}, call {person} first.",
    "{person} will meet us {place} {time} to talk about {activity}.",
    "I prefer {food} over {food} {reason}.",
    "There were {amount} {unit} of {food} left {place}.",
    "{person} and {person} spent the afternoon {activity}.",
    "The decision about {thing} was put off {reason}.",
    "{place}, {time}, {person} saw {thing}.",
    "My goal is {activity} {place}, and {person} helps me with it.",
];

/// Returns this many different sentences.
pub(crate) fn made(count: usize) -> Vec<String> {
    let mut random = Rng::with_seed(11);
    let mut seen = HashSet::new();
    let mut sentences = Vec::with_capacity(count);
    while sentences.len() < count {
        let sentence = one(&mut random);
        if seen.insert(sentence.clone()) {
            sentences.push(sentence);
        }
    }
    sentences
}

fn one(random: &mut Rng) -> String {
    let mut left = random.choice(TEMPLATES).copied().unwrap_or_default();
    let mut sentence = String::new();
    while let Some((before, rest)) = left.split_once('{') {
        sentence.push_str(before);
        let (slot, after) = rest.split_once('}').unwrap_or((rest, ""));
        sentence.push_str(random.choice(words_for(slot)).copied().unwrap_or_default());
        left = after;
    }
    sentence.push_str(left);
    let first = sentence[..1].to_uppercase();
    sentence.replace_range(..1, &first);
    sentence
}

fn words_for(slot: &str) -> &'static [&'static str] {
    match slot {
        "person" => PERSON,
        "place" => PLACE,
        "time" => TIME,
        "thing" => THING,
        "food" => FOOD,
        "activity" => ACTIVITY,
        "reason" => REASON,
        "state" => STATE,
        "feeling" => FEELING,
        "amount" => AMOUNT,
        _ => UNIT,
    }
}

//! Conditions of the command line, such as `type=fact`, with the words and the parsers of `tulving list`.

use std::str::FromStr;

use tulving_core::model::preview::short;
use tulving_core::model::request::Filter;
use tulving_core::model::time::{Timestamp, Zone};
use tulving_core::model::vocabulary::UnknownWord;
use tulving_core::ports::{Clock as _, SystemClock};
use tulving_text::when::TimeInput;

use crate::failure::Failure;
use crate::nearest::nearest;

/// A condition on memories.
struct FilterKey {
    name: &'static str,
    put: fn(&mut Filter, &str, &Zone) -> Result<(), Failure>,
}

/// All conditions except the [exact](Filter::exact) conditions. A list condition may be repeated and matches any of its
/// values, except that all tags must match.
const KEYS: [FilterKey; 13] = [
    FilterKey { name: "type", put: |filter, value, _| add(&mut filter.types, value) },
    FilterKey { name: "kind", put: |filter, value, _| add(&mut filter.kinds, value) },
    FilterKey { name: "stability", put: |filter, value, _| add(&mut filter.stabilities, value) },
    FilterKey { name: "state", put: |filter, value, _| add(&mut filter.states, value) },
    FilterKey {
        name: "tag",
        put: |filter, value, _| {
            filter.tags.push(value.to_owned());
            Ok(())
        },
    },
    FilterKey { name: "content-type", put: |filter, value, _| add(&mut filter.content_types, value) },
    FilterKey {
        name: "source-path",
        put: |filter, value, _| set("source-path", &mut filter.source_path, Ok(value.to_owned())),
    },
    FilterKey {
        name: "author",
        put: |filter, value, _| set("author", &mut filter.author, Ok(value.parse()?)),
    },
    FilterKey { name: "pinned", put: |filter, value, _| set("pinned", &mut filter.pinned, truth(value)) },
    FilterKey { name: "done", put: |filter, value, _| set("done", &mut filter.done, truth(value)) },
    FilterKey {
        name: "since",
        put: |filter, value, zone| set("since", &mut filter.since, moment(value, zone)),
    },
    FilterKey {
        name: "until",
        put: |filter, value, zone| set("until", &mut filter.until, moment(value, zone)),
    },
    FilterKey {
        name: "contains",
        put: |filter, value, _| set("contains", &mut filter.substring, Ok(value.to_owned())),
    },
];

/// Returns the filter that combines all these conditions, each written as `KEY=VALUE`.
pub(crate) fn filter(conditions: &[String], zone: &Zone) -> Result<Filter, Failure> {
    let mut filter = Filter::default();
    for condition in conditions {
        let Some((name, value)) = condition.split_once('=') else {
            let failure = Failure::usage(format!("`{}` is not a condition", short(condition)));
            return Err(failure.hinted("write KEY=VALUE, such as type=fact"));
        };
        let name = name.trim();
        // A text is searched for exactly as written.
        let value = if name == "contains" { value } else { value.trim() };
        if !names().contains(&name) {
            return Err(unknown(name));
        }
        if value.is_empty() {
            return Err(Failure::usage(format!("the condition `{name}` has no value")));
        }
        match KEYS.iter().find(|key| key.name == name) {
            Some(key) => (key.put)(&mut filter, value, zone)?,
            None => {
                let mut exact = filter.exact_mut().into_iter();
                let place = exact.find(|(field, _)| flag(field) == name).map(|(_, place)| place);
                set(name, place.expect("every name has a place"), Ok(value.to_owned()))?;
            }
        }
    }
    Ok(filter)
}

/// Returns the name of an exact condition.
fn flag(field: &'static str) -> &'static str {
    if field == "source_agent" { "agent" } else { field }
}

/// Returns the names of all conditions.
fn names() -> Vec<&'static str> {
    let exact = Filter::default().exact().map(|(field, _)| flag(field));
    KEYS.iter().map(|key| key.name).chain(exact).collect()
}

fn add<T: FromStr<Err = UnknownWord>>(values: &mut Vec<T>, value: &str) -> Result<(), Failure> {
    values.push(value.parse()?);
    Ok(())
}

/// Sets a condition that may be given only once.
fn set<T>(name: &str, place: &mut Option<T>, value: Result<T, Failure>) -> Result<(), Failure> {
    if place.replace(value?).is_some() {
        return Err(Failure::usage(format!("the condition `{name}` can be given only once")));
    }
    Ok(())
}

fn moment(value: &str, zone: &Zone) -> Result<Timestamp, Failure> {
    Ok(value.parse::<TimeInput>()?.instant(zone, SystemClock.now()))
}

fn truth(value: &str) -> Result<bool, Failure> {
    value.parse().map_err(|_| {
        Failure::usage(format!("`{}` is neither true nor false", short(value))).hinted("write pinned=true")
    })
}

fn unknown(name: &str) -> Failure {
    let failure = Failure::usage(format!("there is no condition `{}`", short(name)));
    if matches!(name, "space" | "all-spaces") {
        return failure.hinted("a condition applies within one space; choose the space with --space");
    }
    match nearest(name, names().into_iter()) {
        Some(meant) => failure.hinted(format!("did you mean `{meant}`?")),
        None => failure.hinted(format!("it is one of {}", names().join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tulving_core::model::vocabulary::{Author, MemoryType, State};

    fn read(conditions: &[&str]) -> Result<Filter, Failure> {
        let conditions = conditions.iter().map(|condition| (*condition).to_owned()).collect::<Vec<_>>();
        filter(&conditions, &Zone::default())
    }

    fn refused(conditions: &[&str]) -> (String, Option<String>) {
        let failure = read(conditions).expect_err("it is wrong");
        (failure.message(), failure.hint())
    }

    #[test]
    fn every_key_says_something_of_its_own() {
        for name in names() {
            let values = ["fact", "semantic", "stable", "active", "text", "user", "true", "2026-05-27"];
            let read = values.iter().find_map(|value| read(&[&format!("{name}={value}")]).ok());
            assert!(read.is_some_and(|filter| !filter.is_empty()), "{name}");
        }
    }

    #[test]
    fn conditions_come_together() {
        let filter = read(&[
            "type=fact",
            "type = decision ",
            "tag=a=b",
            "tag=c",
            "state=archived",
            "author=auto",
            "pinned=false",
            "contains= two words ",
            "since=2026-05-27",
        ])
        .expect("good");
        assert_eq!(filter.types, [MemoryType::Fact, MemoryType::Decision]);
        assert_eq!(filter.tags, ["a=b", "c"]);
        assert_eq!(filter.states, [State::Archived]);
        assert_eq!((filter.author, filter.pinned), (Some(Author::Auto), Some(false)));
        assert_eq!(filter.substring.as_deref(), Some(" two words "));
        assert!(filter.since.is_some() && filter.until.is_none());
    }

    #[test]
    fn what_is_wrong_is_named_with_what_was_meant() {
        let (message, hint) = refused(&["tags=old"]);
        assert_eq!(message, "there is no condition `tags`");
        assert_eq!(hint.as_deref(), Some("did you mean `tag`?"));
        assert!(refused(&["colour=red"]).1.is_some_and(|hint| hint.starts_with("it is one of type, kind")));
        assert_eq!(refused(&["type"]).0, "`type` is not a condition");
        assert_eq!(refused(&["tag="]).0, "the condition `tag` has no value");
        assert!(refused(&["type=facts"]).0.starts_with("`facts` is not a type"));
        assert_eq!(refused(&["since=soon"]).0, "`soon` is not a time");
        assert_eq!(refused(&["pinned=maybe"]).0, "`maybe` is neither true nor false");
        assert!(refused(&["key=a", "key=b"]).0.contains("only once"));
        assert!(refused(&["space=team"]).1.is_some_and(|hint| hint.contains("--space")));
    }
}

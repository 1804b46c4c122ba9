//! Command-line values that several commands use: references, times, counts, and the flags that describe or select memories.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use tulving_core::model::error::{Field, Invalid};
use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::{Filter, SaveRequest, UpdateRequest, happened};
use tulving_core::model::time::{Timestamp, Zone};
use tulving_core::model::vocabulary::{
    Author, Boundary, ContentType, Fusion, Kind, MemoryType, Sort, Stability,
};
use tulving_core::ports::{Clock as _, SystemClock};
use tulving_dialects::{Dialect, UnknownDialectError};
use tulving_text::when::TimeInput;

use crate::failure::Failure;

/// A parser for one of the closed word lists. It also lists the words in help and completions.
macro_rules! word {
    ($list:ty) => {
        clap::builder::TypedValueParser::try_map(
            clap::builder::PossibleValuesParser::new(<$list>::WORDS),
            |word| word.parse::<$list>(),
        )
    };
}
pub(crate) use word;

/// A parser for a sort order. `recent` is another word for `newest`, and `most-accessed` for `most_accessed`.
pub(crate) fn order() -> impl TypedValueParser<Value = Sort> {
    let values = Sort::ALL.iter().map(|sort| {
        let value = PossibleValue::new(sort.as_str());
        match sort {
            Sort::Newest => value.alias("recent"),
            Sort::MostAccessed => value.alias("most-accessed"),
            _ => value,
        }
    });
    PossibleValuesParser::new(values).try_map(|word| match word.as_str() {
        "recent" => Ok(Sort::Newest),
        "most-accessed" => Ok(Sort::MostAccessed),
        word => word.parse(),
    })
}

/// A parser for a way to fuse lanes. `ranks` is an older word for `rrf`.
pub(crate) fn fusion() -> impl TypedValueParser<Value = Fusion> {
    let values = Fusion::ALL.iter().map(|fusion| {
        let value = PossibleValue::new(fusion.as_str());
        if *fusion == Fusion::Ranks { value.alias("ranks") } else { value }
    });
    PossibleValuesParser::new(values)
        .try_map(|word| if word == "ranks" { Ok(Fusion::Ranks) } else { word.parse() })
}

/// Parses references to memories. A command parses all references before it changes the first memory.
pub(crate) fn references(names: &[String]) -> Result<Vec<MemoryRef>, Failure> {
    names.iter().map(|name| reference(name)).collect()
}

/// Parses one reference to a memory.
pub(crate) fn reference(name: &str) -> Result<MemoryRef, Failure> {
    Ok(name.parse::<MemoryRef>()?)
}

/// Parses the name of a dialect.
pub(crate) fn dialect(name: &str) -> Result<Dialect, Failure> {
    name.parse().map_err(|error: UnknownDialectError| Failure::usage(error.to_string()))
}

/// Parses a time, if one was given.
pub(crate) fn time(text: Option<&String>) -> Result<Option<Timestamp>, Failure> {
    Ok(text.map(|text| Timestamp::from_str(text)).transpose()?)
}

/// Parses a time as people write it, if one was given. A date without a time, `today` and `yesterday` are days of this zone.
pub(crate) fn moment(text: Option<&String>, zone: &Zone) -> Result<Option<Timestamp>, Failure> {
    Ok(input(text)?.map(|input| input.instant(zone, SystemClock.now())))
}

fn input(text: Option<&String>) -> Result<Option<TimeInput>, Failure> {
    Ok(text.map(|text| TimeInput::from_str(text)).transpose()?)
}

/// Parses a whole number of the command line. The engine checks its range.
pub(crate) fn whole_number(text: &str) -> Result<i64, String> {
    text.parse().map_err(|_| "it is not a whole number".to_owned())
}

/// Parses a number of the command line. The engine checks its range.
pub(crate) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it is not a number".to_owned())
}

/// Checks a count from 1 to `most`.
pub(crate) fn count(field: Field, got: i64, most: usize) -> Result<usize, Failure> {
    count_within(field, got, 1, most)
}

/// Checks a count from `least` to `most`.
pub(crate) fn count_within(field: Field, got: i64, least: usize, most: usize) -> Result<usize, Failure> {
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let (least, most) = (number(least), number(most));
    usize::try_from(got)
        .ok()
        .filter(|_| (least..=most).contains(&got))
        .ok_or_else(|| Invalid::OutsideRange { field, got, least, most }.into())
}

/// Flags for the fields of a memory, which a save gives and an update changes.
#[derive(Debug, Args)]
#[command(next_help_heading = "What it is")]
pub(crate) struct FieldArgs {
    /// The type [default of a new memory: fact]
    #[arg(long = "type", value_name = "TYPE", value_parser = word!(MemoryType))]
    memory_type: Option<MemoryType>,
    /// The kind [default of a new memory: from the type]
    #[arg(long, value_parser = word!(Kind))]
    kind: Option<Kind>,
    /// The stability: how soon it goes stale [default of a new memory: from the type]
    #[arg(long, value_parser = word!(Stability))]
    stability: Option<Stability>,
    /// The importance, 0 to 1 [default of a new memory: from the type]
    #[arg(long, value_name = "NUMBER", value_parser = number, allow_negative_numbers = true)]
    importance: Option<f64>,
    /// A label; may be repeated. An update replaces all labels
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// A unique name: saving under the same key updates the memory
    #[arg(long)]
    key: Option<String>,
    /// The title
    #[arg(long)]
    title: Option<String>,
    /// The summary
    #[arg(long)]
    summary: Option<String>,
    /// The form of the content [default of a new memory: detected]
    #[arg(long, value_name = "FORM", value_parser = word!(ContentType))]
    content_type: Option<ContentType>,
    /// The language of code, such as rust
    #[arg(long, value_name = "NAME")]
    language: Option<String>,
    /// The project that it is about, such as the name of a repository
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// The boundary: who may see it [default of a new memory: private in `default`, hub elsewhere]
    #[arg(long, value_parser = word!(Boundary))]
    boundary: Option<Boundary>,
}

/// A field that an update may clear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClearableField {
    Key,
    Title,
    Summary,
    Tags,
    Language,
    Project,
    SourceNote,
    OccurredAt,
    ValidFrom,
    ValidUntil,
    ExpiresAt,
}

/// Returns the change of a field that may be empty: set, cleared, or left as it is.
pub(crate) fn change<T>(
    clear: &[ClearableField],
    field: ClearableField,
    given: Option<T>,
) -> Result<Option<Option<T>>, Failure> {
    match (given, clear.contains(&field)) {
        (Some(_), true) => {
            let name = field.to_possible_value().map(|value| value.get_name().to_owned());
            Err(Failure::usage(format!("{} is both given and cleared", name.unwrap_or_default())))
        }
        (Some(value), false) => Ok(Some(Some(value))),
        (None, true) => Ok(Some(None)),
        (None, false) => Ok(None),
    }
}

impl FieldArgs {
    /// Returns the labels, if any were given.
    fn labels(&self) -> Option<Vec<String>> {
        (!self.tags.is_empty()).then(|| self.tags.clone())
    }

    /// Returns the request to save a content with these fields.
    pub(crate) fn request(&self, content: String) -> SaveRequest {
        SaveRequest {
            content,
            content_type: self.content_type,
            language: self.language.clone(),
            project: self.project.clone(),
            key: self.key.clone(),
            title: self.title.clone(),
            summary: self.summary.clone(),
            tags: self.labels(),
            memory_type: self.memory_type,
            kind: self.kind,
            stability: self.stability,
            importance: self.importance,
            boundary: self.boundary,
            ..SaveRequest::default()
        }
    }

    /// Returns the edit that sets these fields and clears others.
    pub(crate) fn edit(&self, clear: &[ClearableField]) -> Result<UpdateRequest, Failure> {
        Ok(UpdateRequest {
            content_type: self.content_type,
            language: change(clear, ClearableField::Language, self.language.clone())?,
            project: change(clear, ClearableField::Project, self.project.clone())?,
            key: change(clear, ClearableField::Key, self.key.clone())?,
            title: change(clear, ClearableField::Title, self.title.clone())?,
            summary: change(clear, ClearableField::Summary, self.summary.clone())?,
            tags: change(clear, ClearableField::Tags, self.labels())?.map(Option::unwrap_or_default),
            memory_type: self.memory_type,
            kind: self.kind,
            stability: self.stability,
            importance: self.importance,
            boundary: self.boundary,
            ..UpdateRequest::default()
        })
    }
}

/// Flags that choose among memories.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which memories")]
pub(crate) struct FilterArgs {
    /// Of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = word!(MemoryType), hide_possible_values = true)]
    types: Vec<MemoryType>,
    /// Of this kind; may be repeated
    #[arg(long = "kind", value_name = "KIND", value_parser = word!(Kind), hide_possible_values = true)]
    kinds: Vec<Kind>,
    /// Of this stability; may be repeated
    #[arg(long = "stability", value_name = "STABILITY", value_parser = word!(Stability), hide_possible_values = true)]
    stabilities: Vec<Stability>,
    /// Of this form; may be repeated
    #[arg(long = "content-type", value_name = "FORM", value_parser = word!(ContentType), hide_possible_values = true)]
    content_types: Vec<ContentType>,
    /// With this tag; if repeated, with all of these tags
    #[arg(long = "tag", value_name = "TAG")]
    tags: Vec<String>,
    /// With exactly this key
    #[arg(long)]
    key: Option<String>,
    /// From this file
    #[arg(long, value_name = "PATH")]
    source_path: Option<String>,
    /// About this project
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// From this conversation
    #[arg(long, value_name = "NAME")]
    conversation: Option<String>,
    /// By this author: user or auto
    #[arg(long, value_parser = word!(Author), hide_possible_values = true)]
    author: Option<Author>,
    /// Saved by this agent
    #[arg(long, value_name = "NAME")]
    by_agent: Option<String>,
    /// Pinned ones only
    #[arg(long)]
    pinned: bool,
    /// Todos and goals that are not done
    #[arg(long, conflicts_with = "done")]
    open: bool,
    /// Todos and goals that are done
    #[arg(long)]
    done: bool,
    /// Saved at or after this time: 2026-05-27, 2026-05-27T09:30:00Z, yesterday or "last week"
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Saved before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Happened at or after this time; memories without a time of their own happened when they were saved
    #[arg(long, value_name = "TIME")]
    happened_since: Option<String>,
    /// Happened before this time
    #[arg(long, value_name = "TIME")]
    happened_until: Option<String>,
    /// In every space that you may see
    #[arg(long, conflicts_with = "space")]
    pub(crate) all_spaces: bool,
}

impl FilterArgs {
    /// Returns the filter of these flags. The caller still has to set the space.
    pub(crate) fn filter(&self, zone: &Zone) -> Result<Filter, Failure> {
        Ok(Filter {
            types: self.types.clone(),
            kinds: self.kinds.clone(),
            stabilities: self.stabilities.clone(),
            content_types: self.content_types.clone(),
            tags: self.tags.clone(),
            key: self.key.clone(),
            source_path: self.source_path.clone(),
            project: self.project.clone(),
            conversation: self.conversation.clone(),
            author: self.author,
            source_agent: self.by_agent.clone(),
            pinned: self.pinned.then_some(true),
            done: (self.open || self.done).then_some(self.done),
            since: moment(self.since.as_ref(), zone)?,
            until: moment(self.until.as_ref(), zone)?,
            timed: happened(
                input(self.happened_since.as_ref())?.as_ref(),
                input(self.happened_until.as_ref())?.as_ref(),
                zone,
                SystemClock.now(),
            )
            .into_iter()
            .collect(),
            ..Filter::default()
        })
    }

    /// True if a type was given.
    pub(crate) fn has_types(&self) -> bool {
        !self.types.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_bounds() {
        assert_eq!(count(Field::Limit, 5, 10).expect("within"), 5);
        let error = count(Field::Limit, -5, 10).expect_err("negative");
        assert_eq!(error.message(), "the limit is -5 and must be between 1 and 10");
    }
}

//! The known name that is most like what was written, where one is like it at all.

/// How alike two names must be for the one to be meant by the other: slips of the hand reach it, other words do not.
const ALIKE: f64 = 0.9;

/// A name that is whole within the other is surely meant, and yields only to the name itself but for a slip.
const WITHIN: f64 = 0.95;

/// The known name that `got` is most like; `None` where that would be far-fetched.
pub(crate) fn nearest<'a>(got: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let got = plain(got);
    let rated = known.map(|name| (likeness(&got, &plain(name)), name));
    let best = rated.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(likeness, _)| *likeness >= ALIKE).map(|(_, name)| name)
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

fn likeness(got: &str, name: &str) -> f64 {
    let within = is_end(got, name) || is_start(got, name) || is_start(name, got);
    let last = |text: &str| text.rsplit('.').next().unwrap_or_default().to_owned();
    // `content_byte` is meant for `limits.content_bytes`.
    let last_parts = strsim::jaro_winkler(&last(got), &last(name)).min(WITHIN);
    strsim::jaro_winkler(got, name).max(last_parts).max(if within { WITHIN } else { 0.0 })
}

/// Whether `short` is the end of `long`, from the beginning of a word on.
fn is_end(short: &str, long: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.ends_with(['.', '_']))
}

/// Whether `short` is a good part of `long`, from its beginning on.
fn is_start(short: &str, long: &str) -> bool {
    short.len() >= 3 && long.starts_with(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_met_and_other_words_are_not() {
        let known = ["space", "agent", "limits.content_bytes", "store.readers", "output.color", "pinned"];
        for (got, meant) in [
            ("limit.content_bytes", Some("limits.content_bytes")),
            ("content_bytes", Some("limits.content_bytes")),
            ("limits.content_byte", Some("limits.content_bytes")),
            ("colour", Some("output.color")),
            ("COLOR", Some("output.color")),
            ("spaces", Some("space")),
            ("agent.name", Some("agent")),
            ("pin", Some("pinned")),
            ("server.port", None),
            ("sever", None),
            ("x", None),
        ] {
            assert_eq!(nearest(got, known.into_iter()), meant, "{got}");
        }
    }
}

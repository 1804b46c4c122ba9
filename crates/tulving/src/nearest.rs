//! Finds the known name that is most similar to what was written, if any is similar enough.

/// Minimum similarity at which one name is probably a misspelling of the other. Typos reach this value; different words do
/// not.
const ALIKE: f64 = 0.9;

/// Similarity of two names if one contains the other completely. Only a typo of the whole name ranks higher.
const WITHIN: f64 = 0.95;

/// Returns the known name that is most similar to `got`; `None` if none is similar enough.
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
    // `content_byte` is meant to match `limits.content_bytes`.
    let last_parts = strsim::jaro_winkler(&last(got), &last(name)).min(WITHIN);
    strsim::jaro_winkler(got, name).max(last_parts).max(if within { WITHIN } else { 0.0 })
}

/// True if `short` is the end of `long`, starting at a word.
fn is_end(short: &str, long: &str) -> bool {
    long.strip_suffix(short).is_some_and(|rest| rest.ends_with(['.', '_']))
}

/// True if `long` begins with `short`, and `short` has at least three bytes.
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

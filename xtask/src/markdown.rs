//! Markdown as the checks of the documents see it: prose and code spans, without fenced blocks.

/// The lines outside of fenced blocks, with their numbers.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// The texts between single backticks, with their lines.
pub(crate) fn spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |span| (number, span)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fenced_blocks_are_no_prose() {
        let text = "a `b`\n```sh\n`c`\n```\n`d` and `e`";
        assert_eq!(prose(text).collect::<Vec<_>>(), [(1, "a `b`"), (5, "`d` and `e`")]);
        assert_eq!(spans(text).collect::<Vec<_>>(), [(1, "b"), (5, "d"), (5, "e")]);
    }
}

//! Reads the lines of a stream, with a limit on the length of a line.
//!
//! Memory use is limited for any input: from a line that is too long, only the message id is read, and the rest is
//! discarded.

use std::io::{self, BufRead, BufReader, Read};

use rmcp::model::RequestId;

use super::message::id_in;

/// In a line that is too long, the id is searched for within this multiple of the line limit.
const LOOKED_AT: u64 = 8;

/// A line of input.
#[derive(Debug, PartialEq)]
pub(super) enum InputLine {
    /// A whole line, without its line break.
    Whole(Vec<u8>),
    /// A line longer than the limit, with its message id if the id was found.
    TooLong(Option<RequestId>),
}

/// The lines of a stream. The last may have no line break.
pub(super) struct MessageLines<R> {
    input: R,
    limit: usize,
}

impl<R: BufRead> MessageLines<R> {
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input, limit }
    }

    /// Returns the next line that is not blank.
    fn read(&mut self) -> io::Result<Option<InputLine>> {
        loop {
            let mut line = Vec::new();
            let room = self.limit as u64 + 1;
            if self.input.by_ref().take(room).read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            if line.pop_if(|byte| *byte == b'\n').is_none() && line.len() > self.limit {
                return self.read_away(&line).map(Some);
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Some(InputLine::Whole(line)));
            }
        }
    }

    /// Reads and discards the rest of a line that begins with `begun`.
    fn read_away(&mut self, begun: &[u8]) -> io::Result<InputLine> {
        let mut rest = LineRemainder { input: &mut self.input, ended: false };
        let looked_at = begun.chain(rest.by_ref().take(LOOKED_AT.saturating_mul(self.limit as u64)));
        let id = id_in(BufReader::new(looked_at));
        io::copy(&mut rest, &mut io::sink())?;
        Ok(InputLine::TooLong(id))
    }
}

impl<R: BufRead> Iterator for MessageLines<R> {
    type Item = io::Result<InputLine>;

    fn next(&mut self) -> Option<io::Result<InputLine>> {
        self.read().transpose()
    }
}

/// A reader of the rest of a line.
struct LineRemainder<'a, R> {
    input: &'a mut R,
    ended: bool,
}

impl<R: BufRead> Read for LineRemainder<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.ended || into.is_empty() {
            return Ok(0);
        }
        let there = self.input.fill_buf()?;
        let there = &there[..there.len().min(into.len())];
        let end = there.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(there.len());
        into[..taken].copy_from_slice(&there[..taken]);
        self.ended = end.is_some() || there.is_empty();
        self.input.consume(taken + usize::from(end.is_some()));
        Ok(taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reader for tests: each read returns as many bytes as the next number states, or an interruption.
    struct SplitReader<'a> {
        bytes: &'a [u8],
        sizes: std::iter::Cycle<std::vec::IntoIter<usize>>,
    }

    impl Read for SplitReader<'_> {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.sizes.next().unwrap_or(1) {
                0 => Err(io::ErrorKind::Interrupted.into()),
                size => (&mut self.bytes).take(size as u64).read(into),
            }
        }
    }

    fn split(bytes: &[u8], limit: usize, mut sizes: Vec<usize>) -> Vec<InputLine> {
        sizes.push(3);
        let input = SplitReader { bytes, sizes: sizes.into_iter().cycle() };
        MessageLines::new(BufReader::with_capacity(5, input), limit)
            .map(|line| line.expect("it reads"))
            .collect()
    }

    fn whole(text: &str) -> InputLine {
        InputLine::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn blank_lines_are_none_and_the_last_needs_no_end() {
        assert_eq!(split(b"\n a\n\r\n  \t\nb\r\nc", 9, vec![]), [whole(" a"), whole("b\r"), whole("c")]);
        assert_eq!(split(b"", 9, vec![]), []);
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        let lines = split(b"12345\n123456\n12345", 5, vec![1]);
        assert_eq!(lines, [whole("12345"), InputLine::TooLong(None), whole("12345")]);
        assert_eq!(split(b"123456", 5, vec![2]), [InputLine::TooLong(None)]);
    }

    #[test]
    fn the_id_of_a_long_line_is_seen_before_and_after_what_makes_it_long() {
        let long = "x".repeat(100);
        for text in
            [format!(r#"{{"id":7,"p":"{long}"}}"#), format!(r#"{{"p":{{"id":1,"q":"{long}"}},"id":7}}"#)]
        {
            let lines = split(format!("{text}\nnext").as_bytes(), 40, vec![2, 0, 9]);
            assert_eq!(lines, [InputLine::TooLong(Some(RequestId::Number(7))), whole("next")]);
        }
        let far = format!(r#"{{"p":"{}","id":7}}"#, "x".repeat(400));
        assert_eq!(
            split(far.as_bytes(), 40, vec![]),
            [InputLine::TooLong(None)],
            "it is not looked for for ever"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_parts_are_the_lines_that_they_are(
            bytes in prop::collection::vec(prop_oneof![3 => Just(b'\n'), 2 => Just(b' '), 9 => any::<u8>()], 0..200),
            sizes in prop::collection::vec(0usize..9, 0..9),
            limit in 1usize..20,
        ) {
            let expected: Vec<InputLine> = bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| line.len() > limit || !line.trim_ascii().is_empty())
                .map(|line| if line.len() > limit { InputLine::TooLong(id_in(line)) } else { InputLine::Whole(line.to_vec()) })
                .collect();
            prop_assert_eq!(split(&bytes, limit, sizes), expected);
        }
    }
}

//! Rust source as the checks see it: the code without comments and literals, and the paths that it
//! names.
//!
//! A scan of the text, not a parse: it knows just enough of the language to never mistake a word in
//! a comment or a string for code. Every function keeps the line numbers of its input.

/// The code of `text`, with comments, strings and characters replaced by blanks.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = None;
    while let Some(first) = rest.chars().next() {
        let silent = silent_prefix(rest, before);
        let taken = if silent == 0 { first.len_utf8() } else { silent };
        let (head, tail) = rest.split_at(taken);
        if silent == 0 {
            code.push(first);
        } else {
            push_blank(&mut code, head);
        }
        before = head.chars().next_back();
        rest = tail;
    }
    code
}

/// The marks of code that is only for tests, on any platform or on some.
const TEST_MARKS: [&str; 2] = ["#[cfg(test)]", "#[cfg(all(test,"];

/// The offset of the first mark of tests in `code`.
fn find_test(code: &str) -> Option<usize> {
    TEST_MARKS.iter().filter_map(|mark| code.find(mark)).min()
}

/// The names of the modules in other files that `code` (see [`code_only`]) declares for tests: `#[cfg(test)] mod tests;`.
pub(crate) fn test_modules(code: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = code;
    while let Some(start) = find_test(rest) {
        let (item, after) = rest[start..].split_at(item_length(&rest[start..]));
        let declared = item.strip_suffix(';').and_then(|item| item.rsplit_once("mod "));
        names.extend(declared.map(|(_, name)| name.trim()).filter(|name| name.chars().all(is_word)));
        rest = after;
    }
    names
}

/// `code` (see [`code_only`]) without the items that are only for tests: tests may use anything.
pub(crate) fn shipped_only(code: &str) -> String {
    let mut shipped = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = find_test(rest) {
        let (head, tail) = rest.split_at(start);
        shipped.push_str(head);
        let end = item_length(tail);
        let (tests, after) = tail.split_at(end);
        push_blank(&mut shipped, tests);
        rest = after;
    }
    shipped.push_str(rest);
    shipped
}

/// A name that follows a path's root, and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PathName<'a> {
    pub(crate) name: &'a str,
    pub(crate) line: usize,
}

/// The first names under `root` in `code`. For the root `std`, `std::fs::File` gives `fs`, and `std::{fs, io::Read}`
/// gives `fs` and `io`. A glob gives the name `*`.
pub(crate) fn names_under<'a>(code: &'a str, root: &str) -> Vec<PathName<'a>> {
    let mut names = Vec::new();
    for start in words(code, root) {
        if is_inner_segment(code, start) {
            continue;
        }
        if let Some(after) = past_colons(code, start + root.len()) {
            gather(code, after, &mut names);
        }
    }
    names
}

/// The names after a path of at least `depth` times `super::`. If `depth` is the depth of the file's module, these are
/// names of the crate's root.
pub(crate) fn names_above(code: &str, depth: usize) -> Vec<PathName<'_>> {
    let mut names = Vec::new();
    for start in words(code, "super") {
        if is_inner_segment(code, start) {
            continue;
        }
        let mut at = start;
        let mut climbed = 0;
        while let Some(after) = starts_word(code, at, "super").and_then(|end| past_colons(code, end)) {
            climbed += 1;
            at = after;
        }
        if climbed >= depth && climbed > 0 {
            gather(code, at, &mut names);
        }
    }
    names
}

/// The names that the `use` declarations of `code` bring in, each with the first name of its path: `use a::{B, c::D as E}` gives
/// `a` for `B`, `c`, `D` and `E`.
pub(crate) fn re_exports(code: &str) -> Vec<(&str, &str)> {
    let mut names = Vec::new();
    for start in words(code, "use") {
        let path = code[start + "use".len()..].split(';').next().unwrap_or_default();
        let path = path.trim_start().trim_start_matches("self::").trim_start_matches("crate::");
        if let Some((module, rest)) = path.split_once("::") {
            let leaves = rest.split(|c| !is_word(c)).filter(|word| !["", "as", "self"].contains(word));
            names.extend(leaves.map(|name| (name, module.trim())));
        }
    }
    names
}

/// The lines that contain `word` as a whole identifier.
pub(crate) fn lines_with(code: &str, word: &str) -> Vec<usize> {
    words(code, word).map(|at| line_of(code, at)).collect()
}

/// Returns true if `code` (see [`code_only`]) has a test function of this name.
pub(crate) fn has_test(code: &str, name: &str) -> bool {
    words(code, name).any(|at| {
        let before = code[..at].trim_end();
        let Some(head) = before.strip_suffix("fn") else {
            return false;
        };
        let item = head.rfind(['{', '}', ';']).map_or(head, |end| &head[end..]);
        item.contains("#[test]") || item.contains("::test]") || item.contains("::test(")
    })
}

fn push_blank(code: &mut String, text: &str) {
    code.extend(text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
}

/// Number of bytes at the start of `rest` that are a comment or a literal.
fn silent_prefix(rest: &str, before: Option<char>) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if !before.is_some_and(is_word)
        && let Some(length) = raw_string(rest)
    {
        return length;
    }
    match rest.as_bytes().first() {
        Some(b'"') => quoted(rest),
        Some(b'\'') => character(rest),
        _ => 0,
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        let here = &rest.as_bytes()[at..];
        if here.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if here.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let body =
        rest.strip_prefix("br").or_else(|| rest.strip_prefix("cr")).or_else(|| rest.strip_prefix('r'))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let text = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", &body[..hashes]);
    let opening = rest.len() - text.len();
    Some(text.find(&close).map_or(rest.len(), |end| opening + end + close.len()))
}

fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character literal; a lifetime is not one.
fn character(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((escape, c))) => {
            let after = escape + c.len_utf8();
            rest[after..].find('\'').map_or(rest.len(), |end| after + end + 1)
        }
        (Some((_, c)), Some((close, '\''))) if c != '\'' => close + 1,
        _ => 0,
    }
}

/// The length of the item at the start of `code`: up to its semicolon, or to the end of its braces.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b';' if depth == 0 => return at + 1,
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

pub(crate) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The positions of `word` in `code` as a whole identifier.
fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !code[..at].chars().next_back().is_some_and(is_word) && starts_word(code, at, word).is_some()
    })
}

/// The end of `word` if it is a whole identifier at `at`.
fn starts_word(code: &str, at: usize, word: &str) -> Option<usize> {
    let after = code.get(at..)?.strip_prefix(word)?;
    (!after.chars().next().is_some_and(is_word)).then_some(at + word.len())
}

/// Returns true if the word at `at` follows `name::` and so is not the root of its path.
fn is_inner_segment(code: &str, at: usize) -> bool {
    // No blank before the colons: the `std` of `use ::std` is a root.
    let before = code[..at].strip_suffix("::");
    before.is_some_and(|path| path.chars().next_back().is_some_and(is_word))
}

/// The offset after `::` and the blanks around it, if they are at `at`.
fn past_colons(code: &str, at: usize) -> Option<usize> {
    let after = code[at..].trim_start().strip_prefix("::")?.trim_start();
    Some(code.len() - after.len())
}

/// Adds the name at `at`, or the first names of each part of the braces there.
fn gather<'a>(code: &'a str, at: usize, names: &mut Vec<PathName<'a>>) {
    if !code[at..].starts_with('{') {
        names.extend(name_at(code, at));
        return;
    }
    let mut depth = 0_usize;
    for (offset, byte) in code[at..].bytes().enumerate() {
        let opens_part = match byte {
            b'{' => {
                depth += 1;
                depth == 1
            }
            b',' => depth == 1,
            b'}' if depth == 1 => return,
            b'}' => {
                depth -= 1;
                false
            }
            _ => false,
        };
        if opens_part {
            let rest = code[at + offset + 1..].trim_start();
            names.extend(name_at(code, code.len() - rest.len()));
        }
    }
}

fn name_at(code: &str, at: usize) -> Option<PathName<'_>> {
    let rest = &code[at..];
    let length = match rest.find(|c| !is_word(c)) {
        Some(0) if rest.starts_with('*') => 1,
        Some(0) => return None,
        Some(end) => end,
        None => rest.len(),
    };
    Some(PathName { name: &rest[..length], line: line_of(code, at) })
}

/// The line of the offset `at`, counted from 1.
pub(crate) fn line_of(code: &str, at: usize) -> usize {
    code[..at].matches('\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn under<'a>(code: &'a str, root: &str) -> Vec<&'a str> {
        names_under(code, root).into_iter().map(|named| named.name).collect()
    }

    /// The words of the code, and a check that nothing moved.
    fn kept(text: &str) -> Vec<String> {
        let code = code_only(text);
        assert_eq!(code.chars().count(), text.chars().count());
        assert_eq!(code.lines().count(), text.lines().count());
        code.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn comments_become_blanks() {
        assert_eq!(kept("a // crate::x\nb"), ["a", "b"]);
        assert_eq!(kept("a /* b /* c */ d\n */ e"), ["a", "e"]);
    }

    #[test]
    fn strings_become_blanks() {
        assert_eq!(kept(r#"f( "a\"b" , x)"#), ["f(", ",", "x)"]);
        assert_eq!(kept("f( r#\"a\"b\"# , x)"), ["f(", ",", "x)"]);
        assert_eq!(kept("a \"open\nto the end"), ["a"]);
    }

    #[test]
    fn characters_become_blanks_and_lifetimes_stay() {
        assert_eq!(code_only("'\"' 'a' '\\'' '\\u{1F600}'").trim(), "");
        assert_eq!(code_only("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
    }

    #[test]
    fn raw_identifiers_stay() {
        assert_eq!(code_only("let r#type = bar;"), "let r#type = bar;");
    }

    #[test]
    fn lines_stay_where_they_were() {
        let code = code_only("\"a\nb\"\n/* c\n */ use crate::x;");
        assert_eq!(names_under(&code, "crate"), [PathName { name: "x", line: 4 }]);
    }

    #[test]
    fn finds_single_and_grouped_names() {
        assert_eq!(under("use crate::memory::Memory;", "crate"), ["memory"]);
        assert_eq!(
            under("use crate::{\n  text::{normalize, chunk},\n  rank,\n};", "crate"),
            ["text", "rank"]
        );
        assert_eq!(under("let x = crate::rank::fuse(crate::id::new());", "crate"), ["rank", "id"]);
        assert_eq!(under("use crate::*;", "crate"), ["*"]);
    }

    #[test]
    fn takes_no_other_word_for_the_root() {
        assert_eq!(under("pub(crate) fn f() {} use my_crate::x; use crates::y;", "crate"), [""; 0]);
        assert_eq!(under("use my::std::fs;", "std"), [""; 0]);
        assert_eq!(under("use ::std::fs;", "std"), ["fs"]);
    }

    #[test]
    fn super_counts_only_when_it_reaches_the_root() {
        let code = "use super::rank; use super::super::text;";
        let names = |depth| names_above(code, depth).into_iter().map(|n| n.name).collect::<Vec<_>>();
        assert_eq!(names(1), ["rank", "text"]);
        assert_eq!(names(2), ["text"]);
        assert_eq!(names(3), [""; 0]);
    }

    #[test]
    fn test_items_are_left_out() {
        let code = "use a;\n#[cfg(test)]\nmod tests { fn f() { x } }\n#[cfg(test)]\nuse b::{c};\nfn g() {}";
        let shipped = shipped_only(code);
        assert!(shipped.contains("use a;") && shipped.contains("fn g() {}"), "{shipped}");
        assert!(!shipped.contains("tests") && !shipped.contains('c'), "{shipped}");
        assert_eq!(shipped.lines().count(), code.lines().count());
    }

    #[test]
    fn names_are_brought_in_from_the_start_of_their_path() {
        let code = "pub use a::{\n    B, c::D as E,\n};\nuse self::f::G;\nfn user() {}";
        assert_eq!(re_exports(code), [("B", "a"), ("c", "a"), ("D", "a"), ("E", "a"), ("G", "f")]);
    }

    #[test]
    fn tests_of_one_platform_are_left_out() {
        let code = "use a;\n#[cfg(all(test, unix))]\nmod tests { x }\n#[cfg(test)]\nfn b() {}";
        assert_eq!(shipped_only(code).trim(), "use a;");
    }

    #[test]
    fn modules_of_tests_in_other_files_are_named() {
        let code = "mod a;\n#[cfg(test)]\nmod bed;\n#[cfg(test)]\n#[path = \"x\"]\npub(crate) mod fake;\n\
                    #[cfg(test)]\nmod tests { mod inner; }\n#[cfg(test)]\nuse b;";
        assert_eq!(test_modules(code), ["bed", "fake"]);
    }

    #[test]
    fn a_test_is_a_function_below_the_attribute() {
        let code = "fn helper() {}\n#[test]\nfn one() {}\n#[test]\n#[should_panic]\nfn two() {}";
        assert!(has_test(code, "one") && has_test(code, "two"));
        assert!(!has_test(code, "helper") && !has_test(code, "on") && !has_test(code, "three"));
    }

    #[test]
    fn a_property_is_a_test() {
        let code = "proptest! {\n  #![proptest_config(Config { cases: 3 })]\n  #[test]\n  fn inverts(a in 0..9) {}\n}";
        assert!(has_test(code, "inverts"));
    }
}

use proptest::prelude::*;

use super::super::{ContentForm, TextChunk, split};
use crate::vocabulary::ContentType;

/// Returns the heading path and the first line of each chunk. A line `…` in the text is replaced by statements that
/// fill most of a window. If text follows the `…`, the line is replaced by copies of that text.
fn cut(language: &str, statement: &str, sample: &str) -> Vec<String> {
    let filled = filled(statement, sample);
    let chunks = described(&filled, code(language));
    // Other kinds of line break must not change the result.
    let breaks = described(&filled.replace('\n', "\r\n"), code(language));
    assert_eq!(chunks, breaks, "{language}");
    chunks
}

fn code(language: &str) -> ContentForm<'_> {
    ContentForm { content_type: ContentType::Code, language: Some(language) }
}

fn filled(statement: &str, sample: &str) -> String {
    let fill = |line: &str| match line.split_once('…') {
        Some((indent, "")) => format!("{indent}{statement}\n").repeat(10),
        Some((indent, other)) => format!("{indent}{}\n", other.trim_start()).repeat(10),
        None => format!("{line}\n"),
    };
    sample.lines().map(fill).collect()
}

fn described(content: &str, form: ContentForm<'_>) -> Vec<String> {
    let chunks = split(content, form);
    let tell = |chunk: &TextChunk| {
        let first = content[chunk.start..chunk.end].lines().next().unwrap_or_default();
        format!("{} | {first}", chunk.heading_path.join(" > "))
    };
    chunks.iter().map(tell).collect()
}

#[test]
fn rust_is_cut_between_items_with_their_docs_and_attributes() {
    let sample = "\
//! What is kept.

use std::fmt;

/// Keeps things.
#[derive(Debug)]
pub struct Store<T> {
    things: Vec<T>,
}

impl<T: Clone> Store<T> {
    /// Opens it.
    #[must_use]
    pub(crate) fn open(path: &str) -> Self {
        …
    }

    // Not a doc comment, and still of what follows.
    async fn close(self) {
        …
    }
}

impl fmt::Display for Store<u8> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(\"store\")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens() {
        …
    }
}

macro_rules! kept {
    () => {
        …
    };
}
";
    let chunks = cut("rust", "self.weigh(apple, pear, 3);", sample);
    assert_eq!(
        chunks,
        [
            "struct Store | //! What is kept.",
            "impl Store<T> > fn open | impl<T: Clone> Store<T> {",
            "impl Store<T> > fn close | // Not a doc comment, and still of what follows.",
            "impl fmt::Display for Store<u8> | impl fmt::Display for Store<u8> {",
            "mod tests | #[cfg(test)]",
            "macro_rules! kept | macro_rules! kept {",
        ]
    );
}

#[test]
fn python_is_cut_between_definitions_with_their_decorators() {
    let sample = "\
import json

class Store(Base):
    \"\"\"Keeps things.\"\"\"

    limit = 3

    @property
    # Why it is so.
    def size(self):
        …

    async def close(self, now=None):
        …

@task(
    name=\"a\",
)
def run():
    …

if __name__ == \"__main__\":
    run()
";
    let chunks = cut("python", "self.weigh(apple, pear, 3)", sample);
    assert_eq!(
        chunks,
        [
            "class Store > def size | import json",
            "class Store > def close | async def close(self, now=None):",
            "def run | @task(",
        ]
    );
}

#[test]
fn javascript_is_cut_between_functions_however_they_are_written() {
    let sample = "\
'use strict'
import a from 'a'

export default class Shop extends Base {
  static #count = 0
  render() {
    …
  }
  onClick = async (event) => {
    …
  }
}

/** Adds. */
export const add = (cart, item) => {
  …
}

module.exports.remove = function (cart) {
  …
}

describe('a cart', () => {
  it('is empty', async () => {
    …
  })
  it('is full', () => {
    …
  })
})

const PRICES = {
  … apple: weigh(pear, 3),
}
";
    let chunks = cut("javascript", "weigh(apple, pear, plum, 3)", sample);
    assert_eq!(
        chunks,
        [
            "class Shop > render | 'use strict'",
            "class Shop > onClick | onClick = async (event) => {",
            "const add | /** Adds. */",
            "module.exports.remove | module.exports.remove = function (cart) {",
            "describe('a cart') > it('is empty') | describe('a cart', () => {",
            "describe('a cart') > it('is full') | it('is full', () => {",
            "const PRICES | const PRICES = {",
        ]
    );
}

#[test]
fn typescript_has_types_too() {
    let sample = "\
export interface Item {
  … weigh(apple: Pear, plum?: number): string;
}

export type Kind =
  … | Apple<Pear, 'plum', 3>
  | string;

declare namespace Shop {
  function open(path: string): Item {
    …
  }
  @Injectable()
  export abstract class Cart<T> {
    … private apple?: Pear<T, 3> = plum;
  }
}
";
    let chunks = cut("typescript", "weigh(apple, pear, plum, 3);", sample);
    assert!(chunks.contains(&"type Kind | export type Kind =".to_owned()), "{chunks:?}");
    assert!(
        chunks.contains(&"namespace Shop > function open | declare namespace Shop {".to_owned()),
        "{chunks:?}"
    );
    assert!(chunks.contains(&"namespace Shop > class Cart | @Injectable()".to_owned()), "{chunks:?}");
    let sample = "\
export function App({ items }: Props): JSX.Element {
  …
  return <List items={items}>{(item) => <b>{item}</b>}</List>
}

function Other() {
  …
  return null
}
";
    let chunks = cut("tsx", "const a: Apple = weigh(pear);", sample);
    let other = chunks.iter().position(|chunk| chunk == "function Other | function Other() {");
    assert!(
        other.is_some_and(|at| chunks[..at].iter().all(|chunk| chunk.starts_with("function App"))),
        "{chunks:?}"
    );
}

#[test]
fn go_names_the_receiver() {
    let sample = "\
package shop

import \"fmt\"

// Cart keeps items.
type Cart struct {
	… apple map[string]Pear
}

// Add adds.
func (c *Cart) Add(item Item) error {
	…
}

func main() {
	…
}
";
    let chunks = cut("go", "fmt.Println(apple, pear, 3)", sample);
    assert_eq!(
        chunks,
        ["type Cart | package shop", "func (c *Cart) Add | // Add adds.", "func main | func main() {",]
    );
}

#[test]
fn java_and_c_sharp_are_cut_between_members() {
    let sample = "\
package shop;

/** Keeps items. */
@Entity
public final class Cart implements Iterable<Item> {
    private final List<Item> items;

    @Override
    public Iterator<Item> iterator() {
        …
    }

    record Line(int count) {
        … int weigh() { return 3; }
    }
}
";
    let chunks = cut("java", "this.weigh(apple, pear, 3);", sample);
    assert_eq!(
        chunks,
        ["class Cart > iterator | package shop;", "class Cart > record Line | record Line(int count) {",]
    );
    let sample = "\
using System;

namespace Shop
{
    /// <summary>Keeps items.</summary>
    public class Cart : ICart
    {
        [Obsolete]
        public int Count
        {
            get
            {
                …
            }
        }

        public Cart(int count)
        {
            …
        }
    }
}
";
    let chunks = cut("csharp", "this.Weigh(apple, pear, 3);", sample);
    assert_eq!(
        chunks,
        [
            "namespace Shop > class Cart > Count | using System;",
            "namespace Shop > class Cart > Cart | public Cart(int count)",
        ]
    );
}

#[test]
fn c_and_cpp_are_cut_between_functions_and_types() {
    let sample = "\
#include <stdio.h>

#define MAX(a, b) ((a) > (b) ? (a) : (b))

typedef struct cart {
  … struct apple *pear[3];
} cart_t;

/* Adds. */
static inline const char *
cart_add(struct cart *cart, int item)
{
  …
}

int main(void) {
  …
}
";
    let chunks = cut("c", "weigh(apple, pear, 3);", sample);
    assert_eq!(
        chunks,
        [
            "#define MAX | #include <stdio.h>",
            "typedef cart_t | typedef struct cart {",
            "cart_add | /* Adds. */",
            "main | int main(void) {",
        ]
    );
    let sample = "\
#pragma once

namespace shop {

// Keeps items.
template <typename T>
class Cart : public Base {
 public:
  explicit Cart(int count) : count_(count) {
    …
  }

  ~Cart() override {
    …
  }
};

bool Cart<int>::operator==(const Cart& other) const {
  …
}

}  // namespace shop
";
    let chunks = cut("cpp", "weigh(apple, pear, 3);", sample);
    assert_eq!(
        chunks,
        [
            "namespace shop > class Cart > Cart | #pragma once",
            "namespace shop > class Cart > ~Cart | ~Cart() override {",
            "namespace shop > Cart<int>::operator== | bool Cart<int>::operator==(const Cart& other) const {",
        ]
    );
}

#[test]
fn ruby_is_the_same_with_and_without_its_grammar() {
    let sample = "\
# frozen_string_literal: true

module Shop
  # Keeps items.
  class Cart < Base
    attr_reader :items

    def self.open(path)
      …
    end

    # Adds.
    def add(item)
      …
    end
  end
end
";
    let expected = [
        "module Shop > class Cart > def self.open | # frozen_string_literal: true",
        "module Shop > class Cart > def add | # Adds.",
    ];
    assert_eq!(cut("ruby", "weigh apple, pear, 3", sample), expected);
    let with_heredoc = sample.replace("attr_reader :items", "SQL = <<~SQL");
    assert_eq!(cut("ruby", "weigh apple, pear, 3", &with_heredoc), expected);
}

#[test]
fn php_and_bash_are_cut_between_functions() {
    let sample = "\
<?php

namespace Shop;

#[Entity]
final class Cart
{
    public function add(Item $item): void
    {
        …
    }

    private function sum(): int
    {
        …
    }
}
";
    let chunks = cut("php", "$this->weigh($apple, 3);", sample);
    assert_eq!(
        chunks,
        ["class Cart > function add | <?php", "class Cart > function sum | private function sum(): int",]
    );
    let sample = "\
#!/usr/bin/env bash
set -euo pipefail

# Says how.
usage() {
  …
}

function build {
  …
}

build \"$@\"
";
    let chunks = cut("bash", "weigh \"$apple\" --pear 3", sample);
    assert_eq!(chunks, ["usage | #!/usr/bin/env bash", "build | function build {"]);
}

#[test]
fn another_language_is_cut_by_its_indentation() {
    let sample = "\
package shop

class Cart(val items: List<Item>) {
    /** Adds. */
    suspend fun add(item: Item): Cart {
        …
    }

    private fun sum(): Int {
        …
    }
}
";
    let expected = ["class Cart > fun add | package shop", "class Cart > fun sum | private fun sum(): Int {"];
    assert_eq!(cut("kotlin", "weigh(apple, pear, 3)", sample), expected);
    assert_eq!(cut("", "weigh(apple, pear, 3)", sample), expected);
    // Content without words that introduce items is cut at blank lines.
    let plain =
        format!("{}\n{}", "set apple [weigh pear 3]\n".repeat(20), "set plum [weigh pear 4]\n".repeat(20));
    assert_eq!(described(&plain, code("tcl")), [" | set apple [weigh pear 3]", " | set plum [weigh pear 4]"]);
}

#[test]
fn data_is_cut_between_entries_below_their_keys() {
    let data = |language| ContentForm { content_type: ContentType::Structured, language };
    let entries: String = (0..20).map(|n| format!("    \"key {n}\": [\"apple\", {n}],\n")).collect();
    let json = format!(
        "{{\n  \"name\": \"shop\",\n  \"fruit\": {{\n{entries}  }},\n  \"nuts\": {{\n{entries}  }}\n}}\n"
    );
    for language in [None, Some("json")] {
        let chunks = described(&json, data(language));
        assert_eq!(chunks.first().map(String::as_str), Some("fruit | {"), "{chunks:?}");
        assert!(
            chunks.iter().all(|chunk| chunk.starts_with("fruit") || chunk.starts_with("nuts | ")),
            "{chunks:?}"
        );
        assert!(
            chunks.contains(&"nuts |   \"nuts\": {".to_owned())
                || chunks.contains(&"nuts | \"nuts\": {".to_owned())
        );
    }
    let steps = "      - run: make all\n".repeat(20);
    let jobs: String = (0..3).map(|n| format!("  build-{n}:\n    steps:\n{steps}")).collect();
    assert_eq!(
        described(&format!("name: shop\n\njobs:\n{jobs}"), data(None)),
        ["jobs > build-0 | name: shop", "jobs > build-1 | build-1:", "jobs > build-2 | build-2:"]
    );
    let toml = format!(
        "[package]\nname = \"shop\"\n\n# What it needs.\n[dependencies]\n{}\n[[bin]]\nname = \"a\"\n",
        "apple = { version = \"1\" }\n".repeat(16)
    );
    assert_eq!(described(&toml, data(Some("toml"))), ["dependencies | [package]", "bin | [[bin]]"]);
}

#[test]
fn an_item_too_long_is_cut_between_statements() {
    let block = "    if apple {\n        weigh(pear, 1);\n        weigh(plum, 2);\n    }\n\n";
    let code = format!("fn long() {{\n{}}}\n", block.repeat(24));
    let chunks = split(&code, self::code("rust"));
    assert!(chunks.len() > 2);
    for chunk in &chunks[1..] {
        assert!(code[chunk.start..].starts_with("if apple"), "{}", &code[chunk.start..chunk.end]);
        assert_eq!(chunk.heading_path, ["fn long"]);
    }
}

#[test]
fn a_line_is_cut_only_where_it_alone_is_too_long() {
    let long = format!("let a = [{}];", "apple, ".repeat(600));
    let content = format!("fn a() {{\n    weigh();\n    {long}\n    weigh();\n}}\n");
    let chunks = split(&content, code("rust"));
    assert!(chunks.len() > 2);
    let line = content.find(&long).expect("it is there");
    for start in chunks.iter().map(|chunk| chunk.start) {
        let begins_line = start == 0 || content[..start].trim_end_matches(' ').ends_with('\n');
        let after_comma = content[..start].ends_with(", ") && (line..line + long.len()).contains(&start);
        assert!(begins_line || after_comma, "{}", &content[start..start + 9]);
    }
}

#[test]
fn what_is_no_code_of_the_language_is_cut_all_the_same() {
    let prose = "This is a sentence about apples and pears. ".repeat(60);
    for language in ["rust", "python", "php", "json", "yaml", "toml", "cobol", "C", " Rust "] {
        let chunks = split(&prose, code(language));
        assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.heading_path.is_empty()), "{language}");
    }
}

#[test]
fn hostile_code_neither_crashes_nor_hangs() {
    let deep: String = (0..600).map(|n| format!("{}if 1:\n", " ".repeat(n))).collect();
    let kept_out = [
        "(".repeat(200_000),
        "%w(".repeat(10_000),
        "a\0b\n".repeat(1_000),
        "x\n".repeat(600_000),
        format!("{deep}{}'a'", " ".repeat(600)),
        format!("<<{} + \"a\"\n", "A".repeat(300)).repeat(9),
    ];
    for (text, language) in kept_out.iter().zip(["c", "rust", "go", "java", "python", "ruby"]) {
        assert!(split(text, code(language)).len() > 1, "{language}");
    }
    let given_up = ["lambda a: ", "r##\"", "a<", "case a:", "\u{feff}fn a(\r\r\n", "漢 "];
    for (unit, language) in given_up.iter().zip(["javascript", "rust", "cpp", "go", "tsx", "bash"]) {
        let text = unit.repeat(60_000 / unit.len());
        assert!(split(&text, code(language)).len() > 1, "{language}");
    }
    let deep = format!("a{}", ".b(() => {})\n".repeat(70_000));
    assert!(split(&deep, code("javascript")).len() > 1);
    // The content has half of the maximum length of a memory's content.
    let half = 1_500_000;
    let of_many_lines = [("json", "[\n", "]\n"), ("kotlin", "fun a\n", "}\n"), ("toml", "# x\n", "# x\n")];
    for (language, above, below) in of_many_lines {
        let text = above.repeat(half / above.len()) + &below.repeat(half / below.len());
        assert!(split(&text, code(language)).len() > 1, "{language}");
    }
}

#[test]
fn three_megabytes_on_one_line_are_cut() {
    let text = "{\"a\":[1,2]},".repeat(3_000_000 / 12);
    let chunks = split(&text, code("json"));
    assert!(chunks.len() > 1_000);
    assert!(chunks.iter().all(|chunk| text[..chunk.start].ends_with([',', '{', '}']) || chunk.start == 0));
}

const LANGUAGES: [&str; 18] = [
    "bash",
    "c",
    "cpp",
    "csharp",
    "go",
    "java",
    "javascript",
    "php",
    "python",
    "ruby",
    "rust",
    "tsx",
    "typescript",
    "json",
    "yaml",
    "toml",
    "kotlin",
    "",
];

fn any_code() -> impl Strategy<Value = String> {
    let lines = [
        "",
        "",
        "fn weigh(apple: &str) -> u8 {",
        "def weigh(self):",
        "public class Cart {",
        "function add(a, b) { return a + b }",
        "    /// What it does.",
        "    #[test]",
        "    @Override",
        "    let a = weigh(\"apple\", 3);",
        "        if (a > 3) {",
        "    }",
        "}",
        "end",
        "  - key: value",
        "[table.of.things]",
        "\"key\": {",
        "\t\tx",
        "é 漢字 = \"a",
        "/* open",
        "*/ <<EOF",
        "<?php",
        "\u{feff}",
    ];
    let line =
        (prop::sample::select(lines.to_vec()), 1..8_usize).prop_map(|(line, times)| line.repeat(times));
    let ending = prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n"]);
    let lines = prop::collection::vec((line, ending), 0..80);
    lines.prop_map(|lines| lines.into_iter().map(|(line, ending)| format!("{line}{ending}")).collect())
}

proptest! {
    #[test]
    fn every_character_of_code_but_space_is_in_exactly_one_chunk(
        content in prop_oneof![any_code(), "(\\PC|[{}()\"'\n\t #;:]){0,900}".prop_map(String::from)],
        language in prop::sample::select(LANGUAGES.to_vec()),
        content_type in prop::sample::select(vec![ContentType::Code, ContentType::Structured]),
    ) {
        let chunks = split(&content, ContentForm { content_type, language: Some(language) });
        prop_assert!(!chunks.is_empty());
        let pieces = |text: &str| super::super::pieces::pieces(text, super::super::TextLanguage::of(&content));
        let mut at = 0;
        for chunk in &chunks {
            prop_assert!(at <= chunk.start && chunk.start <= chunk.end);
            prop_assert!(content[at..chunk.start].trim().is_empty());
            let text = &content[chunk.start..chunk.end];
            prop_assert!(chunks.len() == 1 || !text.trim().is_empty());
            prop_assert!(pieces(text) <= super::super::WINDOW, "{} pieces: {text}", pieces(text));
            at = chunk.end;
        }
        prop_assert!(content[at..].trim().is_empty());
    }
}

//! The languages that have a grammar, and the syntax nodes that count as items.

use tree_sitter::Language;

/// A language that has a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chunk) enum Grammar {
    Bash,
    C,
    Cpp,
    CSharp,
    Go,
    Java,
    JavaScript,
    Php,
    Python,
    Ruby,
    Rust,
    Tsx,
    TypeScript,
}

/// A kind of syntax node that counts as an item.
pub(super) struct CodeItemKind {
    /// The grammar's name for the node.
    pub(super) node: &'static str,
    /// The keyword before the item's name, if the language has one.
    pub(super) word: &'static str,
    /// The position of the item's name.
    pub(super) name: ItemNameLocation,
}

/// The position of an item's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemNameLocation {
    /// The field `name`.
    Field,
    /// The innermost declarator.
    Declarator,
    /// The fields `trait` and `type`.
    Implemented,
    /// The field `name`, after the receiver.
    Received,
    /// The first inner node with a name.
    Within,
    /// The target of an assignment of several lines whose value is a function or class. At the outermost level, any
    /// value counts.
    Assigned,
    /// The field `property` or `name`, if the value is a function.
    Property,
    /// The left side of an assignment of several lines, if the right side is a function or class.
    Left,
    /// The string that is passed to a call before a function, as in test descriptions.
    Called,
    /// The field `name`, if the node has a body.
    WithBody,
}

const fn kind(node: &'static str, word: &'static str) -> CodeItemKind {
    CodeItemKind { node, word, name: ItemNameLocation::Field }
}

const fn found(node: &'static str, word: &'static str, name: ItemNameLocation) -> CodeItemKind {
    CodeItemKind { node, word, name }
}

const RUST: &[CodeItemKind] = &[
    kind("function_item", "fn"),
    kind("struct_item", "struct"),
    kind("enum_item", "enum"),
    kind("union_item", "union"),
    kind("trait_item", "trait"),
    found("impl_item", "impl", ItemNameLocation::Implemented),
    found("mod_item", "mod", ItemNameLocation::WithBody),
    kind("macro_definition", "macro_rules!"),
    kind("const_item", "const"),
    kind("static_item", "static"),
];

const PYTHON: &[CodeItemKind] = &[kind("function_definition", "def"), kind("class_definition", "class")];

/// The items of TypeScript. JavaScript has a subset of them.
const SCRIPT: &[CodeItemKind] = &[
    kind("function_declaration", "function"),
    kind("generator_function_declaration", "function*"),
    kind("class_declaration", "class"),
    kind("abstract_class_declaration", "class"),
    kind("interface_declaration", "interface"),
    kind("enum_declaration", "enum"),
    kind("type_alias_declaration", "type"),
    kind("internal_module", "namespace"),
    kind("module", "module"),
    kind("method_definition", ""),
    found("field_definition", "", ItemNameLocation::Property),
    found("public_field_definition", "", ItemNameLocation::Property),
    found("lexical_declaration", "const", ItemNameLocation::Assigned),
    found("variable_declaration", "var", ItemNameLocation::Assigned),
    found("assignment_expression", "", ItemNameLocation::Left),
    found("call_expression", "", ItemNameLocation::Called),
];

const GO: &[CodeItemKind] = &[
    kind("function_declaration", "func"),
    found("method_declaration", "func", ItemNameLocation::Received),
    found("type_declaration", "type", ItemNameLocation::Within),
];

const JAVA: &[CodeItemKind] = &[
    kind("class_declaration", "class"),
    kind("interface_declaration", "interface"),
    kind("enum_declaration", "enum"),
    kind("record_declaration", "record"),
    kind("annotation_type_declaration", "@interface"),
    kind("method_declaration", ""),
    kind("constructor_declaration", ""),
    kind("compact_constructor_declaration", ""),
];

/// The items of C++. C has a subset of them.
const C: &[CodeItemKind] = &[
    found("function_definition", "", ItemNameLocation::Declarator),
    found("struct_specifier", "struct", ItemNameLocation::WithBody),
    found("union_specifier", "union", ItemNameLocation::WithBody),
    found("enum_specifier", "enum", ItemNameLocation::WithBody),
    found("class_specifier", "class", ItemNameLocation::WithBody),
    found("type_definition", "typedef", ItemNameLocation::Declarator),
    kind("namespace_definition", "namespace"),
    kind("concept_definition", "concept"),
    kind("preproc_function_def", "#define"),
];

const C_SHARP: &[CodeItemKind] = &[
    kind("namespace_declaration", "namespace"),
    kind("class_declaration", "class"),
    kind("struct_declaration", "struct"),
    kind("interface_declaration", "interface"),
    kind("enum_declaration", "enum"),
    kind("record_declaration", "record"),
    kind("method_declaration", ""),
    kind("constructor_declaration", ""),
    kind("destructor_declaration", "~"),
    kind("property_declaration", ""),
    kind("local_function_statement", ""),
];

const RUBY: &[CodeItemKind] = &[
    kind("module", "module"),
    kind("class", "class"),
    kind("method", "def"),
    kind("singleton_method", "def self."),
];

const PHP: &[CodeItemKind] = &[
    found("namespace_definition", "namespace", ItemNameLocation::WithBody),
    kind("class_declaration", "class"),
    kind("interface_declaration", "interface"),
    kind("trait_declaration", "trait"),
    kind("enum_declaration", "enum"),
    kind("function_definition", "function"),
    kind("method_declaration", "function"),
];

const BASH: &[CodeItemKind] = &[kind("function_definition", "")];

/// Nodes around an item that extend the item's range, in any language.
pub(super) const WRAPPERS: &[&str] = &[
    "ambient_declaration",
    "decorated_definition",
    "export_statement",
    "expression_statement",
    "template_declaration",
];

/// Nodes above an item that belong to the item, in any language. Comments above an item also belong to it.
pub(super) const LEADS: &[&str] = &[
    "annotation",
    "attribute_declaration",
    "attribute_item",
    "attribute_list",
    "decorator",
    "marker_annotation",
];

/// Nodes that are functions or classes used as values.
pub(super) const VALUES: &[&str] = &["arrow_function", "class", "function_expression", "generator_function"];

/// Nodes that are strings.
pub(super) const STRINGS: &[&str] = &["string", "template_string"];

impl Grammar {
    /// Returns the grammar for a language name in lower case.
    pub(in crate::chunk) fn named(language: &str) -> Option<Self> {
        Some(match language {
            "bash" | "sh" | "shell" => Self::Bash,
            "c" => Self::C,
            "cpp" | "c++" => Self::Cpp,
            "csharp" | "c#" | "cs" => Self::CSharp,
            "go" | "golang" => Self::Go,
            "java" => Self::Java,
            "javascript" | "js" | "jsx" => Self::JavaScript,
            "php" => Self::Php,
            "python" | "py" => Self::Python,
            "ruby" | "rb" => Self::Ruby,
            "rust" | "rs" => Self::Rust,
            "tsx" => Self::Tsx,
            "typescript" | "ts" => Self::TypeScript,
            _ => return None,
        })
    }

    /// Returns the parse tables of the grammar.
    pub(super) fn language(self) -> Language {
        match self {
            Self::Bash => tree_sitter_bash::LANGUAGE,
            Self::C => tree_sitter_c::LANGUAGE,
            Self::Cpp => tree_sitter_cpp::LANGUAGE,
            Self::CSharp => tree_sitter_c_sharp::LANGUAGE,
            Self::Go => tree_sitter_go::LANGUAGE,
            Self::Java => tree_sitter_java::LANGUAGE,
            Self::JavaScript => tree_sitter_javascript::LANGUAGE,
            Self::Php => tree_sitter_php::LANGUAGE_PHP,
            Self::Python => tree_sitter_python::LANGUAGE,
            Self::Ruby => tree_sitter_ruby::LANGUAGE,
            Self::Rust => tree_sitter_rust::LANGUAGE,
            Self::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Self::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        }
        .into()
    }

    /// Returns the kinds of node that are items.
    pub(super) const fn kinds(self) -> &'static [CodeItemKind] {
        match self {
            Self::Bash => BASH,
            Self::C | Self::Cpp => C,
            Self::CSharp => C_SHARP,
            Self::Go => GO,
            Self::Java => JAVA,
            Self::JavaScript | Self::Tsx | Self::TypeScript => SCRIPT,
            Self::Php => PHP,
            Self::Python => PYTHON,
            Self::Ruby => RUBY,
            Self::Rust => RUST,
        }
    }
}

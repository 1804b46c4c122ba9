//! The languages whose syntax is known, and which parts of their trees are items.

use tree_sitter::Language;

/// A language whose syntax is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text::chunk) enum Grammar {
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

/// A sort of node that is an item.
pub(super) struct Kind {
    /// What the grammar calls it.
    pub(super) node: &'static str,
    /// The word before its name, where the language has one.
    pub(super) word: &'static str,
    /// Where its name is.
    pub(super) name: Name,
}

/// Where the name of an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// In its field `name`.
    Field,
    /// In the innermost declarator.
    Declarator,
    /// In its fields `trait` and `type`.
    Implemented,
    /// In its field `name`, after its receiver.
    Received,
    /// In the first node within that has a name.
    Within,
    /// In what a function or class is assigned to; outermost, whatever is assigned. It has several lines.
    Assigned,
    /// In its field `property` or `name`, where the value is a function.
    Property,
    /// On the left, where a function or class of several lines is on the right.
    Left,
    /// In a text before a function, both given to what is called, as tests are described.
    Called,
    /// In its field `name`, where it has a body.
    WithBody,
}

const fn kind(node: &'static str, word: &'static str) -> Kind {
    Kind { node, word, name: Name::Field }
}

const fn found(node: &'static str, word: &'static str, name: Name) -> Kind {
    Kind { node, word, name }
}

const RUST: &[Kind] = &[
    kind("function_item", "fn"),
    kind("struct_item", "struct"),
    kind("enum_item", "enum"),
    kind("union_item", "union"),
    kind("trait_item", "trait"),
    found("impl_item", "impl", Name::Implemented),
    found("mod_item", "mod", Name::WithBody),
    kind("macro_definition", "macro_rules!"),
    kind("const_item", "const"),
    kind("static_item", "static"),
];

const PYTHON: &[Kind] = &[kind("function_definition", "def"), kind("class_definition", "class")];

/// TypeScript has all of them, JavaScript some.
const SCRIPT: &[Kind] = &[
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
    found("field_definition", "", Name::Property),
    found("public_field_definition", "", Name::Property),
    found("lexical_declaration", "const", Name::Assigned),
    found("variable_declaration", "var", Name::Assigned),
    found("assignment_expression", "", Name::Left),
    found("call_expression", "", Name::Called),
];

const GO: &[Kind] = &[
    kind("function_declaration", "func"),
    found("method_declaration", "func", Name::Received),
    found("type_declaration", "type", Name::Within),
];

const JAVA: &[Kind] = &[
    kind("class_declaration", "class"),
    kind("interface_declaration", "interface"),
    kind("enum_declaration", "enum"),
    kind("record_declaration", "record"),
    kind("annotation_type_declaration", "@interface"),
    kind("method_declaration", ""),
    kind("constructor_declaration", ""),
    kind("compact_constructor_declaration", ""),
];

/// C++ has all of them, C some.
const C: &[Kind] = &[
    found("function_definition", "", Name::Declarator),
    found("struct_specifier", "struct", Name::WithBody),
    found("union_specifier", "union", Name::WithBody),
    found("enum_specifier", "enum", Name::WithBody),
    found("class_specifier", "class", Name::WithBody),
    found("type_definition", "typedef", Name::Declarator),
    kind("namespace_definition", "namespace"),
    kind("concept_definition", "concept"),
    kind("preproc_function_def", "#define"),
];

const C_SHARP: &[Kind] = &[
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

const RUBY: &[Kind] = &[
    kind("module", "module"),
    kind("class", "class"),
    kind("method", "def"),
    kind("singleton_method", "def self."),
];

const PHP: &[Kind] = &[
    found("namespace_definition", "namespace", Name::WithBody),
    kind("class_declaration", "class"),
    kind("interface_declaration", "interface"),
    kind("trait_declaration", "trait"),
    kind("enum_declaration", "enum"),
    kind("function_definition", "function"),
    kind("method_declaration", "function"),
];

const BASH: &[Kind] = &[kind("function_definition", "")];

/// Nodes around an item that begin and end it, in one language or another.
pub(super) const WRAPPERS: &[&str] = &[
    "ambient_declaration",
    "decorated_definition",
    "export_statement",
    "expression_statement",
    "template_declaration",
];

/// Nodes above an item that belong to it, in one language or another. Comments do too.
pub(super) const LEADS: &[&str] = &[
    "annotation",
    "attribute_declaration",
    "attribute_item",
    "attribute_list",
    "decorator",
    "marker_annotation",
];

/// Nodes that are functions or classes as values.
pub(super) const VALUES: &[&str] = &["arrow_function", "class", "function_expression", "generator_function"];

/// Nodes that are texts.
pub(super) const STRINGS: &[&str] = &["string", "template_string"];

impl Grammar {
    /// The grammar of a language by its name in lower case.
    pub(in crate::text::chunk) fn named(language: &str) -> Option<Self> {
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

    /// Its tables.
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

    /// Which of its nodes are items.
    pub(super) const fn kinds(self) -> &'static [Kind] {
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

//! `tests/messages.md`: all texts that the Rust programs may show to a user, generated from the
//! source and in its order.
//!
//! *Law.* The list is complete by construction. `syn` parses all modules of each crate except
//! tests. Every string literal with a blank and a word counts, in calls, constants, tables and
//! macros. Texts for developers are left out: panics, assertions, `expect`, attributes. Doc
//! comments count in modules whose doc comments are printed. `BLESS=1 cargo test -p noisy-tests
//! --test messages` writes the file; read the diff.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The crates, with the subjects of their messages.
const CRATES: [(&str, &str); 11] = [
    ("analyses", "Diagnostics of noise and lints, derivations, placement"),
    ("dataflow", "Traces of the solver, broken laws of lattices"),
    ("syntax", "Diagnostics of syntax, names, types and structure; documentation of ops"),
    ("cli", "noisy-check"),
    ("lsp", "noisy-lsp: hovers, hints, lenses, actions, completion, log"),
    ("settings", "noisy.toml"),
    ("format", "The formatter"),
    ("opt", "noisy-opt"),
    ("output", "Files and streams that are written"),
    ("loops", "Dependences"),
    ("placement", "The optimizer"),
];

/// Modules whose doc comments are printed: help of the command line, documentation of settings.
const PRINTED_DOCS: [&str; 2] = ["cli/src/input/args.rs", "settings/src/options.rs"];

/// Macros and methods whose texts are only for developers.
const FOR_DEVELOPERS: [&str; 12] = [
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "panic",
    "unreachable",
    "todo",
    "unimplemented",
    "include_str",
    "expect",
];

/// Returns true if a literal is a text: it has a blank, and a word outside its placeholders.
fn is_text(literal: &str) -> bool {
    let mut plain = String::new();
    let mut depth = 0_usize;
    for it in literal.chars() {
        match it {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(it),
            _ => {}
        }
    }
    let is_word = |it: &str| it.len() > 1 && it.chars().all(|it| it.is_ascii_alphabetic());
    literal.contains(' ') && plain.split(|it: char| !it.is_ascii_alphanumeric()).any(is_word)
}

/// The texts of a file, in order, and the modules that it declares.
#[derive(Debug, Default)]
struct Texts {
    found: Vec<String>,
    modules: Vec<String>,
    with_docs: bool,
    /// The doc comment that is being read, line by line.
    doc: Vec<String>,
}

impl Texts {
    fn add(&mut self, text: &str) {
        if is_text(text) {
            self.found.push(text.to_owned());
        }
    }

    fn end_doc(&mut self) {
        let doc = std::mem::take(&mut self.doc).join(" ");
        self.add(doc.trim());
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let mut is_for_developers = false;
        let mut after_hash = false;
        for it in tokens {
            match it {
                TokenTree::Literal(it) => {
                    if let Ok(it) = syn::parse_str::<syn::LitStr>(&it.to_string()) {
                        self.add(&it.value());
                    }
                }
                // `#[..]` is an attribute, also inside a macro.
                TokenTree::Group(it) if !is_for_developers && !after_hash => {
                    self.tokens(it.stream());
                }
                TokenTree::Ident(it) => {
                    is_for_developers = FOR_DEVELOPERS.contains(&it.to_string().as_str());
                    continue;
                }
                TokenTree::Punct(it) => {
                    after_hash = it.as_char() == '#';
                    if it.as_char() == '!' {
                        continue;
                    }
                    is_for_developers = false;
                    continue;
                }
                TokenTree::Group(_) => {}
            }
            is_for_developers = false;
            after_hash = false;
        }
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|it| {
        let is = |name: &str| it.path().is_ident(name);
        let only_tests = |it: &syn::Attribute| match &it.meta {
            syn::Meta::List(it) => it.tokens.to_string() == "test",
            _ => false,
        };
        is("test") || (is("cfg") && only_tests(it))
    })
}

impl<'a> Visit<'a> for Texts {
    fn visit_attribute(&mut self, it: &'a syn::Attribute) {
        if self.with_docs
            && let syn::Meta::NameValue(pair) = &it.meta
            && pair.path.is_ident("doc")
            && matches!(it.style, syn::AttrStyle::Outer)
            && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. }) = &pair.value
        {
            self.doc.push(line.value().trim().to_owned());
        }
    }

    fn visit_ident(&mut self, _: &'a proc_macro2::Ident) {
        self.end_doc();
    }

    fn visit_item_mod(&mut self, it: &'a syn::ItemMod) {
        if is_for_tests(&it.attrs) {
            return;
        }
        if it.content.is_none() {
            self.modules.push(it.ident.to_string());
        }
        visit::visit_item_mod(self, it);
    }

    fn visit_item_fn(&mut self, it: &'a syn::ItemFn) {
        if !is_for_tests(&it.attrs) {
            visit::visit_item_fn(self, it);
        }
    }

    fn visit_item_impl(&mut self, it: &'a syn::ItemImpl) {
        if !is_for_tests(&it.attrs) {
            visit::visit_item_impl(self, it);
        }
    }

    fn visit_lit_str(&mut self, it: &'a syn::LitStr) {
        self.add(&it.value());
    }

    fn visit_expr_method_call(&mut self, it: &'a syn::ExprMethodCall) {
        if it.method == "expect" {
            self.visit_expr(&it.receiver);
        } else {
            visit::visit_expr_method_call(self, it);
        }
    }

    fn visit_macro(&mut self, it: &'a syn::Macro) {
        let name = it.path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
        if !FOR_DEVELOPERS.contains(&name.as_str()) {
            self.tokens(it.tokens.clone());
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Reads the texts of a file and its submodules into `out`, by their paths relative to the root of
/// the project.
fn read_file(file: &Path, is_root: bool, out: &mut BTreeMap<String, Vec<String>>) {
    let name = file.strip_prefix(root()).unwrap_or(file).display().to_string();
    let text = fs::read_to_string(file).unwrap_or_else(|why| panic!("{name}: {why}"));
    let parsed = syn::parse_file(&text).unwrap_or_else(|why| panic!("{name}: {why}"));
    let with_docs = PRINTED_DOCS.contains(&name.as_str());
    let mut texts = Texts { with_docs, ..Texts::default() };
    texts.visit_file(&parsed);
    out.insert(name, texts.found);
    let folder = file.parent().expect("a file stands in a folder");
    let is_mod = is_root || file.file_name().is_some_and(|it| it == "mod.rs");
    let folder = if is_mod { folder.to_owned() } else { file.with_extension("") };
    for module in texts.modules {
        let flat = folder.join(format!("{module}.rs"));
        let path = if flat.exists() { flat } else { folder.join(module).join("mod.rs") };
        read_file(&path, false, out);
    }
}

/// Returns a text as Markdown code.
fn as_markdown_code(text: &str) -> String {
    let text = text.trim_end_matches('\n').replace('\n', "⏎");
    let ticks = "`".repeat(1 + text.split(|it| it != '`').map(str::len).max().unwrap_or(0));
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

fn messages_page() -> String {
    let mut out = "# Messages\n\n\
        All texts that the Rust programs may show to a user, file by file in the order of the source. `{}` is filled in, `⏎` is a line break. \
        `tests/tests/messages.rs` makes this list from the source. It lists every string literal with a blank and a word, so some entries are parts of output formats.\n\n\
        The list leaves out the pages of the codes ([diagnostics.md](../docs/diagnostics.md)), texts of a single word, texts of libraries, the texts of the VS Code extension \
        ([messages.md](../vscode-extension/tests/messages.md)) and those of the Neovim plugin.\n"
        .to_owned();
    for (name, title) in CRATES {
        let _ = write!(out, "\n## {title} (`{name}/`)\n");
        let mut files = BTreeMap::new();
        for start in ["lib.rs", "main.rs"] {
            let path = root().join(name).join("src").join(start);
            if path.exists() {
                read_file(&path, true, &mut files);
            }
        }
        for (file, texts) in files {
            if texts.is_empty() {
                continue;
            }
            let file = file.trim_start_matches(name).trim_start_matches("/src/");
            let _ = write!(out, "\n### {file}\n\n");
            for it in texts {
                let _ = writeln!(out, "- {}", as_markdown_code(&it));
            }
        }
    }
    out
}

#[test]
fn the_list_is_current() {
    let path = root().join("tests/messages.md");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, messages_page()).expect("tests/ can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == messages_page(),
        "write it anew: BLESS=1 cargo test -p noisy-tests --test messages"
    );
}

#[test]
fn finds_texts_everywhere() {
    let source = r#"
        //! Not printed here.
        const A: &str = "in a constant";
        /// Not printed here.
        #[deprecated = "in an attribute"]
        fn f(x: Option<u8>) -> String {
            x.expect("for a developer");
            assert!(true, "for a developer");
            let y = vec![("in a table", 1), g(|| format!("{x} in a closure"))];
            println!("{}", format_args!("in a {n}", n = { panic!("for a developer"); 1 }));
            if y.is_empty() { return "word".into() }
            bail!("{a} {b}")
        }
        impl T { const B: [&str; 2] = [r"raw one", "a\tb one\u{e4}"]; }
        #[cfg(test)]
        mod tests { const C: &str = "in a test"; }
        #[cfg(not(test))]
        mod real { fn f() { matches!(it, "in a pattern") } }
    "#;
    let mut texts = Texts::default();
    texts.visit_file(&syn::parse_file(source).expect("Rust"));
    let expected = [
        "in a constant",
        "in a table",
        "{x} in a closure",
        "in a {n}",
        "raw one",
        "a\tb one\u{e4}",
        "in a pattern",
    ];
    assert_eq!(texts.found, expected);
    let source = "/// The first\n/// doc.\nstruct S {\n  /// Another doc.\n  a: u8,\n}\n";
    let mut texts = Texts { with_docs: true, ..Texts::default() };
    texts.visit_file(&syn::parse_file(source).expect("Rust"));
    assert_eq!(texts.found, ["The first doc.", "Another doc."]);
}

#[test]
fn code_may_contain_backticks() {
    assert_eq!(as_markdown_code("a b"), "`a b`");
    assert_eq!(as_markdown_code("a `b` c"), "``a `b` c``");
    assert_eq!(as_markdown_code("`b` c\nd\n"), "`` `b` c⏎d ``");
}

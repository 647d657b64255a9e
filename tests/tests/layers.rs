//! The layers of `docs/architecture.md`: its block ```` ```layers ```` gives the order of the
//! crates, and of the modules of some of them.
//!
//! ```text
//! crates: syntax ◄ analyses ◄ settings ◄ lsp, cli
//! cli: input ◄ check ◄ run
//! ```
//!
//! A line orders the crates, the modules of a crate (given by its folder), or the submodules of a
//! module. A name may use the names to its left, but not the names in the same layer or to its
//! right. A line contains all modules that have submodules, and may contain others. In every crate,
//! listed or not, the uses between siblings have no cycles; a module and its children may use each
//! other.
//!
//! A use is a path in code outside tests, resolved through re-exports to the file that defines the
//! item. Doc comments do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// Path of a module from the root of its crate.
type Module = Vec<String>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Maximum number of lines, so that the block stays an overview.
const MAX_LINES: usize = 12;

/// A line of the block: its crate or module, and its layers, lowest first.
#[derive(Debug, PartialEq, Eq)]
struct Layers {
    scope: String,
    layers: Vec<Vec<String>>,
}

fn read_layers(text: &str) -> Vec<Layers> {
    let block = text.split("```layers\n").nth(1).and_then(|it| it.split("```").next());
    let mut out: Vec<Layers> = Vec::new();
    let split = |text: &str| -> Vec<Vec<String>> {
        let names = |it: &str| it.split(',').map(|it| it.trim().to_owned()).collect();
        text.split('◄').map(names).collect()
    };
    for line in block.expect("docs/architecture.md has a block of layers").lines() {
        let (of, layers) = line.split_once(':').unwrap_or_else(|| panic!("no name in {line:?}"));
        out.push(Layers { scope: of.trim().to_owned(), layers: split(layers) });
    }
    out
}

/// Checks uses, which are pairs of user and used name, against a line, and returns the errors. The
/// line must contain all names of `required`.
fn check_uses(
    layers: &Layers,
    known: &BTreeSet<String>,
    required: &BTreeSet<String>,
    uses: &BTreeSet<(String, String)>,
) -> Vec<String> {
    let mut out = Vec::new();
    let mut height: BTreeMap<&str, usize> = BTreeMap::new();
    for (n, layer) in layers.layers.iter().enumerate() {
        for name in layer {
            if height.insert(name, n).is_some() {
                out.push(format!("{}: {name} is listed twice", layers.scope));
            }
            if !known.contains(name) {
                out.push(format!("{}: {name} is listed and does not exist", layers.scope));
            }
        }
    }
    for name in required.iter().filter(|it| !height.contains_key(it.as_str())) {
        out.push(format!("{}: {name} is not listed", layers.scope));
    }
    for (user, used) in uses {
        if let (Some(a), Some(b)) = (height.get(user.as_str()), height.get(used.as_str()))
            && a <= b
        {
            out.push(format!("{}: {user} uses {used}, which is not below it", layers.scope));
        }
    }
    out
}

/// Returns a cycle of uses, if there is one.
fn find_cycle(uses: &BTreeSet<(String, String)>) -> Option<Vec<String>> {
    let mut left: BTreeSet<&(String, String)> = uses.iter().collect();
    // A crate that uses no remaining crate, or that no remaining crate uses, is not part of a
    // cycle.
    loop {
        let users: BTreeSet<&String> = left.iter().map(|it| &it.0).collect();
        let used: BTreeSet<&String> = left.iter().map(|it| &it.1).collect();
        let n = left.len();
        left.retain(|it| users.contains(&it.1) && used.contains(&it.0));
        if left.len() == n {
            break;
        }
    }
    let mut at = &left.iter().next()?.0;
    let mut way: Vec<String> = Vec::new();
    while !way.contains(at) {
        way.push(at.clone());
        at = &left.iter().find(|it| it.0 == *at)?.1;
    }
    way.push(at.clone());
    Some(way.split_off(way.iter().position(|it| it == at)?))
}

/// The declarations and uses of a file.
#[derive(Debug, Default)]
struct FileSummary {
    /// The modules declared in it.
    children: BTreeSet<String>,
    /// The items defined in it, by name.
    items: BTreeSet<String>,
    /// The names that `use` imports, with their paths.
    aliases: BTreeMap<String, Vec<String>>,
    /// The paths of glob imports.
    globs: Vec<Vec<String>>,
    /// All paths in the file that begin with `crate`, `super`, `self` or a module. A path in an
    /// inline module is rewritten as a path from the file.
    paths: BTreeSet<Vec<String>>,
}

/// Collects the declarations and uses of a file, except in tests.
#[derive(Default)]
struct Reader {
    file: FileSummary,
    /// Number of enclosing inline modules.
    depth: usize,
}

impl Reader {
    fn add_path(&mut self, mut path: Vec<String>) {
        // Inline modules count as part of their file.
        let n_super = path.iter().take_while(|it| *it == "super").count();
        if n_super > 0 && self.depth > 0 {
            path.drain(..n_super.min(self.depth));
            if n_super <= self.depth {
                path.insert(0, "self".to_owned());
            }
        }
        self.file.paths.insert(path);
    }

    fn add_use_tree(&mut self, tree: &syn::UseTree, before: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(it) => {
                before.push(it.ident.to_string());
                self.add_use_tree(&it.tree, before);
                before.pop();
            }
            syn::UseTree::Group(it) => it.items.iter().for_each(|it| self.add_use_tree(it, before)),
            syn::UseTree::Glob(_) => {
                self.file.globs.push(before.clone());
                self.add_path(before.clone());
            }
            syn::UseTree::Name(it) => self.add_import(&it.ident, &it.ident, before),
            syn::UseTree::Rename(it) => self.add_import(&it.ident, &it.rename, before),
        }
    }

    fn add_import(&mut self, name: &syn::Ident, alias: &syn::Ident, before: &[String]) {
        let mut path = before.to_vec();
        let mut alias = alias.to_string();
        if name == "self" {
            if alias == "self" {
                alias = before.last().cloned().unwrap_or_default();
            }
        } else {
            path.push(name.to_string());
        }
        self.add_path(path.clone());
        if self.depth == 0 {
            self.file.aliases.insert(alias, path);
        }
    }

    /// Collects the paths in the arguments of a macro, which `syn` does not parse.
    fn visit_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut n_colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(it) if path.is_empty() || n_colons == 2 => {
                    path.push(it.to_string());
                    n_colons = 0;
                }
                TokenTree::Punct(it) if it.as_char() == ':' && !path.is_empty() => n_colons += 1,
                other => {
                    self.add_path(std::mem::take(&mut path));
                    n_colons = 0;
                    match other {
                        TokenTree::Ident(it) => path.push(it.to_string()),
                        TokenTree::Group(it) => self.visit_tokens(it.stream()),
                        TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                    }
                }
            }
        }
        self.add_path(path);
    }
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let says_test = |tokens: TokenStream| {
        tokens.into_iter().any(|it| matches!(it, TokenTree::Ident(it) if it == "test"))
    };
    attributes.iter().any(|it| match &it.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => list.path.is_ident("cfg") && says_test(list.tokens.clone()),
        syn::Meta::NameValue(_) => false,
    })
}

impl<'ast> Visit<'ast> for Reader {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let (attributes, name) = match item {
            syn::Item::Const(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Enum(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Fn(it) => (&it.attrs, Some(&it.sig.ident)),
            syn::Item::Impl(it) => (&it.attrs, None),
            syn::Item::Macro(it) => (&it.attrs, it.ident.as_ref()),
            syn::Item::Mod(it) => (&it.attrs, None),
            syn::Item::Static(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Struct(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Trait(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Type(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Union(it) => (&it.attrs, Some(&it.ident)),
            syn::Item::Use(it) => (&it.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if is_for_tests(attributes) {
            return;
        }
        if let Some(name) = name.filter(|_| self.depth == 0) {
            self.file.items.insert(name.to_string());
        }
        match item {
            syn::Item::Mod(it) if it.content.is_none() => {
                self.file.children.insert(it.ident.to_string());
            }
            syn::Item::Mod(_) => {
                self.depth += 1;
                visit::visit_item(self, item);
                self.depth -= 1;
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_impl_item_fn(&mut self, it: &'ast syn::ImplItemFn) {
        if !is_for_tests(&it.attrs) {
            visit::visit_impl_item_fn(self, it);
        }
    }

    fn visit_item_use(&mut self, it: &'ast syn::ItemUse) {
        self.add_use_tree(&it.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.add_path(path.segments.iter().map(|it| it.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        self.visit_tokens(it.tokens.clone());
        visit::visit_macro(self, it);
    }
}

/// The files of a crate, by module.
type CrateFiles = BTreeMap<Module, FileSummary>;

fn read_file(text: &str, name: &str) -> FileSummary {
    let mut reader = Reader::default();
    let file = syn::parse_file(text).unwrap_or_else(|it| panic!("{name}: {it}"));
    reader.visit_file(&file);
    reader.file
}

fn read_crate(folder: &Path) -> CrateFiles {
    let mut files = CrateFiles::new();
    let source = folder.join("src");
    let main = ["lib.rs", "main.rs"].map(|it| source.join(it)).into_iter().find(|it| it.is_file());
    let main = main.unwrap_or_else(|| panic!("{} has a root", folder.display()));
    let mut stack = vec![(Module::new(), main, source)];
    while let Some((module, path, inside)) = stack.pop() {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).unwrap_or_else(|it| panic!("{name}: {it}"));
        let file = read_file(&text, &name);
        for child in &file.children {
            let flat = inside.join(format!("{child}.rs"));
            let own = inside.join(child);
            let path = if flat.is_file() { flat } else { own.join("mod.rs") };
            let mut module = module.clone();
            module.push(child.clone());
            stack.push((module, path, own));
        }
        files.insert(module, file);
    }
    files
}

/// Returns the module that defines the item of a path; none if the item is local or in another
/// crate.
fn resolve(files: &CrateFiles, from: &Module, path: &[String], fuel: usize) -> Option<Module> {
    let mut at = from.clone();
    let mut path = path;
    let (first, _) = path.split_first()?;
    match first.as_str() {
        "crate" => (at, path) = (Module::new(), &path[1..]),
        "self" => path = &path[1..],
        "super" => {
            while let Some(("super", rest)) = path.split_first().map(|it| (it.0.as_str(), it.1)) {
                at.pop();
                path = rest;
            }
        }
        // A child of the module. Imported names are skipped, because their `use` is counted.
        name if files.get(from)?.children.contains(name) => {}
        _ => return None,
    }
    for (n, name) in path.iter().enumerate() {
        let file = files.get(&at)?;
        if file.children.contains(name) {
            at.push(name.clone());
            continue;
        }
        if file.items.contains(name) {
            return Some(at);
        }
        let rest = &path[n + 1..];
        let through = |alias: &[String]| {
            let path: Vec<String> = alias.iter().chain(rest).cloned().collect();
            resolve(files, &at, &path, fuel.checked_sub(1)?)
        };
        if let Some(alias) = file.aliases.get(name) {
            return through(alias).or(Some(at));
        }
        for glob in &file.globs {
            let of = fuel.checked_sub(1).and_then(|fuel| resolve(files, &at, glob, fuel));
            if let Some(of) = of
                .filter(|of| files[of].items.contains(name) || files[of].aliases.contains_key(name))
            {
                let path: Vec<String> =
                    std::iter::once("self".to_owned()).chain(path[n..].iter().cloned()).collect();
                return resolve(files, &of, &path, fuel - 1);
            }
        }
        return Some(at);
    }
    Some(at)
}

/// The uses between siblings, by parent.
fn uses(files: &CrateFiles) -> BTreeMap<Module, BTreeSet<(String, String)>> {
    let mut out: BTreeMap<Module, BTreeSet<(String, String)>> = BTreeMap::new();
    for (module, file) in files {
        for path in &file.paths {
            let Some(used) = resolve(files, module, path, 20) else { continue };
            let common = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (module.get(common), used.get(common)) {
                let uses = out.entry(module[..common].to_vec()).or_default();
                uses.insert((a.clone(), b.clone()));
            }
        }
    }
    out
}

/// Returns the errors of the modules of a crate.
fn check_crate(name: &str, files: &CrateFiles, lines: &[Layers]) -> Vec<String> {
    let uses = uses(files);
    let module = |line: &Layers| -> Option<Module> {
        let mut names = line.scope.split('/').map(str::to_owned);
        (names.next()? == name).then(|| names.collect())
    };
    let lines: Vec<(Module, &Layers)> =
        lines.iter().filter_map(|it| Some((module(it)?, it))).collect();
    let mut out = Vec::new();
    for (module, uses) in &uses {
        if let Some(circle) = find_cycle(uses) {
            let place = std::iter::once(name).chain(module.iter().map(String::as_str));
            let place = place.collect::<Vec<_>>().join("/");
            out.push(format!("{place}: a circle: {}", circle.join(" -> ")));
        }
    }
    for (module, line) in lines {
        match files.get(&module) {
            Some(file) => {
                let none = BTreeSet::new();
                let is_folder = |it: &&String| {
                    let path: Module = module.iter().chain([*it]).cloned().collect();
                    files.get(&path).is_some_and(|it| !it.children.is_empty())
                };
                let folders = file.children.iter().filter(is_folder).cloned().collect();
                let uses = uses.get(&module).unwrap_or(&none);
                out.extend(check_uses(line, &file.children, &folders, uses));
            }
            None => out.push(format!("{}: there is no such module", line.scope)),
        }
    }
    out
}

/// Returns the folders of the crates in the workspace, and their dependencies on each other except
/// dev-dependencies.
fn crates() -> (BTreeSet<String>, BTreeSet<(String, String)>) {
    let table = |path: PathBuf| -> toml::Table {
        let text =
            fs::read_to_string(&path).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        text.parse().unwrap_or_else(|it| panic!("{}: {it}", path.display()))
    };
    let workspace = table(root().join("Cargo.toml"));
    let members = workspace["workspace"]["members"].as_array().expect("a list of members");
    let members: BTreeSet<String> =
        members.iter().filter_map(|it| it.as_str()).map(str::to_owned).collect();
    let mut by_name: BTreeMap<String, String> = BTreeMap::new();
    let mut manifests = Vec::new();
    for folder in &members {
        let manifest = table(root().join(folder).join("Cargo.toml"));
        let name = manifest["package"]["name"].as_str().expect("a name").to_owned();
        by_name.insert(name, folder.clone());
        manifests.push((folder.clone(), manifest));
    }
    let mut uses = BTreeSet::new();
    for (folder, manifest) in manifests {
        let dependencies = manifest.get("dependencies").and_then(toml::Value::as_table);
        for name in dependencies.into_iter().flat_map(toml::Table::keys) {
            if let Some(used) = by_name.get(name) {
                uses.insert((folder.clone(), used.clone()));
            }
        }
    }
    (members, uses)
}

#[test]
fn crates_and_modules_respect_the_layers() {
    let text = fs::read_to_string(root().join("docs/architecture.md")).expect("it is there");
    let lines = read_layers(&text);
    let (members, between) = crates();
    let top = lines.iter().find(|it| it.scope == "crates").expect("a line for the crates");
    let mut wrong = check_uses(top, &members, &members, &between);
    for member in &members {
        wrong.extend(check_crate(member, &read_crate(&root().join(member)), &lines));
    }
    assert!(lines.len() <= MAX_LINES, "{} lines: only folders are listed", lines.len());
    for line in lines.iter().filter(|it| it.scope != "crates") {
        let folder = line.scope.split('/').next().unwrap_or_default();
        assert!(members.contains(folder), "{} is in no crate", line.scope);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns a crate with modules of the given texts.
fn crate_with(modules: &[(&str, &str)]) -> CrateFiles {
    let path = |it: &str| it.split('/').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    modules.iter().map(|(name, text)| (path(name), read_file(text, name))).collect()
}

#[test]
fn finds_uses_everywhere() {
    let found = |text: &str| {
        let files = crate_with(&[
            ("", "mod a; mod b; mod c; pub use b::Far; pub use c::*; fn own() {}"),
            ("a", text),
            ("b", "pub struct Far; pub struct Near; pub fn f() {}"),
            ("c", "pub struct Star; mod d;"),
            ("c/d", "pub struct Deep;"),
        ]);
        let uses = uses(&files).remove(&Module::new()).unwrap_or_default();
        uses.into_iter().map(|it| it.1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(found("use crate::b::Near;"), "b");
    assert_eq!(found("use crate::{own, b::{self as other, f}};"), "b");
    assert_eq!(found("use super::b;"), "b");
    assert_eq!(found("use crate::Far;"), "b", "through a re-export");
    assert_eq!(found("use crate::Star;"), "c", "through a re-export of everything");
    assert_eq!(found("use super::c::d::Deep;"), "c");
    assert_eq!(found("fn g(it: &super::b::Near) {}"), "b");
    assert_eq!(found("fn g() { crate::b::f() }"), "b");
    assert_eq!(found("fn g() { assert!(x(crate::b::f()) == [1; 2]) }"), "b", "in a macro");
    assert_eq!(found("mod inside { use super::super::b::Near; }"), "b");
    assert_eq!(found("mod inside { use super::own; fn own() {} }"), "");
    assert_eq!(found("#[cfg(test)] mod tests { use crate::b::Near; }"), "");
    assert_eq!(found("#[cfg(test)] use crate::b::Near;"), "");
    assert_eq!(found("//! As [`crate::b::f`].\nuse crate::own; use std::fmt;"), "");
}

#[test]
fn reports_wrong_layers() {
    let files = crate_with(&[
        ("", "mod a; mod b; mod c;"),
        ("a", "use crate::b::f;"),
        ("b", "pub fn f() {} mod x; mod y;"),
        ("b/x", "use super::y::g; use super::f;"),
        ("b/y", "pub fn g() { super::x::h() }"),
        ("c", "use crate::a;"),
    ]);
    let lines = |text: &str| read_layers(&format!("```layers\n{text}\n```"));
    let told = "k/b: a circle: x -> y -> x";
    assert_eq!(check_crate("k", &files, &lines("k: b ◄ a ◄ c")), [told]);
    assert_eq!(
        check_crate("k", &files, &lines("k: a ◄ b, c")),
        [told, "k: a uses b, which is not below it"]
    );
    assert_eq!(
        check_crate("k", &files, &lines("k: b ◄ a, c")),
        [told, "k: c uses a, which is not below it"]
    );
    assert_eq!(
        check_crate("k", &files, &lines("k: b ◄ a ◄ d, d")),
        [
            told,
            "k: d is listed and does not exist",
            "k: d is listed twice",
            "k: d is listed and does not exist",
        ]
    );
    // Only modules with submodules must be listed.
    assert_eq!(check_crate("k", &files, &lines("k: a ◄ c")), [told, "k: b is not listed"]);
    assert_eq!(check_crate("k", &files, &lines("other: x")), [told]);
    let none = "k/z: there is no such module";
    assert_eq!(check_crate("k", &files, &lines("k/z: a")), [told, none]);
    let long: BTreeSet<_> = [("a", "b"), ("b", "c"), ("c", "a"), ("z", "a")]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .into();
    assert_eq!(find_cycle(&long).unwrap_or_default().join(" -> "), "a -> b -> c -> a");
}

//! Prints resource sections like `mlir-opt`: the dialect resources that the program mentions, in
//! the order of their first mention, and all external resources.
//!
//! The mentioned keys are found in the printed text: `dense_resource<key>` anywhere, and any name
//! or string in the body of a type or attribute of another dialect, because only that dialect knows
//! the grammar. *Cost.* Linear.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::printer::Printer;
use crate::identifier::{BARE_START, bare_id_len, has_class, suffix_id_len};
use crate::intern::NumberTypes;
use crate::string::{string_len, unquoted};
use crate::{Attr, AttrData, Ir, LocationPart, OpKind, Region};

/// The section with the resources of dialects.
const DIALECT_RESOURCES: &str = "dialect_resources";

/// Maximum length in bytes of the metadata of a location that is searched for keys.
const MAX_METADATA_LEN: usize = 1 << 16;

/// The resources of one dialect or tool.
struct ResourceGroup<'a> {
    name: &'a str,
    entries: Vec<(&'a str, Attr)>,
}

/// Returns the sections of a file. Sections with the same name are merged, and so are groups with
/// the same name inside them.
fn sections(ir: &Ir, region: Region) -> Vec<(&str, Vec<ResourceGroup<'_>>)> {
    let mut out: Vec<(&str, Vec<ResourceGroup<'_>>)> = Vec::new();
    let mut section_places = FxHashMap::default();
    let mut group_places = FxHashMap::default();
    for op in ir.items(region).filter(|it| ir.op(*it).kind == OpKind::Resources) {
        for &(section, attr) in &ir.extra(op).attrs {
            let AttrData::Dict(groups) = ir.interner.attr_data(attr) else { continue };
            let at = *section_places.entry(section).or_insert_with(|| {
                out.push((ir.interner.str(section), Vec::new()));
                out.len() - 1
            });
            for &(name, group) in groups {
                let AttrData::Dict(entries) = ir.interner.attr_data(group) else { continue };
                let all = &mut out[at].1;
                let group = *group_places.entry((section, name)).or_insert_with(|| {
                    all.push(ResourceGroup { name: ir.interner.str(name), entries: Vec::new() });
                    all.len() - 1
                });
                let entries = entries.iter().map(|it| (ir.interner.str(it.0), it.1));
                all[group].entries.extend(entries);
            }
        }
    }
    out.sort_by_key(|it| it.0 != DIALECT_RESOURCES);
    out
}

/// The resources that a program mentions.
#[derive(Default)]
struct MentionedResources<'t> {
    /// The keys of `dense_resource<key>`, numbered in the order of their first mention.
    keys: FxHashMap<Cow<'t, str>, usize>,
    /// The names of the dialects of types and attributes.
    dialects: FxHashSet<&'t str>,
    /// Names and strings in the bodies of dialect types and attributes.
    words: FxHashSet<Cow<'t, str>>,
    /// True if a mention could not be parsed: any resource may be mentioned.
    is_unsure: bool,
}

impl<'t> MentionedResources<'t> {
    fn read(&mut self, text: &'t str) {
        let bytes = text.as_bytes();
        // Number of open brackets, counted from the bracket of a body.
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let rest = &text[at..];
            let next = bytes.get(at + 1).copied();
            match byte {
                b'"' => {
                    let len = string_len(rest);
                    if depth > 0 {
                        self.words.insert(unquoted(&rest[..len]));
                    }
                    at += len;
                    continue;
                }
                // In a body, `//` does not start a comment.
                b'/' if next == Some(b'/') && depth == 0 => {
                    at += rest.find('\n').unwrap_or(rest.len());
                    continue;
                }
                b'-' if next == Some(b'>') => at += 1,
                b'#' | b'!' => {
                    let name = &rest[1..=suffix_id_len(&rest[1..])];
                    let dialect = name.split_once('.').map_or(name, |it| it.0);
                    self.dialects.insert(dialect);
                    at += 1 + name.len();
                    if depth == 0 && bytes.get(at) == Some(&b'<') {
                        depth = 1;
                        at += 1;
                    }
                    continue;
                }
                b'<' | b'(' | b'[' | b'{' if depth > 0 => depth += 1,
                b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                _ if has_class(byte, BARE_START) => {
                    let word = &rest[..bare_id_len(rest)];
                    at += word.len();
                    if word == "dense_resource" {
                        self.read_key(&text[at..]);
                    } else if depth > 0 {
                        self.words.insert(word.into());
                    }
                    continue;
                }
                _ if !byte.is_ascii() => {
                    at += rest.chars().next().map_or(1, char::len_utf8);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// Reads `<key>`.
    fn read_key(&mut self, rest: &'t str) {
        let Some(rest) = rest.trim_start().strip_prefix('<') else { return };
        let rest = rest.trim_start();
        let len = if rest.starts_with('"') { string_len(rest) } else { bare_id_len(rest) };
        if len == 0 || !rest[len..].trim_start().starts_with('>') {
            self.is_unsure = true;
            return;
        }
        let n = self.keys.len();
        self.keys.entry(unquoted(&rest[..len])).or_insert(n);
    }

    /// Keeps only the mentioned resources, in the order of `mlir-opt`.
    fn retain_in(&self, group: &mut ResourceGroup<'_>) {
        if self.is_unsure {
            return;
        }
        if group.name == "builtin" {
            // The last of several entries with the same key is used.
            let mut last = FxHashMap::default();
            for (at, it) in group.entries.iter().enumerate() {
                last.insert(it.0, at);
            }
            let mut at = 0;
            group.entries.retain(|it| {
                at += 1;
                self.keys.contains_key(it.0) && last[it.0] + 1 == at
            });
            group.entries.sort_by_key(|it| self.keys[it.0]);
        } else {
            let is_mentioned = self.dialects.contains(group.name);
            group.entries.retain(|it| is_mentioned && self.words.contains(it.0));
        }
    }
}

impl Printer<'_> {
    /// Returns the texts of attributes in locations; `None` if one is too long.
    fn location_attrs(&self) -> Option<Vec<String>> {
        let Some(names) = &self.locations else { return Some(Vec::new()) };
        let mut out = Vec::new();
        for (location, _) in names.all() {
            let AttrData::Location(parts) = self.ir.interner.attr_data(location) else { continue };
            for part in parts {
                if let LocationPart::Attr(attr) = part {
                    out.push(self.ir.interner.bounded_attr_text(*attr, MAX_METADATA_LEN)?);
                }
            }
        }
        Some(out)
    }

    /// Prints the resource sections of a program, after the program.
    pub(super) fn resources(&mut self, region: Region) {
        let ir = self.ir;
        let mut sections = sections(ir, region);
        for (_, groups) in sections.iter_mut().filter(|it| it.0 == DIALECT_RESOURCES) {
            let location_attrs = self.location_attrs();
            // The alias definition of a long attribute is not printed yet.
            let is_unsure = self.text.long_names.is_some() || location_attrs.is_none();
            let mut mentions = MentionedResources { is_unsure, ..MentionedResources::default() };
            for it in std::iter::once(&self.text.out).chain(location_attrs.iter().flatten()) {
                mentions.read(it);
            }
            for group in groups {
                mentions.retain_in(group);
            }
        }
        for (_, groups) in &mut sections {
            groups.retain(|it| !it.entries.is_empty());
        }
        sections.retain(|it| !it.1.is_empty());
        if sections.is_empty() {
            return;
        }
        self.text.push("\n{-#\n");
        let n_sections = sections.len();
        for (i, (name, groups)) in sections.into_iter().enumerate() {
            self.open_resources(1, name);
            let n_groups = groups.len();
            for (i, group) in groups.into_iter().enumerate() {
                self.open_resources(2, group.name);
                let n_entries = group.entries.len();
                for (i, (key, value)) in group.entries.into_iter().enumerate() {
                    self.indent(3);
                    self.text.key(key);
                    self.text.push(": ");
                    self.text.attr_without_name(value, NumberTypes::None);
                    self.text.push(if i + 1 < n_entries { ",\n" } else { "\n" });
                }
                self.text.push(if i + 1 < n_groups { "    },\n" } else { "    }\n" });
            }
            self.text.push(if i + 1 < n_sections { "  },\n" } else { "  }\n" });
        }
        self.text.push("#-}\n");
    }

    fn open_resources(&mut self, depth: usize, name: &str) {
        self.indent(depth);
        self.text.key(name);
        self.text.push(": {\n");
    }
}

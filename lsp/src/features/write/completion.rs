//! Completion. After a sigil it proposes values in scope, blocks, symbols, types or aliases; it
//! proposes ops where an op may start.

use std::ops::Range;

use noisy_analyses::Document;
use noisy_analyses::explain::SaturationCache;
use noisy_syntax::dialect::{self, OpKind, TypeClass};
use noisy_syntax::identifier::{is_bare_id, is_identifier_byte};
use noisy_syntax::string::quoted;
use noisy_syntax::{Ir, Op, Traits, Value};
use rustc_hash::FxHashSet;

use crate::features::find::cursor;
use crate::features::texts;
use crate::features::walk::{ItemWalk, WalkedItem, region_ranges};
use crate::features::write::fill::{self, FillScope};
use crate::features::write::snippet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProposalKind {
    Op,
    Value,
    Block,
    Symbol,
    Type,
    Attribute,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    pub kind: ProposalKind,
    /// The text that is shown and searched.
    pub label: String,
    pub detail: String,
    /// The text with placeholders, if it has any.
    pub snippet: Option<String>,
    /// The noise of a value, shown beside its name.
    pub noise: Option<String>,
}

impl Proposal {
    fn new(kind: ProposalKind) -> Self {
        Self { kind, label: String::new(), detail: String::new(), snippet: None, noise: None }
    }
}

/// All proposals at an offset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    /// The range to replace, in bytes.
    pub range: Range<usize>,
    /// The proposals, best first.
    pub proposals: Vec<Proposal>,
    /// True if proposals were left out.
    pub is_incomplete: bool,
}

/// Maximum number of proposals.
const MAX_PROPOSALS: usize = 200;
/// Maximum number of ops that are searched for values.
const MAX_VISITED_OPS: usize = 4000;

/// The proposals at an offset.
pub(crate) fn completion(document: &Document, offset: usize) -> Completion {
    let rope = document.source().text();
    let line = rope.byte_to_line(offset);
    // A line may be megabytes long.
    let line_start = rope.line_to_byte(line);
    let start = line_start.max(offset.saturating_sub(2000));
    let start = rope.char_to_byte(rope.byte_to_char(start));
    let before = document.source().slice(start..offset);
    let is_word = |c: char| c.is_ascii() && is_identifier_byte(c as u8);
    let word = before.trim_end_matches(is_word);
    let sigil = word.chars().next_back().filter(|c| "%^@!#".contains(*c));
    let word_start = start + word.len() - sigil.map_or(0, char::len_utf8);
    if before.contains("//") {
        return Completion { range: offset..offset, ..Completion::default() };
    }
    let prefix = &before[word_start - start..];
    let ir = document.ir();
    let at = ir.item_at(offset).or_else(|| ir.item_at(offset.checked_sub(1)?));
    let mut proposals = match (sigil, at) {
        (Some('%'), Some(op)) => {
            let mut found = values(document, op, offset, prefix);
            if let Some(wanted) = wanted_type(&before[..word_start - start]) {
                // Values of the wanted type come first; the sort is stable, so nearer values still
                // precede others.
                found.sort_by_key(|it| !it.detail.starts_with(wanted));
            }
            if found.iter().any(|it| it.label == prefix)
                && let Some(rest) =
                    fill::missing_types(&before, &FillScope::at(document, op, offset))
            {
                found.insert(0, types_of_operands(format!("{prefix}{rest}")));
            }
            found
        }
        (Some('^'), Some(op)) => blocks(ir, op),
        (Some('@'), _) => symbols(document),
        (Some('!'), _) => types(ir, at, line_start, prefix),
        (Some('#'), Some(op)) => {
            let anywhere = is_after_loc(&before[..word_start - start]);
            aliases(ir, op, (!anywhere).then_some(line_start), prefix)
        }
        (None, _) if is_in_attributes(&before[..word_start - start]) => attributes(),
        (None, _) if is_start_of_op(&before[..word_start - start]) => {
            let is_top_level = is_top_level(ir, at, offset);
            let has_result = before[..word_start - start].contains('=');
            let result = (!has_result && !is_top_level).then(|| free_value_name(ir, at));
            let scope =
                at.map_or_else(FillScope::default, |op| FillScope::at(document, op, offset));
            let written = before[..word_start - start].split('=').next().unwrap_or_default().trim();
            ops(is_top_level, result.as_deref(), &scope.without(written))
        }
        (None, Some(op)) if prefix.is_empty() && before.ends_with(' ') => {
            let scope = FillScope::at(document, op, offset);
            let rest = fill::missing_types(before.trim_end(), &scope);
            rest.map(|it| types_of_operands(it.trim_start().to_owned())).into_iter().collect()
        }
        (None, _) if is_after_colon(&before[..word_start - start]) => type_names(),
        _ => Vec::new(),
    };
    proposals.retain(|it| it.label.starts_with(prefix));
    let is_cut = proposals.len() > MAX_PROPOSALS;
    proposals.truncate(MAX_PROPOSALS);
    Completion { range: word_start..offset, proposals, is_incomplete: is_cut }
}

/// A proposal of the types of an op whose operands are already written.
fn types_of_operands(label: String) -> Proposal {
    let detail = "the types of the operands".to_owned();
    Proposal { label, detail, ..Proposal::new(ProposalKind::Type) }
}

/// True if an op may start after this part of a line.
fn is_start_of_op(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with('{')
        || (before.ends_with('=') && before.trim_start().starts_with('%'))
}

/// Prefix of the type of the operand at the cursor, if the row of the op determines it.
fn wanted_type(before: &str) -> Option<&'static str> {
    let body = before.rsplit('=').next()?.trim_start();
    let name = body.split([' ', '\t']).next()?;
    let kind = OpKind::of(name);
    if kind == OpKind::Unknown {
        return None;
    }
    let number = body.matches(',').count();
    match kind.spec().operand_class(number) {
        TypeClass::Noisy => Some("!noisy.i32"),
        TypeClass::I1 | TypeClass::BoolLike => Some("i1"),
        TypeClass::Index | TypeClass::SignlessOrIndex => Some("index"),
        TypeClass::Plain
        | TypeClass::IntLike
        | TypeClass::FixedIntLike
        | TypeClass::IndexCast
        | TypeClass::Integer => Some("i"),
        TypeClass::FloatLike => Some("f"),
        TypeClass::MemRef | TypeClass::RankedMemRef => Some("memref"),
        TypeClass::Vector => Some("vector"),
        TypeClass::Function => Some("("),
        TypeClass::Any | TypeClass::Bits => None,
    }
}

/// True if a type may start after this part of a line.
fn is_after_colon(before: &str) -> bool {
    let before = before.trim_end();
    let is_type = before.ends_with(':') && !before.ends_with("::");
    is_type || before.ends_with("->") || (before.ends_with(['(', ',']) && before.contains(" : "))
}

/// The names of builtin types, and the noisy type.
fn type_names() -> Vec<Proposal> {
    let type_ = |(label, detail, snippet): &(&str, &str, Option<&str>)| Proposal {
        label: (*label).to_owned(),
        detail: (*detail).to_owned(),
        snippet: snippet.map(str::to_owned),
        ..Proposal::new(ProposalKind::Type)
    };
    TYPES.iter().map(type_).collect()
}

/// Types: label, description, text with placeholders.
const TYPES: [(&str, &str, Option<&str>); 15] = [
    ("!noisy.i32", "a 32-bit integer with noise in its low bits", None),
    ("i1", "a bit", None),
    ("i5", "an integer of 5 bits, the widest that can be encoded", None),
    ("i8", "an integer of 8 bits", None),
    ("i16", "an integer of 16 bits", None),
    ("i32", "an integer of 32 bits", None),
    ("i64", "an integer of 64 bits", None),
    ("index", "an integer as wide as an address", None),
    ("f32", "a float of 32 bits", None),
    ("f64", "a float of 64 bits", None),
    ("none", "the type with one value", None),
    ("memref", "memory", Some("memref<${1:4}x${2:i32}>")),
    ("tensor", "a tensor", Some("tensor<${1:4}x${2:i32}>")),
    ("vector", "a vector", Some("vector<${1:4}x${2:i32}>")),
    ("tuple", "a tuple", Some("tuple<${1:i32}>")),
];

/// True if the name of an attribute may start after this part of a line.
fn is_in_attributes(before: &str) -> bool {
    let Some(open) = before.rfind('{') else { return false };
    // Attributes of an argument are inside the parentheses of a signature. Those of an op follow
    // the word `attributes`.
    let count = |c: char| before[..open].matches(c).count();
    let is_open = !before[open..].contains('}') && before.trim_end().ends_with(['{', ',']);
    is_open && (count('(') > count(')') || before[..open].trim_end().ends_with("attributes"))
}

/// The attributes of noisy for arguments and results.
fn attributes() -> Vec<Proposal> {
    vec![
        Proposal {
            label: "noisy.bound".to_owned(),
            detail: "declared bound on the noise of an argument or a result, in bits".to_owned(),
            snippet: Some("noisy.bound = ${1:12} : i64".to_owned()),
            ..Proposal::new(ProposalKind::Attribute)
        },
        Proposal {
            label: "noisy.range".to_owned(),
            detail: "range of the numbers in an argument of a CKKS program of HEIR".to_owned(),
            snippet: Some("noisy.range = [${1:-1.0}, ${2:1.0}]".to_owned()),
            ..Proposal::new(ProposalKind::Attribute)
        },
    ]
}

fn values(document: &Document, op: Op, offset: usize, prefix: &str) -> Vec<Proposal> {
    let ir = document.ir();
    let mut out = Vec::new();
    let wanted = prefix.trim_start_matches('%');
    let mut known = SaturationCache::default();
    visit_values(ir, op, offset, &mut |value| {
        let data = ir.value(value);
        if ir.interner.str(data.name).starts_with(wanted) {
            let is_noisy = document.is_noisy(value);
            out.push(Proposal {
                label: ir.value_text(value),
                detail: ir.interner.short_type_text(data.ty),
                noise: is_noisy.then(|| texts::noise_text(document, value, &mut known)).flatten(),
                ..Proposal::new(ProposalKind::Value)
            });
        }
        out.len() <= MAX_PROPOSALS
    });
    out
}

/// Visits the values in scope, the nearest first, until `visit` returns false.
fn visit_values(ir: &Ir, op: Op, offset: usize, visit: &mut dyn FnMut(Value) -> bool) {
    let mut add = |value: Value| {
        let data = ir.value(value);
        data.span.start >= data.span.end || visit(value)
    };
    let mut at = Some(op);
    let mut n_ops = 0;
    while let Some(inner) = at {
        // The op being written cannot use its own result.
        let mut item = if ir.start(inner) >= offset { ir.prev(inner) } else { Some(inner) };
        let mut is_own = true;
        while let Some(it) = item {
            n_ops += 1;
            if n_ops > MAX_VISITED_OPS
                || (!is_own && !ir.op(it).results.iter().rev().all(|&value| add(value)))
            {
                return;
            }
            is_own = false;
            item = ir.prev(it);
        }
        let parent = ir.parent_op(inner);
        if let Some(parent) = parent
            && !cursor::arguments_in(ir, parent).all(&mut add)
        {
            return;
        }
        at = parent.filter(|&it| ir.op(it).kind != OpKind::FuncFunc);
    }
}

/// Maximum number of candidates for the placeholders of a template.
const MAX_CANDIDATES: usize = 64;

impl FillScope {
    /// The values in scope at an offset, the nearest first.
    fn at(document: &Document, op: Op, offset: usize) -> Self {
        let ir = document.ir();
        let mut out = Self::default();
        visit_values(ir, op, offset, &mut |value| {
            let ty = ir.interner.short_type_text(ir.value(value).ty);
            out.0.push((ir.value_text(value), ty));
            out.0.len() < MAX_CANDIDATES
        });
        out
    }
}

fn blocks(ir: &Ir, op: Op) -> Vec<Proposal> {
    let region = ir.op(op).parent;
    let labels = ir.blocks(region).into_iter().filter_map(|block| ir.block(block).label);
    labels
        .map(|label| Proposal {
            label: format!("^{}", ir.interner.str(ir.op(label).name)),
            ..Proposal::new(ProposalKind::Block)
        })
        .collect()
}

fn symbols(document: &Document) -> Vec<Proposal> {
    let ir = document.ir();
    let mut out = Vec::new();
    let mut regions: Vec<_> =
        ir.items(ir.root()).flat_map(|it| ir.op(it).regions.clone()).collect();
    while let Some((_, region)) = regions.pop() {
        for op in ir.items(region) {
            if let Some((name, _)) = ir.extra(op).symbol {
                let name = ir.interner.str(name);
                let label = if is_bare_id(name) {
                    format!("@{name}")
                } else {
                    format!("@{}", quoted(name))
                };
                let detail = ir.op_name(op).to_owned();
                out.push(Proposal { label, detail, ..Proposal::new(ProposalKind::Symbol) });
            }
            if ir.op(op).kind == OpKind::BuiltinModule {
                regions.extend(ir.op(op).regions.iter().copied());
            }
            if out.len() > 10 * MAX_PROPOSALS {
                return out;
            }
        }
    }
    out
}

fn types(ir: &Ir, at: Option<Op>, before: usize, prefix: &str) -> Vec<Proposal> {
    let mut out = type_names();
    out.retain(|it| it.label.starts_with('!'));
    out.extend(at.into_iter().flat_map(|op| aliases(ir, op, Some(before), prefix)));
    out
}

/// The aliases in the chunk of an op. Their names, with the sigil, start with `prefix`. If an
/// offset `before` is given, they are defined before it.
fn aliases(ir: &Ir, from: Op, before: Option<usize>, prefix: &str) -> Vec<Proposal> {
    let (wanted, kind) = if prefix.starts_with('!') {
        (OpKind::TypeAlias, ProposalKind::Type)
    } else {
        (OpKind::AttrAlias, ProposalKind::Attribute)
    };
    let regions = ir.op(ir.chunk_of(from)).regions.iter();
    regions
        .flat_map(|it| ir.items(it.1))
        .filter(|&op| ir.op(op).kind == wanted)
        .take_while(|&op| before.is_none_or(|it| ir.start(op) + ir.item_len(op) <= it))
        .map(|op| ir.interner.str(ir.op(op).name))
        .filter(|name| name.starts_with(prefix))
        .take(MAX_PROPOSALS + 1)
        .map(|name| Proposal { label: name.to_owned(), ..Proposal::new(kind) })
        .collect()
}

/// True if this part of a line ends where the location of an op or argument starts. An alias there
/// may be defined later.
fn is_after_loc(before: &str) -> bool {
    let before = before.trim_end().strip_suffix("loc(");
    before.is_some_and(|it| !it.trim_end().ends_with(['=', ',', '[', '(']))
}

/// The ops that may be in a function, or at the top level. `result` is the name of their result,
/// unless the line already has one.
fn ops(is_top_level: bool, result: Option<&str>, scope: &FillScope) -> Vec<Proposal> {
    let of_top = Traits::SYMBOL | Traits::SYMBOL_TABLE;
    let defines_symbol = |kind: &OpKind| kind.spec().traits.intersects(of_top);
    let mut out: Vec<_> = dialect::ops()
        .filter(|kind| defines_symbol(kind) == is_top_level)
        .map(|kind| {
            let name = kind.spec().name;
            Proposal {
                label: name.to_owned(),
                detail: first_sentence(kind.spec().doc),
                snippet: snippet::snippet(name, result, scope),
                ..Proposal::new(ProposalKind::Op)
            }
        })
        .collect();
    let is_main = |name: &str| name.starts_with("noisy.") || name == "func.func";
    out.sort_by_key(|it| (!is_main(&it.label), it.label.clone()));
    out
}

/// True if an offset is outside of all functions.
fn is_top_level(ir: &Ir, at: Option<Op>, offset: usize) -> bool {
    let Some(op) = at else { return true };
    let item = WalkedItem { op, start: ir.start(op), depth: 0 };
    let is_inside =
        region_ranges(ir, item).iter().any(|it| it.1.start <= offset && offset <= it.1.end);
    let container = if is_inside { Some(op) } else { ir.parent_op(op) };
    container.is_none_or(|it| matches!(ir.op(it).kind, OpKind::Chunk | OpKind::BuiltinModule))
}

/// The value name with the smallest number that is free in the function around an op.
fn free_value_name(ir: &Ir, at: Option<Op>) -> String {
    let is_in_module = |op: Op| {
        let parent = ir.parent_op(op).map(|it| ir.op(it).kind);
        parent.is_none_or(|it| matches!(it, OpKind::Chunk | OpKind::BuiltinModule))
    };
    let mut around = std::iter::successors(at, |&op| ir.parent_op(op));
    let mut taken = FxHashSet::default();
    let mut add = |value: Value| {
        taken.extend(ir.interner.str(ir.value(value).name).parse::<u32>().ok());
    };
    if let Some(function) = around.find(|&it| is_in_module(it)) {
        let (_, mut walk) = ItemWalk::starting_at(ir, ir.start(function));
        let end = ir.start(function) + ir.item_len(function);
        while let Some(item) = walk.next(ir).filter(|it| it.start < end) {
            ir.op(item.op).results.iter().copied().for_each(&mut add);
            cursor::arguments_in(ir, item.op).for_each(&mut add);
        }
    }
    let free = (0..=u32::MAX).find(|it| !taken.contains(it));
    format!("%{}", free.unwrap_or_default())
}

/// The first sentence of the documentation of an op.
pub(crate) fn first_sentence(doc: &str) -> String {
    let doc = texts::join_lines(doc);
    doc.split_inclusive('.').next().unwrap_or_default().to_owned()
}

/// The documentation of a proposed op or type.
pub(crate) fn documentation(label: &str) -> Option<String> {
    if let Some((_, detail, _)) = TYPES.iter().find(|it| it.0 == label) {
        return Some((*detail).to_owned());
    }
    let doc = texts::join_lines(OpKind::of(label).spec().doc);
    (!doc.is_empty()).then_some(doc)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels of the first `n` proposals at `$0`.
    fn first(text: &str, n: usize) -> Vec<String> {
        let at = text.find("$0").unwrap_or_default();
        let document = Document::new(&text.replacen("$0", "", 1));
        completion(&document, at).proposals.into_iter().take(n).map(|it| it.label).collect()
    }

    #[test]
    fn values_of_the_wanted_type_come_first() {
        let text = |last: &str| {
            format!(
                "func.func @f(%n: !noisy.i32, %i: i5) {{\n  %m = noisy.add %n, %n : !noisy.i32\n  %j = arith.addi %i, %i : i5\n  {last}\n  return\n}}\n"
            )
        };
        assert_eq!(first(&text("%r = noisy.add %$0"), 2), ["%m", "%n"]);
        assert_eq!(first(&text("%r = noisy.encode %$0"), 2), ["%j", "%i"]);
        assert_eq!(first(&text("%r = noisy.add %m, %$0"), 1), ["%m"]);
    }

    #[test]
    fn proposes_ops_that_are_registered_at_run_time() {
        let mut row = dialect::OpSpec::PURE;
        row.name = "registered.twice";
        row.doc = "Doubles an integer. It has a row that no one compiled in.";
        row.operands = dialect::CountRange::exactly(1);
        row.results = dialect::CountRange::exactly(1);
        row.syntax = &[
            dialect::Element::Operands(1),
            dialect::COLON,
            dialect::Element::TypeOf(dialect::TypeBinding::All),
        ];
        dialect::register(row).unwrap();
        let proposals = ops(false, None, &FillScope::default());
        let found = proposals.iter().find(|it| it.label == "registered.twice").unwrap();
        assert_eq!(found.detail, "Doubles an integer.");
        let snippet =
            snippet::snippet("registered.twice", Some("%r"), &FillScope::default()).unwrap();
        assert!(snippet.contains("registered.twice ${"), "{snippet}");
        let text = "func.func @f(%a: i32) {\n  %r = registered.twice %a : i32\n  return\n}\n";
        let document = Document::new(text);
        assert!(document.diagnostics().iter().all(|it| it.code == "unused-op"));
        let at = text.find("registered").unwrap();
        let hover = crate::features::read::hover::hover(
            &document,
            at,
            noisy_settings::LoopSettings::default(),
        );
        assert!(hover.unwrap().text.contains("Doubles an integer."));
    }

    #[test]
    fn proposes_types_after_a_colon_and_attributes_in_braces() {
        assert_eq!(first("%0 = arith.addi %a, %b : i$0", 3), ["i1", "i5", "i8"]);
        assert_eq!(first("%0 = noisy.add %a, %b : !$0", 1), ["!noisy.i32"]);
        assert_eq!(first("func.func @f(%a: !noisy.i32 {noi$0", 1), ["noisy.bound"]);
        assert!(first("\"a::$0", 9).is_empty());
    }

    #[test]
    fn proposes_only_usable_aliases() {
        let text = |line: &str| {
            format!(
                "#a = 1 : i32\n#la = loc(unknown)\n!t = i32\n{line}\n#b = 2 : i32\n#lb = loc(unknown)\n!u = i64\n// -----\n#c = 3 : i32\n"
            )
        };
        for (line, wanted) in [
            ("#n = #$0", &["#a", "#la"][..]),
            ("#n = [#l$0", &["#la"]),
            ("#n = loc(#$0", &["#a", "#la"]),
            ("!n = !$0", &["!noisy.i32", "!t"]),
            ("\"t.x\"() {a = #$0", &["#a", "#la"]),
            ("\"t.x\"() {a = loc(#$0", &["#a", "#la"]),
            ("\"t.x\"() : () -> () loc(#l$0)", &["#la", "#lb"]),
        ] {
            assert_eq!(first(&text(line), 9), wanted, "{line}");
        }
    }

    /// The name of the result in the proposal of `noisy.add` at `$0`. Before the request, each word
    /// in `typed` is inserted and removed again.
    fn result(text: &str, typed: &[&str]) -> String {
        let at = text.find("$0").unwrap_or_default();
        let mut document = Document::new(&text.replacen("$0", "", 1));
        for word in typed {
            document.edit(at..at, word);
            document.edit(at..at + word.len(), "");
        }
        let found = completion(&document, at).proposals;
        let add = found.into_iter().find(|it| it.label == "noisy.add");
        let snippet = add.and_then(|it| it.snippet).unwrap_or_default();
        snippet.split(" = ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn a_new_name_depends_on_what_the_function_defines_now() {
        for (text, wanted) in [
            ("func.func @f(%a: !noisy.i32) {\n  $0\n  return\n}\n", "${1:%0}"),
            ("func.func @f(%0: !noisy.i32, %2: i1) {\n  $0\n  return\n}\n", "${1:%1}"),
            (
                "func.func @g(%0: i1) {\n  return\n}\nfunc.func @f(%c: i1) {\n  scf.if %c {\n    %0 = arith.constant 1 : i5\n  }\n  $0\n  return\n^bb1(%1: i5):\n  return\n}\n",
                "${1:%2}",
            ),
        ] {
            assert_eq!(result(text, &[]), wanted, "{text}");
            assert_eq!(result(text, &["%0", "%1", "%2", "%3"]), wanted, "edited: {text}");
        }
    }
}

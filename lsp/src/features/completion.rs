//! Completion: values in scope, blocks, symbols, types and aliases by their sigil, and ops where an op may stand.

use std::ops::Range;

use noisy_analyses::Document;
use noisy_syntax::dialect::{self, OpKind};
use noisy_syntax::{Ir, Op, Value};

use super::cursor;

/// What is completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An op.
    Op,
    /// A value.
    Value,
    /// A block.
    Block,
    /// A symbol.
    Symbol,
    /// A type.
    Type,
    /// An attribute alias.
    Attribute,
}

/// One proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proposal {
    /// What it is.
    pub kind: Kind,
    /// The text that it stands for.
    pub label: String,
    /// More about it.
    pub detail: String,
    /// The text with placeholders, if it has any.
    pub snippet: Option<String>,
}

/// All proposals for a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Completion {
    /// What they replace, in bytes.
    pub range: Range<usize>,
    /// The proposals, the best first.
    pub proposals: Vec<Proposal>,
    /// There are more.
    pub is_cut: bool,
}

/// No more proposals than this.
const MAX: usize = 200;
/// Not more ops than this are looked at for values.
const MAX_OPS: usize = 4000;

/// What may stand at an offset.
pub(crate) fn completion(document: &Document, offset: usize) -> Completion {
    let rope = document.source().text();
    let line = rope.byte_to_line(offset);
    // A line may be megabytes long.
    let start = rope.line_to_byte(line).max(offset.saturating_sub(2000));
    let start = rope.char_to_byte(rope.byte_to_char(start));
    let before = document.source().slice(start..offset);
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
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
        (Some('%'), Some(op)) => values(document, op, offset, prefix),
        (Some('^'), Some(op)) => blocks(ir, op),
        (Some('@'), _) => symbols(document),
        (Some('!'), _) => types(document),
        (Some('#'), _) => aliases(document, '#'),
        (None, _) if starts_op(&before[..word_start - start]) => ops(),
        _ => Vec::new(),
    };
    proposals.retain(|it| it.label.starts_with(prefix));
    let is_cut = proposals.len() > MAX;
    proposals.truncate(MAX);
    Completion { range: word_start..offset, proposals, is_cut }
}

/// Whether an op may start behind this part of a line.
fn starts_op(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty()
        || before.ends_with('{')
        || (before.ends_with('=') && before.trim_start().starts_with('%'))
}

fn values(document: &Document, op: Op, offset: usize, prefix: &str) -> Vec<Proposal> {
    let ir = document.ir();
    let mut out = Vec::new();
    let wanted = prefix.trim_start_matches('%');
    let mut add = |value: Value| {
        let data = ir.value(value);
        if ir.interner.str(data.name).starts_with(wanted) && data.span.start < data.span.end {
            let noise = document.noise(value);
            let ty = ir.interner.type_text(data.ty);
            let detail = if document.is_noisy(value) { format!("{ty} {noise}") } else { ty };
            out.push(Proposal {
                kind: Kind::Value,
                label: ir.value_text(value),
                detail,
                snippet: None,
            });
        }
        out.len() <= MAX
    };
    let mut at = Some(op);
    let mut n_ops = 0;
    while let Some(inner) = at {
        // The op that is being written defines nothing yet that it could use.
        let mut item = if ir.start(inner) >= offset { ir.prev(inner) } else { Some(inner) };
        let mut is_own = true;
        while let Some(it) = item {
            n_ops += 1;
            if n_ops > MAX_OPS {
                return out;
            }
            if !is_own && !ir.op(it).results.iter().rev().all(|&value| add(value)) {
                return out;
            }
            is_own = false;
            item = ir.prev(it);
        }
        let parent = ir.parent_op(inner);
        if let Some(parent) = parent
            && !cursor::arguments_in(ir, parent).all(&mut add)
        {
            return out;
        }
        at = parent.filter(|&it| ir.op(it).kind != OpKind::FuncFunc);
    }
    out
}

fn blocks(ir: &Ir, op: Op) -> Vec<Proposal> {
    let region = ir.op(op).parent;
    let labels = ir.blocks(region).into_iter().filter_map(|block| ir.block(block).label);
    labels
        .map(|label| Proposal {
            kind: Kind::Block,
            label: format!("^{}", ir.interner.str(ir.op(label).name)),
            detail: String::new(),
            snippet: None,
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
            if let Some((name, _)) = ir.rest(op).symbol {
                let label = format!("@{}", ir.interner.str(name));
                let detail = ir.op_name(op).to_owned();
                out.push(Proposal { kind: Kind::Symbol, label, detail, snippet: None });
            }
            if ir.op(op).kind == OpKind::BuiltinModule {
                regions.extend(ir.op(op).regions.iter().copied());
            }
            if out.len() > 10 * MAX {
                return out;
            }
        }
    }
    out
}

fn types(document: &Document) -> Vec<Proposal> {
    let noisy = Proposal {
        kind: Kind::Type,
        label: "!noisy.i32".to_owned(),
        detail: "a 32-bit integer with noise in its low bits".to_owned(),
        snippet: None,
    };
    let mut out = vec![noisy];
    out.extend(aliases(document, '!'));
    out
}

fn aliases(document: &Document, sigil: char) -> Vec<Proposal> {
    let ir = document.ir();
    let (wanted, kind) = match sigil {
        '!' => (OpKind::TypeAlias, Kind::Type),
        _ => (OpKind::AttrAlias, Kind::Attribute),
    };
    let chunks = ir.items(ir.root()).flat_map(|it| ir.op(it).regions.clone());
    let items = chunks.flat_map(|(_, region)| ir.items(region));
    items
        .filter(|&op| ir.op(op).kind == wanted)
        .map(|op| {
            let name = ir.interner.str(ir.op(op).name).trim_start_matches(['!', '#']);
            Proposal { kind, label: format!("{sigil}{name}"), detail: String::new(), snippet: None }
        })
        .take(MAX)
        .collect()
}

fn ops() -> Vec<Proposal> {
    let mut out: Vec<_> = dialect::ALL
        .iter()
        .map(|kind| {
            let name = kind.spec().name;
            Proposal {
                kind: Kind::Op,
                label: name.to_owned(),
                detail: first_sentence(kind.spec().doc),
                snippet: snippet(name),
            }
        })
        .collect();
    out.sort_by_key(|it| (!it.label.starts_with("noisy."), it.label.clone()));
    out
}

fn first_sentence(doc: &str) -> String {
    doc.trim().split_inclusive(['.', '\n']).next().unwrap_or_default().trim().to_owned()
}

/// How an op is written, with placeholders.
pub(crate) fn snippet(name: &str) -> Option<String> {
    let text = match name {
        "noisy.encode" => "noisy.encode ${1:%x} : ${2:i5} -> !noisy.i32",
        "noisy.decode" => "noisy.decode ${1:%a} : !noisy.i32 -> ${2:i5}",
        "noisy.reduce_noise" => "noisy.reduce_noise ${1:%a} : !noisy.i32",
        "noisy.add" => "noisy.add ${1:%a}, ${2:%b} : !noisy.i32",
        "noisy.sub" => "noisy.sub ${1:%a}, ${2:%b} : !noisy.i32",
        "noisy.mul" => "noisy.mul ${1:%a}, ${2:%b} : !noisy.i32",
        "func.func" => "func.func @${1:name}(${2:%a: !noisy.i32}) -> ${3:!noisy.i32} {\n  $0\n}",
        "func.call" => "func.call @${1:name}($2) : ($3) -> $4",
        "scf.for" => "scf.for ${1:%i} = ${2:%lb} to ${3:%ub} step ${4:%step} {\n  $0\n}",
        "scf.if" => "scf.if ${1:%condition} {\n  $0\n}",
        "arith.constant" => "arith.constant ${1:0} : ${2:i5}",
        _ => return None,
    };
    Some(text.to_owned())
}

/// The documentation of an op that was proposed.
pub(crate) fn documentation(label: &str) -> Option<&'static str> {
    let doc = OpKind::of(label).spec().doc.trim();
    (!doc.is_empty()).then_some(doc)
}

//! Printed forms of every stage (tokens, tree, IR), for people and for tests that compare stages.

use std::fmt::Write as _;

use crate::lex::lex;
use crate::{Def, Ir, Op, OpKind, Region, Source, TokenKind, Value};

/// Prints one line for each token: range, kind, text. Trivia are `..` lines, so the texts of all
/// lines, joined, are the file.
pub fn tokens(text: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    for token in lex(text).tokens {
        let range = token.range();
        if range.start > at {
            let _ = writeln!(out, "{at}..{} .. {:?}", range.start, &text[at..range.start]);
        }
        at = range.end;
        if token.kind != TokenKind::Eof {
            let _ = writeln!(
                out,
                "{}..{} {:?} {:?}",
                range.start,
                range.end,
                token.kind,
                &text[token.range()]
            );
        }
    }
    out
}

/// Prints the items, nested by regions: the range and the own text of each item, on one line.
pub fn tree(source: &Source) -> String {
    let mut out = String::new();
    tree_of(source, source.ir().root(), 0, &mut out);
    out
}

fn tree_of(source: &Source, region: Region, depth: usize, out: &mut String) {
    let ir = source.ir();
    let indent = "  ".repeat(depth);
    for op in ir.items(region) {
        let data = ir.op(op);
        let range = ir.range(op);
        let head = source.slice(ir.head_range(op));
        let what = match data.kind {
            OpKind::Chunk => "chunk",
            OpKind::Label => "label",
            OpKind::TypeAlias | OpKind::AttrAlias => "alias",
            OpKind::Resources => "resources",
            OpKind::Junk => "junk",
            _ => "op",
        };
        let _ =
            writeln!(out, "{indent}{}..{} {what} {:?} {head:?}", range.start, range.end, data.form);
        for &(_, inner) in &data.regions {
            let start = ir.region_start(inner);
            let _ = writeln!(out, "{indent}  {}..{} region", start, start + ir.region_len(inner));
            tree_of(source, inner, depth + 2, out);
        }
    }
}

/// Prints the ops with the definitions of their operands and the types of their results.
pub fn ir(source: &Source) -> String {
    let mut out = String::new();
    ir_of(source, source.ir().root(), 0, &mut out);
    out
}

fn ir_of(source: &Source, region: Region, depth: usize, out: &mut String) {
    let ir = source.ir();
    let indent = "  ".repeat(depth);
    for op in ir.items(region) {
        let data = ir.op(op);
        match data.kind {
            OpKind::Chunk => {}
            OpKind::Label => {
                let args: Vec<String> = data.results.iter().map(|&it| typed(ir, it)).collect();
                let _ = writeln!(out, "{indent}^{}({}):", ir.op_name(op), args.join(", "));
                continue;
            }
            _ if !data.kind.is_op() => {
                let _ = writeln!(out, "{indent}{:?} {}", data.kind, ir.op_name(op));
                continue;
            }
            _ => {
                let results: Vec<String> = data.results.iter().map(|&it| typed(ir, it)).collect();
                let operands: Vec<String> =
                    (0..data.operands.len()).map(|n| operand(ir, op, n)).collect();
                let _ = write!(out, "{indent}{op:?}: ");
                if !results.is_empty() {
                    let _ = write!(out, "{} = ", results.join(", "));
                }
                let _ = write!(out, "{}({})", ir.op_name(op), operands.join(", "));
                let extra = ir.extra(op);
                for successor in &extra.successors {
                    let _ = write!(out, " ^{}", ir.interner.str(successor.name));
                }
                for &(name, attr) in &extra.attrs {
                    let _ = write!(
                        out,
                        " {}={}",
                        ir.interner.str(name),
                        ir.interner.short_attr_text(attr)
                    );
                }
                let _ = writeln!(out, " {:?}", data.form);
            }
        }
        for &(_, inner) in &data.regions {
            let args: Vec<String> =
                ir.block(ir.region(inner).entry).args.iter().map(|&it| typed(ir, it)).collect();
            if data.kind != OpKind::Chunk {
                let _ = writeln!(out, "{indent}  region({})", args.join(", "));
            }
            ir_of(source, inner, depth + 2 * usize::from(data.kind != OpKind::Chunk), out);
        }
    }
}

fn typed(ir: &Ir, value: Value) -> String {
    let data = ir.value(value);
    let guess = if data.is_guessed { "?" } else { "" };
    format!("{} : {}{guess}", ir.value_text(value), ir.interner.short_type_text(data.ty))
}

fn operand(ir: &Ir, op: Op, index: usize) -> String {
    let operand = &ir.op(op).operands[index];
    match operand.value {
        None => format!("%{} : undefined", ir.interner.str(operand.name)),
        Some(value) => match ir.value(value).def {
            Def::Result(def, _) => format!("{} of {def:?}", ir.value_text(value)),
            Def::Argument(..) => ir.value_text(value),
        },
    }
}

//! Functions for tests and fuzz targets that check laws: a printed form of the whole IR, which
//! compares documents, and a check of ranges.

use std::fmt::Write as _;

use crate::{Alias, Def, Ir, Op, Region, Source, Value};

/// Prints the whole IR by positions and structure, without ids: equal documents give equal texts.
pub fn fingerprint(source: &Source) -> String {
    let mut out = String::new();
    let ir = source.ir();
    region(source, ir.root(), &mut out);
    for (op, range, problem) in source.problems() {
        let _ =
            writeln!(out, "{range:?} {} {} in {}", problem.code, problem.message, ir.op_name(op));
    }
    // All verdicts, including those that are not reported as problems.
    let mut verdicts: Vec<String> = source
        .verdicts()
        .iter()
        .map(|(op, it)| format!("{} {} {it:?}", ir.start(op), ir.op_name(op)))
        .collect();
    verdicts.sort_unstable();
    out + &verdicts.join("\n")
}

fn region(source: &Source, at: Region, out: &mut String) {
    let ir = source.ir();
    let data = ir.region(at);
    let start = ir.region_start(at);
    let _ = writeln!(
        out,
        "region {start}+{} tail {} closed {}",
        ir.region_len(at),
        data.tail_len,
        data.is_closed
    );
    let args: Vec<String> = ir.block(data.entry).args.iter().map(|&it| value(ir, it)).collect();
    let _ = writeln!(out, "entry {args:?} preds {:?}", preds(ir, &ir.block(data.entry).preds));
    for op in ir.items(at) {
        let data = ir.op(op);
        let _ = writeln!(
            out,
            "{:?} {:?} {} at {}+{} lead {} own {} name {:?}",
            data.kind,
            data.form,
            ir.op_name(op),
            ir.start(op),
            ir.item_len(op),
            data.lead_len,
            data.own_len,
            ir.name_range(op)
        );
        for &it in &data.results {
            let _ = writeln!(out, "  result {}", value(ir, it));
        }
        for operand in &data.operands {
            let to = operand.value.map(|it| value_id(ir, it));
            let text = source.slice(ir.absolute(op, operand.span));
            let ty = ir.interner.type_text(operand.ty);
            let _ = writeln!(out, "  operand {text} : {ty} -> {to:?}");
        }
        for successor in &ir.extra(op).successors {
            let to = successor.block.map(|it| ir.block(it).label.map(|it| ir.start(it)));
            let _ = writeln!(out, "  successor {} -> {to:?}", ir.interner.str(successor.name));
        }
        if let Some((name, span)) = ir.extra(op).symbol {
            let _ = writeln!(out, "  symbol {} {:?}", ir.interner.str(name), ir.absolute(op, span));
        }
        let extra = ir.extra(op);
        for &(name, attr) in &extra.attrs {
            let (name, attr) = (ir.interner.str(name), ir.interner.attr_text(attr));
            let _ = writeln!(out, "  {name} = {attr}");
        }
        for attr in extra.argument_attrs.iter().flatten() {
            let _ = writeln!(out, "  argument {}", ir.interner.attr_text(*attr));
        }
        for &(last, first, span) in &extra.symbol_uses {
            let names = [last, first].map(|it| ir.interner.str(it));
            let _ = writeln!(out, "  names {names:?} {:?}", ir.absolute(op, span));
        }
        for it in &extra.alias_uses {
            let name = ir.interner.str(it.name);
            let at = ir.absolute(op, it.span);
            let _ = writeln!(out, "  names {name} {at:?} {} {:?}", it.is_location, {
                ir.alias(op, it.name).map(|it| alias(ir, it))
            });
        }
        if let Some(it) = extra.alias {
            let _ = writeln!(out, "  stands for {}", alias(ir, it));
        }
        for &(_, inner) in &data.regions {
            region(source, inner, out);
        }
    }
}

fn alias(ir: &Ir, it: Alias) -> String {
    match it {
        Alias::Type(ty) => ir.interner.type_text(ty),
        Alias::Attr(attr) => ir.interner.attr_text(attr),
    }
}

fn preds(ir: &Ir, preds: &[(Op, u32)]) -> Vec<(usize, u32)> {
    let mut out: Vec<(usize, u32)> = preds.iter().map(|&(op, n)| (ir.start(op), n)).collect();
    out.sort_unstable();
    out
}

/// Identifies a value by the position of its definition.
fn value_id(ir: &Ir, value: Value) -> String {
    let data = ir.value(value);
    let at = ir.definition_site(value).map(|op| ir.absolute(op, data.span));
    let kind = match data.def {
        Def::Result(..) => "result",
        Def::Argument(..) => "argument",
    };
    format!("%{} {kind} {at:?} #{}", ir.interner.str(data.name), data.number)
}

fn value(ir: &Ir, it: Value) -> String {
    let data = ir.value(it);
    let uses = preds(ir, &data.uses);
    let guess = if data.is_guessed { "perhaps " } else { "" };
    format!("{} {guess}{} uses {uses:?}", value_id(ir, it), ir.interner.type_text(data.ty))
}

/// Checks that the lengths of all items add up to the text, and that all names are found at their
/// spans.
///
/// # Panics
/// If a check fails.
pub fn check_ranges(source: &Source) {
    let ir = source.ir();
    let len = source.text().len_bytes();
    assert_eq!(ir.region_len(ir.root()), len, "lengths add up to the text");
    let mut ops = Vec::new();
    ir.walk(ir.root(), &mut |op| ops.push(op));
    for op in ops {
        for operand in &ir.op(op).operands {
            let text = source.slice(ir.absolute(op, operand.span));
            let name = ir.interner.str(operand.name);
            assert!(text.starts_with(&format!("%{name}")), "{text:?} is not %{name}");
        }
        for result in &ir.op(op).result_names {
            let text = source.slice(ir.absolute(op, result.span));
            assert_eq!(text, format!("%{}", ir.interner.str(result.name)));
        }
    }
}

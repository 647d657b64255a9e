//! `symbol-dce`, `symbol-privatize`: removal of unreachable symbols, and visibility.

use noisy_syntax::{AttrData, Ir, Name, Op, Region, Traits};
use rustc_hash::FxHashSet;

use super::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};
use crate::rewrite::nested;

pub(super) const PASSES: &[PassInfo] = &[
    PassInfo {
        name: "symbol-dce",
        class: "SymbolDCE",
        anchor: None,
        summary: "Eliminate dead symbols",
        options: &[],
        run: dce,
    },
    PassInfo {
        name: "symbol-privatize",
        class: "SymbolPrivatize",
        anchor: None,
        summary: "Mark symbols private",
        options: &[OptionInfo {
            name: "exclude",
            default: "",
            kind: OptionKind::Text,
            summary: "Comma separated list of symbols that should not be marked private",
        }],
        run: privatize,
    },
];

/// Returns the visibility of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visibility {
    Public,
    Private,
    Nested,
}

pub(super) fn visibility(ir: &Ir, op: Op) -> Visibility {
    let attr = ir.attr(op, "sym_visibility").map(|it| ir.interner.attr_data(it));
    match attr {
        Some(AttrData::String(name, _)) => match ir.interner.str(*name) {
            "private" => Visibility::Private,
            "nested" => Visibility::Nested,
            _ => Visibility::Public,
        },
        _ => Visibility::Public,
    }
}

/// Returns the name of an op that defines a symbol.
pub(super) fn symbol(ir: &Ir, op: Op) -> Option<Name> {
    ir.extra(op).symbol.map(|it| it.0)
}

/// Returns true if an op is a symbol table. An unknown op may be one.
fn is_table(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind.has(Traits::SYMBOL_TABLE)
}

fn dce(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    if !is_table(cx.ir, op) {
        return Err(Failure(Some(
            "was scheduled to run under SymbolDCE, but does not define a symbol table".to_owned(),
        )));
    }
    // True if the table itself is visible from outside.
    let is_seen = match cx.ir.parent_op(op).filter(|&it| cx.ir.op(it).kind.is_op()) {
        None => false,
        Some(_) => visibility(cx.ir, op) != Visibility::Private,
    };
    let mut live: FxHashSet<Op> = FxHashSet::default();
    let mut stack: Vec<Op> = Vec::new();
    roots(cx.ir, op, is_seen, &mut live, &mut stack);
    while let Some(it) = stack.pop() {
        // Contents of a table are live for their own reasons.
        let inside = if is_table(cx.ir, it) { Vec::new() } else { nested(cx.ir, it) };
        for user in std::iter::once(it).chain(inside) {
            for target in uses(cx.ir, user) {
                if live.insert(target) {
                    stack.push(target);
                    // Symbols of a live table may be reached through it.
                    if is_table(cx.ir, target) {
                        roots(cx.ir, target, true, &mut live, &mut stack);
                    }
                }
            }
        }
    }
    let mut dead = Vec::new();
    collect_dead(cx.ir, op, &live, &mut dead);
    let n = dead.len();
    for it in dead {
        cx.ir.erase(it).map_err(|it| Failure(Some(it.to_string())))?;
    }
    cx.count("num-dce'd - Number of symbols DCE'd", n);
    Ok(())
}

/// Returns the roots of a table: visible symbols, and ops that are no symbols.
fn roots(ir: &Ir, table: Op, is_seen: bool, live: &mut FxHashSet<Op>, stack: &mut Vec<Op>) {
    for &(_, region) in &ir.op(table).regions {
        for op in ir.items(region).filter(|&it| ir.op(it).kind.is_op()) {
            let is_live = match symbol(ir, op) {
                None => true,
                Some(_) => match visibility(ir, op) {
                    Visibility::Private => false,
                    Visibility::Nested => is_seen,
                    Visibility::Public => true,
                },
            };
            if is_live && live.insert(op) {
                stack.push(op);
                if is_table(ir, op) {
                    let is_seen = is_seen && visibility(ir, op) != Visibility::Private;
                    roots(ir, op, is_seen, live, stack);
                }
            }
        }
    }
}

/// Returns the symbols that an op references, each name of a path in its table.
fn uses(ir: &Ir, op: Op) -> Vec<Op> {
    let mut out = Vec::new();
    for path in ir.interner.symbols_in(ir.extra(op).attrs.iter().map(|it| it.1)) {
        let Some((&first, rest)) = path.split_first() else { continue };
        let mut at = ir
            .resolve_symbol(op, first)
            .or_else(|| symbol(ir, op).filter(|&it| it == first).map(|_| op));
        out.extend(at);
        for &name in rest {
            at = at.and_then(|it| {
                let region: Region = ir.op(it).regions.first()?.1;
                ir.symbol_defs(region, name).first().copied()
            });
            out.extend(at);
        }
    }
    out
}

fn collect_dead(ir: &Ir, table: Op, live: &FxHashSet<Op>, out: &mut Vec<Op>) {
    for &(_, region) in &ir.op(table).regions {
        for op in ir.items(region).filter(|&it| ir.op(it).kind.is_op()) {
            if symbol(ir, op).is_some() && !live.contains(&op) {
                out.push(op);
                continue;
            }
            for inner in std::iter::once(op).chain(nested(ir, op)) {
                if is_table(ir, inner) && inner != table {
                    collect_dead(ir, inner, live, out);
                    break;
                }
            }
        }
    }
}

fn privatize(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let spared: Vec<&str> = options.text("exclude").split(',').map(str::trim).collect();
    let mut found = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        for it in cx.ir.items(region) {
            if let Some(name) = symbol(cx.ir, it)
                && !spared.contains(&cx.ir.interner.str(name))
            {
                found.push(it);
            }
        }
    }
    let name = cx.ir.interner.name("private");
    let attr = cx.ir.interner.attr(AttrData::String(name, None));
    for it in found {
        cx.ir.set_attr(it, "sym_visibility", attr);
    }
    Ok(())
}

//! `symbol-dce` and `symbol-privatize`: removal of unused symbols, and visibility.

use noisy_syntax::{AttrData, Ir, Name, Op, OpKind, Traits};
use rustc_hash::FxHashSet;

use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};

pub(crate) const PASSES: &[PassInfo] = &[
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

/// The visibility of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Public,
    Private,
    Nested,
}

pub(crate) fn visibility(ir: &Ir, op: Op) -> Visibility {
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

/// Returns the symbol that an op defines.
pub(crate) fn symbol_name(ir: &Ir, op: Op) -> Option<Name> {
    ir.extra(op).symbol.map(|it| it.0)
}

/// Returns true if an op is known to be a symbol table. An unknown op may be a symbol table as
/// well.
fn is_table(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind.has(Traits::SYMBOL_TABLE)
}

/// Returns true if a pass may erase a symbol or change its visibility, given its uses. The op must
/// be a known symbol, and no enclosing op may be unknown: an unknown op may refer to symbols in its
/// regions in ways that the text does not show.
pub(crate) fn is_owned(ir: &Ir, op: Op) -> bool {
    let mut around = std::iter::successors(ir.parent_op(op), |&it| ir.parent_op(it))
        .filter(|&it| ir.op(it).kind.is_op());
    ir.op(op).kind.has(Traits::SYMBOL)
        && ir.parent_op(op).is_some_and(|it| is_table(ir, it) || !ir.op(it).kind.is_op())
        && around.all(|it| ir.op(it).kind != OpKind::Unknown)
}

fn dce(cx: &mut PassContext<'_>, op: Op, _: &PassOptions) -> Result<(), PassFailure> {
    if !is_table(cx.ir, op) {
        return Err(PassFailure(Some(
            "was scheduled to run under SymbolDCE, but does not define a symbol table".to_owned(),
        )));
    }
    // Other tables may refer to symbols in this one, unless it is the outermost op.
    let is_seen = match cx.ir.parent_op(op).filter(|&it| cx.ir.op(it).kind.is_op()) {
        None => false,
        Some(_) => visibility(cx.ir, op) != Visibility::Private,
    };
    let mut live = LiveSymbols::default();
    live.add_table(cx.ir, op, is_seen);
    live.propagate(cx.ir);
    let mut dead = Vec::new();
    collect_dead(cx.ir, op, &live.symbols, &mut dead);
    let n = dead.len();
    for it in dead {
        cx.ir.erase(it).map_err(|it| PassFailure(Some(it.to_string())))?;
    }
    cx.add_statistic("num-dce'd - Number of symbols DCE'd", n);
    Ok(())
}

/// The live ops, and those that are still to be visited.
#[derive(Default)]
struct LiveSymbols {
    symbols: FxHashSet<Op>,
    /// The ops whose uses and regions are to be visited, each with the live symbols in its regions.
    waiting: Vec<(Op, LiveInRegions)>,
}

/// The symbols in the regions of a live op that are live without a use.
#[derive(Clone, Copy)]
enum LiveInRegions {
    /// All symbols, because an enclosing op is unknown.
    All,
    /// The symbols that other programs may refer to. If the flag is true, also those that other
    /// tables may refer to.
    Visible(bool),
}

impl LiveSymbols {
    /// Adds the ops in a table, without nested ones, that are live without a use.
    fn add_table(&mut self, ir: &Ir, table: Op, is_seen: bool) {
        for op in children(ir, table) {
            let is_live = !ir.op(op).kind.has(Traits::SYMBOL)
                || match visibility(ir, op) {
                    Visibility::Private => false,
                    Visibility::Nested => is_seen,
                    Visibility::Public => true,
                };
            if is_live {
                self.add(ir, op, LiveInRegions::Visible(is_seen));
            }
        }
    }

    fn add(&mut self, ir: &Ir, op: Op, inside: LiveInRegions) {
        if self.symbols.insert(op) {
            let is_unknown = ir.op(op).kind == OpKind::Unknown;
            self.waiting.push((op, if is_unknown { LiveInRegions::All } else { inside }));
        }
    }

    fn propagate(&mut self, ir: &Ir) {
        while let Some((op, inside)) = self.waiting.pop() {
            for target in used_symbols(ir, op) {
                self.add(ir, target, LiveInRegions::Visible(true));
            }
            match inside {
                LiveInRegions::Visible(is_seen) if is_table(ir, op) => {
                    let is_seen = is_seen && visibility(ir, op) != Visibility::Private;
                    self.add_table(ir, op, is_seen);
                }
                _ => {
                    for it in children(ir, op) {
                        self.add(ir, it, inside);
                    }
                }
            }
        }
    }
}

/// Returns the ops in the regions of an op, without nested ones.
fn children(ir: &Ir, op: Op) -> impl Iterator<Item = Op> + '_ {
    let items = ir.op(op).regions.iter().flat_map(|it| ir.items(it.1));
    items.filter(|&it| ir.op(it).kind.is_op())
}

/// Returns the ops to which the symbol references of an op may refer, including those for all
/// prefixes of a path.
fn used_symbols(ir: &Ir, op: Op) -> Vec<Op> {
    let mut out = Vec::new();
    for path in ir.interner.symbol_paths_in(ir.extra(op).attrs.iter().map(|it| it.1)) {
        let Some((&first, rest)) = path.split_first() else { continue };
        let mut found = visible_definitions(ir, op, first);
        out.extend_from_slice(&found);
        for &name in rest {
            let regions = found.iter().flat_map(|&it| ir.op(it).regions.iter());
            found = regions.flat_map(|it| ir.symbol_defs(it.1, name)).copied().collect();
            out.extend_from_slice(&found);
        }
    }
    out
}

/// Returns the definitions of a name in the enclosing regions, up to the nearest known symbol
/// table. Unknown ops in between may be symbol tables, so there may be several definitions.
fn visible_definitions(ir: &Ir, op: Op, name: Name) -> Vec<Op> {
    let mut out = Vec::new();
    let mut region = ir.op(op).parent;
    loop {
        out.extend_from_slice(ir.symbol_defs(region, name));
        let Some(parent) = ir.region(region).parent else { return out };
        if is_table(ir, parent) || !ir.op(parent).kind.is_op() {
            return out;
        }
        region = ir.op(parent).parent;
    }
}

/// Collects the symbols of a table, and of nested tables, that are not live.
fn collect_dead(ir: &Ir, table: Op, live: &FxHashSet<Op>, out: &mut Vec<Op>) {
    let mut holders = vec![table];
    while let Some(holder) = holders.pop() {
        for op in children(ir, holder) {
            if ir.op(op).kind == OpKind::Unknown {
                continue;
            }
            let is_symbol = ir.op(op).kind.has(Traits::SYMBOL) && is_table(ir, holder);
            if is_symbol && !live.contains(&op) {
                out.push(op);
            } else {
                holders.push(op);
            }
        }
    }
}

fn privatize(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let spared: Vec<&str> = options.text("exclude").split(',').map(str::trim).collect();
    let mut found = Vec::new();
    for &(_, region) in &cx.ir.op(op).regions {
        for it in cx.ir.items(region) {
            if let Some(name) = symbol_name(cx.ir, it)
                && cx.ir.op(it).kind.has(Traits::SYMBOL)
                && !spared.contains(&cx.ir.interner.str(name))
            {
                found.push(it);
            }
        }
    }
    let name = cx.ir.interner.intern_name("private");
    let attr = cx.ir.interner.intern_attr(AttrData::String(name, None));
    for it in found {
        cx.ir.set_attr(it, "sym_visibility", attr);
    }
    Ok(())
}

//! Names of the values of a function.

use noisy_loops::edit::names::is_defined;
use noisy_syntax::{Form, Ir, Name, Op, OpKind, Region, Value};
use rustc_hash::FxHashSet;

use crate::features::find::cursor;

/// The ops and all items inside of them, including labels, which define the arguments of their
/// blocks.
pub(super) fn items_of(ir: &Ir, ops: &[Op]) -> Vec<Op> {
    let mut out = ops.to_vec();
    let mut at = 0;
    while let Some(&op) = out.get(at) {
        let regions = ir.op(op).regions.iter();
        out.extend(regions.flat_map(|&(_, region)| ir.items(region)));
        at += 1;
    }
    out
}

/// True if each name in items clearly refers to one value: the header of an unknown op must not
/// define a name twice, or for several regions.
pub(super) fn have_clear_names(ir: &Ir, items: &[Op]) -> bool {
    let mut defined: FxHashSet<Name> = FxHashSet::default();
    items.iter().all(|&op| {
        let data = ir.op(op);
        if data.form != Form::Opaque || data.regions.is_empty() {
            return true;
        }
        defined.clear();
        let mut arguments = data.operands.iter().filter(|it| it.value.is_none());
        arguments.all(|it| data.regions.len() == 1 && defined.insert(it.name))
    })
}

/// The values whose names are defined in the text of items, in textual order. A pack counts as its
/// first value. `None` if there are more than `most`.
pub(super) fn named_values(ir: &Ir, items: &[Op], most: usize) -> Option<Vec<Value>> {
    let mut out: Vec<Value> = Vec::new();
    for &op in items {
        let data = ir.op(op);
        if data.kind != OpKind::Label {
            let mut first = 0;
            for name in &data.result_names {
                out.extend(data.results.get(first));
                first += name.count as usize;
            }
        }
        out.extend(cursor::arguments_in(ir, op).filter(|&it| is_defined(ir, it)));
        if out.len() > most {
            return None;
        }
    }
    out.retain(|&it| cursor::definition_range(ir, it).is_some());
    out.sort_by_key(|&it| cursor::definition_range(ir, it).map(|it| it.start));
    out.dedup();
    Some(out)
}

#[derive(Debug, Default)]
pub(super) struct TakenNames {
    names: FxHashSet<String>,
    /// All smaller numbers were taken at the last search.
    next_number: usize,
}

impl TakenNames {
    /// The names of all values in a function.
    pub(super) fn of(ir: &Ir, function: Op) -> Self {
        let items = items_of(ir, &[function]);
        let values = named_values(ir, &items, usize::MAX).unwrap_or_default();
        let names = values.into_iter().map(|it| bare_name(ir, it)).collect();
        Self { names, next_number: 0 }
    }

    /// Reserves a free name and returns it: `name`, or `name` with a number appended, or the next
    /// free number if `name` is a number.
    pub(super) fn reserve(&mut self, name: &str) -> String {
        if name.bytes().all(|it| it.is_ascii_digit()) {
            let mut free = name.to_owned();
            while self.names.contains(&free) {
                free = self.next_number.to_string();
                self.next_number += 1;
            }
            self.names.insert(free.clone());
            return free;
        }
        let mut found = name.to_owned();
        let mut n = 0;
        while !self.names.insert(found.clone()) {
            found = format!("{name}_{n}");
            n += 1;
        }
        found
    }
}

/// The name of a value without `%` and pack index.
pub(super) fn bare_name(ir: &Ir, value: Value) -> String {
    ir.interner.str(ir.value(value).name).to_owned()
}

/// A symbol name that is free in a region.
pub(super) fn free_symbol_name(ir: &Ir, region: Region, name: &str) -> String {
    let is_taken = |it: &str| {
        ir.interner.find_name(it).is_some_and(|it| !ir.symbol_defs(region, it).is_empty())
    };
    let mut found = name.to_owned();
    let mut n = 0;
    while is_taken(&found) {
        found = format!("{name}_{n}");
        n += 1;
    }
    found
}

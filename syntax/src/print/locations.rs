//! Names for locations, `#loc3`.
//!
//! Each location of an op or argument, and each that one is made of, gets a name: those that are
//! made of none first, in the order in which ops mention them, then those that are made of these,
//! and so on. The names of locations that arguments mention are defined above the program, all
//! others below it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::intern::numbered;
use crate::{Attr, AttrData, Ir, LocationPart, Op, OpKind};

#[derive(Debug, Default)]
pub(super) struct LocationNames {
    /// The locations by their numbers.
    ordered: Vec<Attr>,
    numbers: FxHashMap<Attr, usize>,
    /// The locations that arguments mention, and those that they are made of.
    above: FxHashSet<Attr>,
}

/// The locations that one is made of.
fn inner(ir: &Ir, location: Attr) -> impl Iterator<Item = Attr> + '_ {
    let parts = match ir.interner.attr_data(location) {
        AttrData::Location(parts) => &parts[..],
        _ => &[],
    };
    parts.iter().filter_map(|it| match it {
        LocationPart::Location(it) => Some(*it),
        _ => None,
    })
}

/// Locations as they are met, each behind those that it is made of.
#[derive(Default)]
struct Met {
    ordered: Vec<Attr>,
    /// How many levels of locations one is made of.
    depths: FxHashMap<Attr, usize>,
}

impl Met {
    /// No recursion: locations nest as deep as the text has them.
    fn add(&mut self, ir: &Ir, location: Attr) {
        let mut open = vec![(location, false)];
        while let Some((at, is_done)) = open.pop() {
            if self.depths.contains_key(&at) {
                continue;
            }
            if is_done {
                let depth = inner(ir, at).filter_map(|it| self.depths.get(&it)).max();
                self.depths.insert(at, depth.map_or(0, |it| it + 1));
                self.ordered.push(at);
            } else {
                open.push((at, true));
                let parts: Vec<Attr> = inner(ir, at).collect();
                open.extend(parts.into_iter().rev().map(|it| (it, false)));
            }
        }
    }
}

impl LocationNames {
    /// Names for the locations of ops and of their contents.
    pub(super) fn new(ir: &Ir, ops: &[Op]) -> Self {
        let (mut met, mut of_arguments) = (Met::default(), Vec::new());
        let mut visit = |op: Op| {
            if let Some(location) = ir.location(op) {
                met.add(ir, location);
            }
            if ir.op(op).kind != OpKind::Label {
                return;
            }
            // A label's results are the arguments of its block.
            for location in ir.op(op).results.iter().filter_map(|&it| ir.argument_location(it)) {
                met.add(ir, location);
                of_arguments.push(location);
            }
        };
        for &op in ops {
            visit(op);
            for region in ir.ordered_regions(op) {
                ir.walk_items(region, &mut visit);
            }
        }
        let Met { mut ordered, depths } = met;
        ordered.sort_by_key(|it| depths.get(it));
        let mut above = FxHashSet::default();
        while let Some(it) = of_arguments.pop() {
            if above.insert(it) {
                of_arguments.extend(inner(ir, it));
            }
        }
        let numbers = ordered.iter().enumerate().map(|(n, &it)| (it, n)).collect();
        Self { ordered, numbers, above }
    }

    /// The name of a location, without `#`.
    pub(super) fn name(&self, location: Attr) -> Option<String> {
        self.numbers.get(&location).map(|&it| numbered("loc", it))
    }

    /// The locations in the order of their numbers, and whether each is defined above the program.
    pub(super) fn all(&self) -> impl Iterator<Item = (Attr, bool)> + '_ {
        self.ordered.iter().map(|&it| (it, self.above.contains(&it)))
    }
}

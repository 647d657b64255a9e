//! Names of locations: `#loc3`.
//!
//! Each location of an op or argument, and each location nested in one, gets a name. Locations
//! without nested ones are numbered first, in the order in which ops mention them, then locations
//! that only contain those, and so on. The names of locations that arguments mention are defined
//! above the program, all others below it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::intern::alias_name;
use crate::{Attr, AttrData, Ir, LocationPart, Op, OpKind};

#[derive(Debug, Default)]
pub(super) struct LocationNames {
    /// The locations in the order of their numbers.
    ordered: Vec<Attr>,
    numbers: FxHashMap<Attr, usize>,
    /// The locations that arguments mention, and those nested in them.
    above: FxHashSet<Attr>,
}

/// Returns the locations that are directly nested in a location.
fn nested_locations(ir: &Ir, location: Attr) -> impl Iterator<Item = Attr> + '_ {
    let parts = match ir.interner.attr_data(location) {
        AttrData::Location(parts) => &parts[..],
        _ => &[],
    };
    parts.iter().filter_map(|it| match it {
        LocationPart::Location(it) => Some(*it),
        _ => None,
    })
}

/// The locations in the order of their first mention; nested ones precede the one that contains
/// them.
#[derive(Default)]
struct LocationOrder {
    ordered: Vec<Attr>,
    /// The nesting depth of each location; 0 without nested locations.
    depths: FxHashMap<Attr, usize>,
}

impl LocationOrder {
    /// Does not recurse, because locations may be nested to any depth.
    fn add(&mut self, ir: &Ir, location: Attr) {
        let mut open = vec![(location, false)];
        while let Some((at, is_done)) = open.pop() {
            if self.depths.contains_key(&at) {
                continue;
            }
            if is_done {
                let depth = nested_locations(ir, at).filter_map(|it| self.depths.get(&it)).max();
                self.depths.insert(at, depth.map_or(0, |it| it + 1));
                self.ordered.push(at);
            } else {
                open.push((at, true));
                let parts: Vec<Attr> = nested_locations(ir, at).collect();
                open.extend(parts.into_iter().rev().map(|it| (it, false)));
            }
        }
    }
}

impl LocationNames {
    /// Assigns names to the locations of ops and of their contents.
    pub(super) fn new(ir: &Ir, ops: &[Op]) -> Self {
        let (mut met, mut of_arguments) = (LocationOrder::default(), Vec::new());
        let mut visit = |op: Op| {
            if let Some(location) = ir.location(op) {
                met.add(ir, location);
            }
            if ir.op(op).kind != OpKind::Label {
                return;
            }
            // The results of a label are the arguments of its block.
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
        let LocationOrder { mut ordered, depths } = met;
        ordered.sort_by_key(|it| depths.get(it));
        let mut above = FxHashSet::default();
        while let Some(it) = of_arguments.pop() {
            if above.insert(it) {
                of_arguments.extend(nested_locations(ir, it));
            }
        }
        let numbers = ordered.iter().enumerate().map(|(n, &it)| (it, n)).collect();
        Self { ordered, numbers, above }
    }

    /// Returns the name of a location, without `#`.
    pub(super) fn name(&self, location: Attr) -> Option<String> {
        self.numbers.get(&location).map(|&it| alias_name("loc", it))
    }

    /// Returns the locations in the order of their numbers; true for those that are defined above
    /// the program.
    pub(super) fn all(&self) -> impl Iterator<Item = (Attr, bool)> + '_ {
        self.ordered.iter().map(|&it| (it, self.above.contains(&it)))
    }
}

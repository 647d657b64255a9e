//! Names for new values.

use noisy_syntax::{Ir, Name};
use rustc_hash::{FxHashMap, FxHashSet};

/// An allocator of fresh value names. The names of all values and uses of the program are taken:
/// MLIR names never shadow.
#[derive(Debug)]
pub struct FreshNames<'a> {
    ir: &'a Ir,
    existing: FxHashSet<Name>,
    given: FxHashSet<String>,
    /// The next suffix for each base name: used names never become free again.
    next: FxHashMap<String, usize>,
}

impl<'a> FreshNames<'a> {
    /// Creates the allocator of a program.
    pub fn of(ir: &'a Ir) -> Self {
        let mut existing = FxHashSet::default();
        let mut stack = vec![ir.root()];
        while let Some(region) = stack.pop() {
            let blocks = ir.blocks(region).into_iter().chain([ir.region(region).entry]);
            let args = blocks.flat_map(|it| &ir.block(it).args);
            existing.extend(args.map(|&it| ir.value(it).name));
            for op in ir.items(region) {
                let data = ir.op(op);
                existing.extend(data.results.iter().map(|&it| ir.value(it).name));
                existing.extend(data.operands.iter().map(|it| it.name));
                stack.extend(data.regions.iter().map(|it| it.1));
            }
        }
        Self { ir, existing, given: FxHashSet::default(), next: FxHashMap::default() }
    }

    /// Reserves a name. Returns false if it is used already.
    fn reserve(&mut self, name: &str) -> bool {
        let known = self.ir.interner.find_name(name);
        !known.is_some_and(|it| self.existing.contains(&it)) && self.given.insert(name.to_owned())
    }

    /// Reserves and returns the first free name of `base`, `base_1`, `base_2`, ...
    pub fn fresh(&mut self, base: &str) -> String {
        if self.reserve(base) { base.to_owned() } else { self.numbered(base) }
    }

    /// Reserves and returns the first free name of `base_1`, `base_2`, ...
    pub fn numbered(&mut self, base: &str) -> String {
        let mut n = self.next.get(base).copied().unwrap_or(1);
        loop {
            let name = format!("{base}_{n}");
            n += 1;
            if self.reserve(&name) {
                self.next.insert(base.to_owned(), n);
                return name;
            }
        }
    }
}

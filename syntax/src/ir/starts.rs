//! The starts of regions in ops that have many of them, such as an `scf.index_switch` of 100,000
//! cases.
//!
//! *Law.* Each result is the sum of the current lengths of the preceding regions: any change of a
//! length in the document clears all cached sums. *Cost.* The first query for an op after a change
//! is linear in the number of its regions; each further query is constant.

use std::sync::{Mutex, PoisonError};

use rustc_hash::FxHashMap;

use crate::entity::{Op, Region};
use crate::ir::Ir;

/// For ops with fewer regions, sums are not cached.
const MIN_CACHED_REGIONS: usize = 16;

/// Cached sums of lengths, computed on demand.
#[derive(Debug, Default)]
pub(crate) struct RegionStarts(Mutex<FxHashMap<Region, RegionStart>>);

/// For a region, the number of preceding regions of its op and their total length in bytes.
#[derive(Clone, Copy, Debug)]
struct RegionStart {
    index: usize,
    before: usize,
}

impl RegionStarts {
    /// Clears the cache. Called whenever a length changes.
    pub(crate) fn clear(&mut self) {
        let it = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !it.is_empty() {
            *it = FxHashMap::default();
        }
    }
}

impl Ir {
    /// Returns the offset of the contents of a region, in bytes from the start of its op.
    pub(crate) fn region_start_in(&self, op: Op, region: Region) -> usize {
        let regions = &self.op(op).regions;
        if regions.len() < MIN_CACHED_REGIONS {
            return self.region_start_uncached(op, region);
        }
        let mut starts = self.starts.0.lock().unwrap_or_else(PoisonError::into_inner);
        // The list of regions may have changed although all lengths are the same.
        let find = |starts: &FxHashMap<Region, RegionStart>| {
            let at = *starts.get(&region)?;
            let own = regions.get(at.index).filter(|it| it.1 == region)?.0;
            Some(at.before + own as usize)
        };
        if let Some(it) = find(&starts) {
            return it;
        }
        let mut before = 0;
        for (index, &(_, it)) in regions.iter().enumerate() {
            starts.insert(it, RegionStart { index, before });
            before += self.region_len(it);
        }
        find(&starts).unwrap_or(before)
    }

    /// Like [`Ir::region_start_in`], without the cache.
    fn region_start_uncached(&self, op: Op, region: Region) -> usize {
        let mut at = 0;
        for &(own, it) in &self.op(op).regions {
            if it == region {
                return at + own as usize;
            }
            at += self.region_len(it);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use crate::{OpKind, Source};

    #[test]
    fn starts_are_sums_after_any_edit() {
        let mut text = "func.func @f(%i: index) {\n  scf.index_switch %i\n".to_owned();
        for case in 0..40 {
            text += &format!("  case {case} {{\n    \"a.b\"() : () -> ()\n    scf.yield\n  }}\n");
        }
        text += "  default {\n  }\n  return\n}\n";
        let mut source = Source::new(&text);
        // A fixed seed gives the same edits in each run.
        let mut seed = 7_u64;
        let mut random = |n: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % n
        };
        let pieces = ["", " ", "\n", "}", "{", "case 7 {\n}\n", "// c\n", "\"x.y\"() : () -> ()\n"];
        let mut n_checked = 0;
        for _ in 0..400 {
            let len = source.text().len_bytes();
            let from = random(len + 1);
            let to = (from + random(12)).min(len);
            let _ = source.edit(from..to, pieces[random(pieces.len())]);
            let ir = source.ir();
            ir.walk(ir.root(), &mut |op| {
                for &(_, region) in &ir.op(op).regions {
                    assert_eq!(
                        ir.region_start_in(op, region),
                        ir.region_start_uncached(op, region)
                    );
                    n_checked += usize::from(ir.op(op).kind == OpKind::ScfIndexSwitch);
                }
            });
        }
        assert!(n_checked > 500, "{n_checked}");
    }
}

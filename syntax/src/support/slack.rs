//! Spare capacity in tables. A table with an entry for each op, value or name gets some spare
//! capacity, so that the first edit that adds an entry does not move the whole table.
//!
//! *Cost.* A table moves when its entries have grown by about an eighth since the text was parsed,
//! and then each time its size has doubled. Unused capacity takes no memory on systems that
//! allocate pages when they are first written.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// Number of spare entries in a table of `n` entries.
fn n_spare(n: usize) -> usize {
    n / 8 + 64
}

/// Reserves capacity for `n` entries and some spare ones if the capacity is below `n`.
pub fn reserve_with_slack<T>(table: &mut Vec<T>, n: usize) {
    if table.capacity() < n {
        table.reserve(n + n_spare(n) - table.len());
    }
}

/// Adds some spare capacity to a table that was filled entry by entry.
pub(crate) fn keep_slack<T>(table: &mut Vec<T>) {
    let n = table.len();
    if table.capacity() - n < n_spare(n) / 2 {
        table.reserve_exact(n_spare(n));
    }
}

/// Like [`keep_slack`], for a map.
pub(crate) fn keep_slack_in_map<K: Eq + Hash, V>(table: &mut FxHashMap<K, V>) {
    table.reserve(n_spare(table.len()) / 2);
}

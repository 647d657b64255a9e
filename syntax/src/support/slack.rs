//! Room in tables: what holds an entry for each op, value or name is made with some to spare, so
//! that the edit that adds the first one does not move all that are there.
//!
//! *Cost.* A table moves when about an eighth of what the text held at first was added, and then
//! each time its size has doubled. Room that nothing was written to takes no memory on systems that
//! give pages out when they are touched.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// The room to spare in a table of this many entries.
fn share(n: usize) -> usize {
    n / 8 + 64
}

/// Gives a table that is about to hold `n` entries room for some more, if it must move for them.
pub fn reserve_with_slack<T>(table: &mut Vec<T>, n: usize) {
    if table.capacity() < n {
        table.reserve(n + share(n) - table.len());
    }
}

/// Has a table that was filled entry by entry keep some room.
pub(crate) fn keep_slack<T>(table: &mut Vec<T>) {
    let n = table.len();
    if table.capacity() - n < share(n) / 2 {
        table.reserve_exact(share(n));
    }
}

/// As [`keep_slack`].
pub(crate) fn keep_slack_in_map<K: Eq + Hash, V>(table: &mut FxHashMap<K, V>) {
    table.reserve(share(table.len()) / 2);
}

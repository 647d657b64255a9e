//! Maps and vectors of facts that mostly have one element.
//!
//! *Cost.* A single key takes no heap memory. Up to [`MAX_IN_LIST`] keys are a list with linear
//! search; more keys are a hash table.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Facts that a call passes or a function returns. A single fact takes no heap memory.
pub(super) type Facts<F> = SmallVec<[F; 1]>;

const MAX_IN_LIST: usize = 8;

/// A map that mostly has one key.
#[derive(Clone, Debug)]
pub(super) enum SmallMap<K, V> {
    List(SmallVec<[(K, V); 1]>),
    Table(Box<FxHashMap<K, V>>),
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        Self::List(SmallVec::new())
    }
}

impl<K: Copy + Eq + Hash, V: Copy> SmallMap<K, V> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::List(it) => it.len(),
            Self::Table(it) => it.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn contains(&self, key: K) -> bool {
        match self {
            Self::List(it) => it.iter().any(|it| it.0 == key),
            Self::Table(it) => it.contains_key(&key),
        }
    }

    /// Returns keys and values in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, V)> {
        let (list, table) = match self {
            Self::List(it) => (Some(it.iter()), None),
            Self::Table(it) => (None, Some(it.iter())),
        };
        let table = table.into_iter().flatten().map(|(&key, &value)| (key, value));
        list.into_iter().flatten().copied().chain(table)
    }

    pub(super) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self {
            Self::List(it) => it.iter_mut().find(|it| it.0 == key).map(|it| &mut it.1),
            Self::Table(it) => it.get_mut(&key),
        }
    }

    /// Inserts a key with a value and returns true, unless the key exists: then its value stays.
    pub(super) fn insert(&mut self, key: K, value: V) -> bool {
        if self.contains(key) {
            return false;
        }
        match self {
            Self::List(it) if it.len() < MAX_IN_LIST => it.push((key, value)),
            Self::List(it) => {
                let all = it.drain(..).chain([(key, value)]);
                *self = Self::Table(Box::new(all.collect()));
            }
            Self::Table(it) => {
                it.insert(key, value);
            }
        }
        true
    }

    pub(super) fn remove(&mut self, key: K) {
        match self {
            Self::List(it) => it.retain(|it| it.0 != key),
            Self::Table(it) => {
                it.remove(&key);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn behaves_as_a_map_with_few_and_many_keys() {
        let (mut few, mut map) = (SmallMap::default(), BTreeMap::new());
        let mut random = Random::new(5);
        let mut most = 0;
        for round in 0..4000_u32 {
            let key = random.below(3 * MAX_IN_LIST);
            match random.below(8) {
                0..4 => {
                    assert_eq!(few.insert(key, round), !map.contains_key(&key));
                    map.entry(key).or_insert(round);
                }
                4 => {
                    few.get_mut(key).into_iter().for_each(|it| *it += 1);
                    map.get_mut(&key).into_iter().for_each(|it| *it += 1);
                }
                _ => {
                    few.remove(key);
                    map.remove(&key);
                }
            }
            if random.below(400) == 0 {
                few.clear();
                map.clear();
            }
            most = most.max(few.len());
            assert_eq!(few.is_empty(), map.is_empty());
            assert_eq!(few.contains(key), map.contains_key(&key));
            let mut all: Vec<_> = few.iter().collect();
            all.sort_unstable();
            assert_eq!(all, map.iter().map(|(&key, &value)| (key, value)).collect::<Vec<_>>());
        }
        assert!(most > MAX_IN_LIST, "{most}");
    }
}

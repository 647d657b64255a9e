//! Vectors and sets for what calls pass and return and for which calls ask for which contexts: most have one element.
//!
//! *Cost.* One key takes no heap memory. Up to [`FEW`] keys are a list that is searched; more are a hash table.

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The facts that a call passes or a function returns. One takes no room of its own.
pub(super) type Facts<F> = SmallVec<[F; 1]>;

/// The most keys of a list.
const FEW: usize = 8;

/// A map that has one key mostly, and room for no more.
#[allow(clippy::box_collection, reason = "a list of its own would double what one key takes")]
#[derive(Clone, Debug, Default)]
pub(super) enum FewMap<K, V> {
    #[default]
    None,
    One(K, V),
    List(Box<Vec<(K, V)>>),
    Table(Box<FxHashMap<K, V>>),
}

impl<K: Copy + Eq + Hash, V: Copy> FewMap<K, V> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::One(..) => 1,
            Self::List(it) => it.len(),
            Self::Table(it) => it.len(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn contains(&self, key: K) -> bool {
        match self {
            Self::None => false,
            Self::One(it, _) => *it == key,
            Self::List(it) => it.iter().any(|it| it.0 == key),
            Self::Table(it) => it.contains_key(&key),
        }
    }

    /// The keys with what they have, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (K, V)> {
        let (one, list, table) = match self {
            Self::None => (None, None, None),
            &Self::One(key, value) => (Some((key, value)), None, None),
            Self::List(it) => (None, Some(it.iter()), None),
            Self::Table(it) => (None, None, Some(it.iter())),
        };
        let table = table.into_iter().flatten().map(|(&key, &value)| (key, value));
        one.into_iter().chain(list.into_iter().flatten().copied()).chain(table)
    }

    pub(super) fn get_mut(&mut self, key: K) -> Option<&mut V> {
        match self {
            Self::None => None,
            Self::One(it, value) => (*it == key).then_some(value),
            Self::List(it) => it.iter_mut().find(|it| it.0 == key).map(|it| &mut it.1),
            Self::Table(it) => it.get_mut(&key),
        }
    }

    /// Adds a key. Whether it was not there; if it was, it keeps what it had.
    pub(super) fn insert(&mut self, key: K, value: V) -> bool {
        if self.contains(key) {
            return false;
        }
        match self {
            Self::None => *self = Self::One(key, value),
            &mut Self::One(first, of) => {
                *self = Self::List(Box::new(vec![(first, of), (key, value)]));
            }
            Self::List(it) if it.len() < FEW => it.push((key, value)),
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
            Self::One(it, _) if *it == key => *self = Self::None,
            Self::None | Self::One(..) => {}
            Self::List(it) => it.retain(|it| it.0 != key),
            Self::Table(it) => {
                it.remove(&key);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeMap;

    #[test]
    fn few_and_many_keys_are_a_map() {
        let (mut few, mut map) = (FewMap::default(), BTreeMap::new());
        let mut random = Random::new(5);
        let mut most = 0;
        for round in 0..4000_u32 {
            let key = random.below(3 * FEW);
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
        assert!(most > FEW, "{most}");
    }
}

//! A cache of answers. After an edit, unchanged functions need not be solved again.
//!
//! The key is the whole [`Instance`], so answers of different functions are never confused. A
//! proven answer is returned for any limits. An answer with a gap is returned only if the new
//! limits allow no more effort than the old ones; otherwise the instance is solved again, and the
//! better of the two answers is kept. The size of the cache is bounded; the least recently used
//! answer is removed first.

use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustc_hash::{FxHashMap, FxHasher};

use crate::question::instance::Instance;
use crate::question::limits::{PlacementLimits, PlacementProgress};
use crate::{EnabledSteps, Infeasible, Optimality, Placement, place_with};

/// Answers by instance, shared by threads.
#[derive(Debug)]
pub struct PlacementCache {
    inner: Mutex<CacheContents>,
    /// Maximum total number of nodes of all instances.
    max_nodes: usize,
    /// Answers that took less time than this are not kept.
    min_time: Duration,
    /// Total time of all runs, in nanoseconds.
    total_nanos: AtomicU64,
}

#[derive(Debug, Default)]
struct CacheContents {
    entries: FxHashMap<u64, CachedAnswer>,
    /// Total number of nodes of all instances.
    n_nodes: usize,
    /// Number of look-ups, as a time stamp for the last use of answers.
    clock: u64,
}

#[derive(Clone, Debug)]
struct CachedAnswer {
    instance: Instance,
    placement: Placement,
    effort: EffortLimits,
    last_use: u64,
}

/// The limits of a run that affect its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct EffortLimits {
    time: Option<Duration>,
    work: Option<u64>,
    steps: EnabledSteps,
}

impl EffortLimits {
    fn of(limits: &PlacementLimits) -> EffortLimits {
        EffortLimits { time: limits.time, work: limits.work, steps: limits.steps }
    }

    /// Returns true if these limits allow at least the effort of `other`.
    fn covers(&self, other: &EffortLimits) -> bool {
        let more = |a: Option<u128>, b: Option<u128>| match (a, b) {
            (None, _) => true,
            (Some(a), Some(b)) => a >= b,
            (Some(_), None) => false,
        };
        let nanos = |it: Option<Duration>| it.map(|it| it.as_nanos());
        self.steps == other.steps
            && more(nanos(self.time), nanos(other.time))
            && more(self.work.map(u128::from), other.work.map(u128::from))
    }
}

impl Default for PlacementCache {
    /// Returns a cache for at most two million nodes, which take about 200 MB.
    fn default() -> Self {
        PlacementCache::new(2_000_000)
    }
}

impl PlacementCache {
    /// Returns a cache for instances with at most `most` nodes in total.
    pub fn new(most: usize) -> PlacementCache {
        PlacementCache {
            inner: Mutex::default(),
            max_nodes: most,
            min_time: Duration::ZERO,
            total_nanos: AtomicU64::new(0),
        }
    }

    /// Returns a cache of default size that keeps only answers that took at least `time`. It is
    /// cheaper to compute faster answers again.
    pub fn for_slow_answers(time: Duration) -> PlacementCache {
        PlacementCache { min_time: time, ..PlacementCache::default() }
    }

    /// Returns the total time of all finished runs. The times of concurrent runs are added.
    pub fn total_time(&self) -> Duration {
        Duration::from_nanos(self.total_nanos.load(Ordering::Relaxed))
    }

    /// Returns the cached answer, or the answer of [`place_with`].
    ///
    /// # Errors
    ///
    /// The same as for [`crate::place`]. Errors are not cached.
    pub fn place_with(
        &self,
        instance: &Instance,
        limits: &PlacementLimits,
        progress: &mut dyn FnMut(&PlacementProgress),
    ) -> Result<Placement, Infeasible> {
        let key = BuildHasherDefault::<FxHasher>::default().hash_one(instance);
        let effort = EffortLimits::of(limits);
        let known = self.find(key, instance);
        if let Some((placement, before)) = &known
            && (placement.proof == Optimality::Optimal || before.covers(&effort))
        {
            return Ok(placement.clone());
        }
        let start = Instant::now();
        let placed = place_with(instance, limits, progress);
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.total_nanos.fetch_add(nanos, Ordering::Relaxed);
        let mut placement = placed?;
        if let Some((before, _)) = known {
            placement = combine_answers(placement, before);
        }
        // A cancelled run had less effort than its limits allow.
        let was_cut = limits.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed));
        if placement.proof == Optimality::Optimal || !was_cut {
            self.keep(key, instance, &placement, effort);
        }
        Ok(placement)
    }

    fn find(&self, key: u64, instance: &Instance) -> Option<(Placement, EffortLimits)> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.entries.get_mut(&key).filter(|it| it.instance == *instance)?;
        entry.last_use = now;
        Some((entry.placement.clone(), entry.effort))
    }

    fn keep(&self, key: u64, instance: &Instance, placement: &Placement, effort: EffortLimits) {
        if instance.nodes.len() > self.max_nodes || placement.stats.time < self.min_time {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = CachedAnswer {
            instance: instance.clone(),
            placement: placement.clone(),
            effort,
            last_use: inner.clock,
        };
        inner.n_nodes += instance.nodes.len();
        if let Some(old) = inner.entries.insert(key, entry) {
            inner.n_nodes -= old.instance.nodes.len();
        }
        while inner.n_nodes > self.max_nodes {
            let Some(oldest) = inner.entries.iter().min_by_key(|it| it.1.last_use).map(|it| *it.0)
            else {
                return;
            };
            if let Some(old) = inner.entries.remove(&oldest) {
                inner.n_nodes -= old.instance.nodes.len();
            }
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }
}

/// Combines two answers for one instance: the choice with the lower cost and the better bound.
fn combine_answers(a: Placement, b: Placement) -> Placement {
    let bound = a.lower_bound.max(b.lower_bound);
    let certificate = if a.certificate.bound() >= b.certificate.bound() {
        a.certificate.clone()
    } else {
        b.certificate.clone()
    };
    let mut best = if a.cost <= b.cost { a } else { b };
    best.lower_bound = bound;
    best.proof = if bound == best.cost { Optimality::Optimal } else { Optimality::Gap };
    best.certificate = certificate;
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Node, NodeRule};

    /// Returns an instance with a chain of squarings.
    fn chain(n: usize) -> Instance {
        let mut out = Instance::default();
        let mut last = out.push(NodeRule::Source(12), &[], 26, None);
        for _ in 0..n {
            let site = out.push_site(1, 12);
            last = out.push(NodeRule::Sum(0), &[last, last], 26, Some(site));
        }
        out
    }

    fn limits(work: u64) -> PlacementLimits {
        PlacementLimits { time: None, work: Some(work), ..PlacementLimits::default() }
    }

    /// Returns true if the optimizer ran.
    fn runs_optimizer(cache: &PlacementCache, instance: &Instance, work: u64) -> bool {
        let mut works = false;
        let placement = cache.place_with(instance, &limits(work), &mut |_| works = true);
        assert_eq!(placement.unwrap().sites, crate::place(instance, &limits(work)).unwrap().sites);
        works
    }

    #[test]
    fn returns_proven_answers_from_the_cache() {
        let cache = PlacementCache::default();
        assert!(runs_optimizer(&cache, &chain(5), 1000));
        assert!(!runs_optimizer(&cache, &chain(5), 1000));
        let worked = cache.total_time();
        assert!(!runs_optimizer(&cache, &chain(5), 1_000_000));
        assert_eq!(cache.total_time(), worked);
        assert!(runs_optimizer(&cache, &chain(6), 1000));
        assert!(cache.total_time() > worked);
        // A different instance misses the cache.
        let mut other = chain(5);
        other.nodes[2].limit = 25;
        assert!(runs_optimizer(&cache, &other, 1000));
    }

    #[test]
    fn solves_again_with_more_effort_after_a_gap() {
        // The program is so dense that nothing is proven with a work limit of 0.
        let mut web = chain(1);
        for v in 2..60_u32 {
            let site = web.push_site(1, 12);
            let operands = [Node(v - 1), Node(v * 7 % v), Node(v - v % 5 - 1)];
            let rule = if v % 6 == 0 { NodeRule::Sum(0) } else { NodeRule::Max(1) };
            web.push(rule, &operands[..2], 26, Some(site));
        }
        let cache = PlacementCache::default();
        let ask = |work: u64| {
            let mut works = false;
            let answer = cache.place_with(&web, &limits(work), &mut |_| works = true).unwrap();
            (works, answer)
        };
        let (first, loose) = ask(0);
        assert!(first && loose.proof == Optimality::Gap);
        assert!(!ask(0).0);
        let (again, tight) = ask(50_000_000);
        assert!(again && tight.proof == Optimality::Optimal && tight.cost <= loose.cost);
        assert!(!ask(0).0 && ask(0).1 == tight);
    }

    #[test]
    fn does_not_keep_fast_answers() {
        let cache = PlacementCache::for_slow_answers(Duration::from_secs(3600));
        assert!(runs_optimizer(&cache, &chain(5), 1000) && runs_optimizer(&cache, &chain(5), 1000));
        assert_eq!(cache.len(), 0);
        let cache = PlacementCache::for_slow_answers(Duration::ZERO);
        assert!(
            runs_optimizer(&cache, &chain(5), 1000) && !runs_optimizer(&cache, &chain(5), 1000)
        );
    }

    #[test]
    fn drops_the_least_recently_used_answer() {
        let cache = PlacementCache::new(25);
        for n in [7, 8, 7, 9] {
            runs_optimizer(&cache, &chain(n), 1000);
        }
        // 8 + 9 + 10 nodes do not fit, and the chain of 8 was used before the chain of 7.
        assert_eq!(cache.len(), 2);
        assert!(
            !runs_optimizer(&cache, &chain(7), 1000) && !runs_optimizer(&cache, &chain(9), 1000)
        );
        assert!(runs_optimizer(&cache, &chain(8), 1000));
        // An instance that is too large is not kept.
        assert!(
            runs_optimizer(&cache, &chain(30), 1000) && runs_optimizer(&cache, &chain(30), 1000)
        );
    }
}

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
use crate::question::limits::{Limits, Progress};
use crate::{Infeasible, Optimality, Placement, Steps, place_with};

/// Answers by instance, shared by threads.
#[derive(Debug)]
pub struct Cache {
    inner: Mutex<CacheContents>,
    /// Maximum total number of nodes of all instances.
    most: usize,
    /// Answers that took less time than this are not kept.
    least: Duration,
    /// Total time of all runs, in nanoseconds.
    worked: AtomicU64,
}

#[derive(Debug, Default)]
struct CacheContents {
    entries: FxHashMap<u64, CachedAnswer>,
    /// Total number of nodes of all instances.
    held: usize,
    /// Number of look-ups, as a time stamp for the last use of answers.
    clock: u64,
}

#[derive(Clone, Debug)]
struct CachedAnswer {
    instance: Instance,
    placement: Placement,
    effort: Effort,
    used: u64,
}

/// The limits of a run that affect its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Effort {
    time: Option<Duration>,
    work: Option<u64>,
    steps: Steps,
}

impl Effort {
    fn of(limits: &Limits) -> Effort {
        Effort { time: limits.time, work: limits.work, steps: limits.steps }
    }

    /// Returns true if these limits allow at least the effort of `other`.
    fn covers(&self, other: &Effort) -> bool {
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

impl Default for Cache {
    /// Returns a cache for at most two million nodes, which take about 200 MB.
    fn default() -> Self {
        Cache::new(2_000_000)
    }
}

impl Cache {
    /// Returns a cache for instances with at most `most` nodes in total.
    pub fn new(most: usize) -> Cache {
        Cache { inner: Mutex::default(), most, least: Duration::ZERO, worked: AtomicU64::new(0) }
    }

    /// Returns a cache of default size that keeps only answers that took at least `time`. It is
    /// cheaper to compute faster answers again.
    pub fn of_at_least(time: Duration) -> Cache {
        Cache { least: time, ..Cache::default() }
    }

    /// Returns the total time of all finished runs. The times of concurrent runs are added.
    pub fn worked(&self) -> Duration {
        Duration::from_nanos(self.worked.load(Ordering::Relaxed))
    }

    /// Returns the cached answer, or the answer of [`place_with`].
    ///
    /// # Errors
    ///
    /// As [`crate::place`]. Errors are not cached.
    pub fn place_with(
        &self,
        instance: &Instance,
        limits: &Limits,
        progress: &mut dyn FnMut(&Progress),
    ) -> Result<Placement, Infeasible> {
        let key = BuildHasherDefault::<FxHasher>::default().hash_one(instance);
        let effort = Effort::of(limits);
        let known = self.find(key, instance);
        if let Some((placement, before)) = &known
            && (placement.proof == Optimality::Optimal || before.covers(&effort))
        {
            return Ok(placement.clone());
        }
        let start = Instant::now();
        let placed = place_with(instance, limits, progress);
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.worked.fetch_add(nanos, Ordering::Relaxed);
        let mut placement = placed?;
        if let Some((before, _)) = known {
            placement = better(placement, before);
        }
        // A cancelled run had less effort than its limits allow.
        let was_cut = limits.cancel.as_ref().is_some_and(|it| it.load(Ordering::Relaxed));
        if placement.proof == Optimality::Optimal || !was_cut {
            self.keep(key, instance, &placement, effort);
        }
        Ok(placement)
    }

    fn find(&self, key: u64, instance: &Instance) -> Option<(Placement, Effort)> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.clock += 1;
        let now = inner.clock;
        let entry = inner.entries.get_mut(&key).filter(|it| it.instance == *instance)?;
        entry.used = now;
        Some((entry.placement.clone(), entry.effort))
    }

    fn keep(&self, key: u64, instance: &Instance, placement: &Placement, effort: Effort) {
        if instance.nodes.len() > self.most || placement.stats.time < self.least {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = CachedAnswer {
            instance: instance.clone(),
            placement: placement.clone(),
            effort,
            used: inner.clock,
        };
        inner.held += instance.nodes.len();
        if let Some(old) = inner.entries.insert(key, entry) {
            inner.held -= old.instance.nodes.len();
        }
        while inner.held > self.most {
            let Some(oldest) = inner.entries.iter().min_by_key(|it| it.1.used).map(|it| *it.0)
            else {
                return;
            };
            if let Some(old) = inner.entries.remove(&oldest) {
                inner.held -= old.instance.nodes.len();
            }
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).entries.len()
    }
}

/// Combines two answers for one instance: the choice with the lower cost and the better bound.
fn better(a: Placement, b: Placement) -> Placement {
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

    fn limits(work: u64) -> Limits {
        Limits { time: None, work: Some(work), ..Limits::default() }
    }

    /// Returns true if the optimizer ran.
    fn works(cache: &Cache, instance: &Instance, work: u64) -> bool {
        let mut works = false;
        let placement = cache.place_with(instance, &limits(work), &mut |_| works = true);
        assert_eq!(placement.unwrap().sites, crate::place(instance, &limits(work)).unwrap().sites);
        works
    }

    #[test]
    fn returns_proven_answers_from_the_cache() {
        let cache = Cache::default();
        assert!(works(&cache, &chain(5), 1000));
        assert!(!works(&cache, &chain(5), 1000));
        let worked = cache.worked();
        assert!(!works(&cache, &chain(5), 1_000_000));
        assert_eq!(cache.worked(), worked);
        assert!(works(&cache, &chain(6), 1000));
        assert!(cache.worked() > worked);
        // A different instance misses the cache.
        let mut other = chain(5);
        other.nodes[2].limit = 25;
        assert!(works(&cache, &other, 1000));
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
        let cache = Cache::default();
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
        let cache = Cache::of_at_least(Duration::from_secs(3600));
        assert!(works(&cache, &chain(5), 1000) && works(&cache, &chain(5), 1000));
        assert_eq!(cache.len(), 0);
        let cache = Cache::of_at_least(Duration::ZERO);
        assert!(works(&cache, &chain(5), 1000) && !works(&cache, &chain(5), 1000));
    }

    #[test]
    fn drops_the_least_recently_used_answer() {
        let cache = Cache::new(25);
        for n in [7, 8, 7, 9] {
            works(&cache, &chain(n), 1000);
        }
        // 8 + 9 + 10 nodes do not fit, and the chain of 8 was used before the chain of 7.
        assert_eq!(cache.len(), 2);
        assert!(!works(&cache, &chain(7), 1000) && !works(&cache, &chain(9), 1000));
        assert!(works(&cache, &chain(8), 1000));
        // An instance that is too large is not kept.
        assert!(works(&cache, &chain(30), 1000) && works(&cache, &chain(30), 1000));
    }
}

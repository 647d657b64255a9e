//! The best choice and the best bound of one part, shared by search and proof.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::certificate::Proof;

/// The best choice up to now, the best lower bound with its proof, and a stop flag.
///
/// Laws: `lower <= optimum <= upper`; `upper` is the cost of `best`; [`Incumbent::proof`]
/// proves `lower`.
pub(crate) struct Incumbent {
    upper: AtomicU64,
    lower: AtomicU64,
    done: AtomicBool,
    /// Ratio of the time that annealing sleeps to the time that it works.
    sleep_ratio: AtomicU32,
    best: Mutex<Vec<bool>>,
    proof: Mutex<Arc<Proof>>,
    /// Sources that may prove higher bounds than `proof`.
    sources: Mutex<[Option<Arc<dyn ProofSource>>; 2]>,
    /// Called with each better bound.
    listener: Option<Box<dyn Fn(u64) + Send + Sync>>,
}

/// A source of proofs for the bounds that it offered. A proof is built only on request.
pub(crate) trait ProofSource: Send + Sync {
    /// Returns the best proof of this source.
    fn proof(&self) -> Proof;
}

/// The kinds of proof sources.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SourceKind {
    /// The relaxation, cluster by cluster.
    Relaxation,
    /// The subproblems that remain when some sites are settled.
    Subproblems,
}

impl std::fmt::Debug for Incumbent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.lower(), self.upper())
    }
}

impl Incumbent {
    /// Returns an incumbent with a legal choice.
    pub(crate) fn new(cost: u64, chosen: Vec<bool>) -> Incumbent {
        Incumbent {
            upper: AtomicU64::new(cost),
            lower: AtomicU64::new(0),
            done: AtomicBool::new(false),
            sleep_ratio: AtomicU32::new(0),
            best: Mutex::new(chosen),
            proof: Mutex::default(),
            sources: Mutex::default(),
            listener: None,
        }
    }

    /// Sets the function that is called with each better bound.
    pub(crate) fn with_listener(self, listener: impl Fn(u64) + Send + Sync + 'static) -> Incumbent {
        Incumbent { listener: Some(Box::new(listener)), ..self }
    }

    /// Returns the cost of the best choice.
    pub(crate) fn upper(&self) -> u64 {
        self.upper.load(Ordering::Acquire)
    }

    /// Returns the best proven bound, at most [`Incumbent::upper`].
    pub(crate) fn lower(&self) -> u64 {
        self.lower.load(Ordering::Acquire).min(self.upper())
    }

    /// Returns the best choice.
    pub(crate) fn best(&self) -> Vec<bool> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Offers a legal choice.
    pub(crate) fn offer(&self, cost: u64, chosen: &[bool]) {
        let mut best = self.best.lock().unwrap_or_else(PoisonError::into_inner);
        if cost < self.upper() {
            best.copy_from_slice(chosen);
            self.upper.store(cost, Ordering::Release);
        }
    }

    /// Offers a bound; one of the sources has its proof.
    pub(crate) fn raise_bound(&self, bound: u64) {
        let before = self.lower.fetch_max(bound, Ordering::AcqRel);
        if let Some(listener) = self.listener.as_ref().filter(|_| before < bound) {
            listener(self.lower());
        }
    }

    /// Offers a bound with its proof.
    pub(crate) fn offer_proof(&self, proof: Proof) {
        let bound = proof.bound;
        let mut best = self.proof.lock().unwrap_or_else(PoisonError::into_inner);
        if bound > best.bound {
            *best = Arc::new(proof);
        }
        drop(best);
        self.raise_bound(bound);
    }

    /// Replaces a source. The new source must prove at least the bound of the old one.
    pub(crate) fn set_source(&self, of: SourceKind, source: Arc<dyn ProofSource>) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources[of as usize] = Some(source);
    }

    /// Returns the best proof of all sources.
    pub(crate) fn proof(&self) -> Arc<Proof> {
        let mut best = self.proof.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for source in sources.into_iter().flatten() {
            if best.bound >= self.lower.load(Ordering::Acquire) {
                break;
            }
            let proof = source.proof();
            if proof.bound > best.bound {
                best = Arc::new(proof);
            }
        }
        best
    }

    /// Returns true if the best choice is optimal.
    pub(crate) fn is_proven(&self) -> bool {
        self.lower() >= self.upper()
    }

    /// Runs work that uses all processors. Meanwhile annealing sleeps `rests` times as long as it
    /// works.
    pub(crate) fn with_sleeping_search(&self, rests: u32, work: impl FnOnce()) {
        self.sleep_ratio.store(rests, Ordering::Release);
        work();
        self.sleep_ratio.store(0, Ordering::Release);
    }

    /// Returns the ratio of the time that annealing must sleep to the time that it works.
    pub(crate) fn sleep_ratio(&self) -> u32 {
        self.sleep_ratio.load(Ordering::Acquire)
    }

    /// Makes the search and the proof stop.
    pub(crate) fn request_stop(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// Allows work on the part again after [`Incumbent::request_stop`]. The proof then starts again
    /// with new sources, so the proof of the old sources is stored first.
    pub(crate) fn resume(&self) {
        if self.lower() > 0 {
            self.offer_proof((*self.proof()).clone());
        }
        self.done.store(false, Ordering::Release);
    }

    /// Returns true if search and proof must stop.
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) || self.is_proven()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source whose proof has a fixed bound.
    struct FixedProof(u64);

    impl ProofSource for FixedProof {
        fn proof(&self) -> Proof {
            Proof { bound: self.0, ..Proof::default() }
        }
    }

    #[test]
    fn keeps_a_proof_when_a_part_is_resumed() {
        let incumbent = Incumbent::new(9, vec![true]);
        incumbent.set_source(SourceKind::Relaxation, Arc::new(FixedProof(5)));
        incumbent.raise_bound(5);
        assert_eq!(incumbent.proof().bound, 5);
        incumbent.resume();
        incumbent.set_source(SourceKind::Relaxation, Arc::new(FixedProof(2)));
        assert_eq!((incumbent.proof().bound, incumbent.lower()), (5, 5));
    }
}

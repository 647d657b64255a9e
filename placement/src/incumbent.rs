//! What the search and the proof tell each other about one part: the best choice and the best bound.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::certificate::Proof;

/// The best choice so far, no cheaper choice than `lower`, and whether to stop.
///
/// Laws kept: `lower <= optimum <= upper`; `upper` is the cost of `best`; and whoever asks for it gets a proof of `lower`.
pub(crate) struct Incumbent {
    upper: AtomicU64,
    lower: AtomicU64,
    done: AtomicBool,
    /// Rests of a walk for each turn.
    rests: AtomicU32,
    best: Mutex<Vec<bool>>,
    proof: Mutex<Arc<Proof>>,
    /// What may prove more than that.
    sources: Mutex<[Option<Arc<dyn Source>>; 2]>,
    /// Is told each better bound.
    listener: Option<Box<dyn Fn(u64) + Send + Sync>>,
}

/// Somebody who has proofs of the bounds that it offers, put together only when one is asked for.
pub(crate) trait Source: Send + Sync {
    /// The best proof that it has.
    fn proof(&self) -> Proof;
}

/// Who is a source.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Of {
    /// The relaxation, cluster by cluster.
    Relaxation,
    /// The pieces that are left when sites are settled.
    Pieces,
}

impl std::fmt::Debug for Incumbent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}", self.lower(), self.upper())
    }
}

impl Incumbent {
    /// An incumbent with a legal choice.
    pub(crate) fn new(cost: u64, chosen: Vec<bool>) -> Incumbent {
        Incumbent {
            upper: AtomicU64::new(cost),
            lower: AtomicU64::new(0),
            done: AtomicBool::new(false),
            rests: AtomicU32::new(0),
            best: Mutex::new(chosen),
            proof: Mutex::default(),
            sources: Mutex::default(),
            listener: None,
        }
    }

    /// Has each better bound told to somebody.
    pub(crate) fn with_listener(self, listener: impl Fn(u64) + Send + Sync + 'static) -> Incumbent {
        Incumbent { listener: Some(Box::new(listener)), ..self }
    }

    /// Cost of the best choice.
    pub(crate) fn upper(&self) -> u64 {
        self.upper.load(Ordering::Acquire)
    }

    /// The best proven bound, at most the upper one.
    pub(crate) fn lower(&self) -> u64 {
        self.lower.load(Ordering::Acquire).min(self.upper())
    }

    /// The best choice.
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

    /// Offers a bound that a source has a proof of.
    pub(crate) fn prove(&self, bound: u64) {
        let before = self.lower.fetch_max(bound, Ordering::AcqRel);
        if let Some(listener) = self.listener.as_ref().filter(|_| before < bound) {
            listener(self.lower());
        }
    }

    /// Offers a bound with its proof.
    pub(crate) fn certify(&self, proof: Proof) {
        let bound = proof.bound;
        let mut best = self.proof.lock().unwrap_or_else(PoisonError::into_inner);
        if bound > best.bound {
            *best = Arc::new(proof);
        }
        drop(best);
        self.prove(bound);
    }

    /// Names a source, which must prove no less than the one before it.
    pub(crate) fn ask(&self, of: Of, source: Arc<dyn Source>) {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        sources[of as usize] = Some(source);
    }

    /// The best proof of all.
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

    /// Nothing is left to gain.
    pub(crate) fn is_proven(&self) -> bool {
        self.lower() >= self.upper()
    }

    /// Does what takes all processors; walks rest so many times as long as they work meanwhile.
    pub(crate) fn crowd(&self, rests: u32, work: impl FnOnce()) {
        self.rests.store(rests, Ordering::Release);
        work();
        self.rests.store(0, Ordering::Release);
    }

    /// How many times as long as it works a walk is to rest, for all processors are used.
    pub(crate) fn rests(&self) -> u32 {
        self.rests.load(Ordering::Acquire)
    }

    /// Tells the other side to stop.
    pub(crate) fn finish(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// Takes that back, before the part is worked on again: who proves then begins anew, so what the sources prove is kept.
    pub(crate) fn resume(&self) {
        if self.lower() > 0 {
            self.certify((*self.proof()).clone());
        }
        self.done.store(false, Ordering::Release);
    }

    /// Whether to stop.
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) || self.is_proven()
    }
}

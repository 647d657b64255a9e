//! What the search and the proof tell each other about one part: the best choice and the best bound.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::cores::Core;

/// The best choice so far, no cheaper choice than `lower`, and whether to stop.
///
/// Law kept: `lower <= optimum <= upper`, and `upper` is the cost of `best`.
pub(crate) struct Incumbent {
    upper: AtomicU64,
    lower: AtomicU64,
    done: AtomicBool,
    best: Mutex<Vec<bool>>,
    proof: Mutex<CoreProof>,
    /// Is told each better bound.
    listener: Option<Box<dyn Fn(u64) + Send + Sync>>,
}

/// Cores with multipliers in units of `2^-SCALE`, and what they prove.
#[derive(Clone, Debug, Default)]
pub(crate) struct CoreProof {
    pub cores: Vec<(Core, i128)>,
    pub bound: u64,
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
            best: Mutex::new(chosen),
            proof: Mutex::default(),
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

    /// Offers a bound.
    pub(crate) fn prove(&self, bound: u64) {
        let before = self.lower.fetch_max(bound, Ordering::AcqRel);
        if let Some(listener) = self.listener.as_ref().filter(|_| before < bound) {
            listener(self.lower());
        }
    }

    /// Offers a bound with the cores that prove it.
    pub(crate) fn certify(&self, proof: CoreProof) {
        self.prove(proof.bound);
        let mut best = self.proof.lock().unwrap_or_else(PoisonError::into_inner);
        if proof.bound > best.bound {
            *best = proof;
        }
    }

    /// The best bound that cores prove, with the cores.
    pub(crate) fn proof(&self) -> CoreProof {
        self.proof.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nothing is left to gain.
    pub(crate) fn is_proven(&self) -> bool {
        self.lower() >= self.upper()
    }

    /// Tells the other side to stop.
    pub(crate) fn finish(&self) {
        self.done.store(true, Ordering::Release);
    }

    /// Takes that back, before the part is worked on again.
    pub(crate) fn resume(&self) {
        self.done.store(false, Ordering::Release);
    }

    /// Whether to stop.
    pub(crate) fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire) || self.is_proven()
    }
}

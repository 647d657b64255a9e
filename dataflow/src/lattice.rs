//! Join-semilattices, the values of dataflow facts.
//!
//! *Laws.* `join` computes the least upper bound: it is idempotent, commutative and associative,
//! [`Lattice::bottom`] is neutral, and the returned [`Changed`] is `Yes` exactly if the left side
//! changed. With these laws and monotone transfer functions, a solver ends at the least solution in
//! any order of its visits. [`check_laws`] checks them for a sample of elements.
//!
//! There is no `PartialOrd` supertrait: `a <= b` means that joining `a` into `b` changes nothing.
//! The orders that Rust derives are lexicographic and thus different.

/// Result of an operation that may change its target. A solver that ignores it misses changes,
/// hence `must_use`.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The target is the same as before.
    No,
    /// The target is a different element now.
    Yes,
}

impl Changed {
    /// Returns `Yes` if `is` is true.
    pub fn when(is: bool) -> Self {
        if is { Changed::Yes } else { Changed::No }
    }

    /// Returns true for `Yes`.
    pub fn is_yes(self) -> bool {
        self == Changed::Yes
    }

    /// Returns `Yes` if either is `Yes`.
    pub fn or(self, other: Self) -> Self {
        Self::when(self.is_yes() || other.is_yes())
    }
}

/// A join-semilattice with a least element.
pub trait Lattice: Clone + PartialEq {
    /// Returns the least element, the fact of a value that no execution reaches.
    fn bottom() -> Self;

    /// Makes `self` the least upper bound of both.
    fn join(&mut self, other: &Self) -> Changed;

    /// Returns true if `self` is at most `other` in the order that `join` defines.
    fn is_at_most(&self, other: &Self) -> bool {
        other.clone().join(self) == Changed::No
    }
}

/// A totally ordered lattice: the order is the `Ord` of the type, and the default value is bottom.
pub trait Chain: Copy + Ord + Default {}

impl<T: Chain> Lattice for T {
    fn bottom() -> Self {
        T::default()
    }

    #[inline]
    fn join(&mut self, other: &Self) -> Changed {
        let changed = Changed::when(*other > *self);
        *self = (*self).max(*other);
        changed
    }
}

/// Checks the lattice laws on all pairs and triples of a sample.
///
/// # Errors
///
/// Names the first broken law and the elements that break it.
pub fn check_laws<L: Lattice + std::fmt::Debug>(sample: &[L]) -> Result<(), String> {
    let joined = |a: &L, b: &L| {
        let mut out = a.clone();
        let changed = out.join(b);
        (out, changed)
    };
    for a in sample {
        let (same, changed) = joined(a, a);
        if same != *a || changed.is_yes() {
            return Err(format!(
                "join is not idempotent: {a:?} joined with itself gives {same:?} ({changed:?})"
            ));
        }
        let (up, _) = joined(&L::bottom(), a);
        let (down, changed) = joined(a, &L::bottom());
        if up != *a || down != *a || changed.is_yes() {
            return Err(format!(
                "bottom is not neutral: joined with {a:?} it gives {up:?} and {down:?}"
            ));
        }
        for b in sample {
            let (ab, changed) = joined(a, b);
            let (ba, _) = joined(b, a);
            if ab != ba {
                return Err(format!(
                    "join is not commutative: {a:?} and {b:?} give {ab:?} and {ba:?}"
                ));
            }
            if changed.is_yes() != (ab != *a) {
                return Err(format!(
                    "join reports a wrong change: {a:?} and {b:?} give {ab:?}, reported as {changed:?}"
                ));
            }
            for c in sample {
                let (left, right) = (joined(&ab, c).0, joined(a, &joined(b, c).0).0);
                if left != right {
                    return Err(format!(
                        "join is not associative: {a:?}, {b:?} and {c:?} give {left:?} and {right:?}"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Checks that a function of two facts is monotone in each of them, on all pairs of a sample.
///
/// # Errors
///
/// Names the first elements for which the function is not monotone.
pub fn check_monotone<L: Lattice + std::fmt::Debug>(
    sample: &[L],
    transfer: &dyn Fn(&L, &L) -> L,
) -> Result<(), String> {
    for a in sample {
        for b in sample {
            if !a.is_at_most(b) {
                continue;
            }
            for c in sample {
                for (low, high) in
                    [(transfer(a, c), transfer(b, c)), (transfer(c, a), transfer(c, b))]
                {
                    if !low.is_at_most(&high) {
                        let up = format!("{a:?} <= {b:?} with {c:?}");
                        return Err(format!("not monotone: {up} gives {low:?} and {high:?}"));
                    }
                }
            }
        }
    }
    Ok(())
}

impl Chain for bool {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lattice that always claims a change.
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Boastful(bool);

    impl Lattice for Boastful {
        fn bottom() -> Self {
            Boastful(false)
        }

        fn join(&mut self, other: &Self) -> Changed {
            self.0 |= other.0;
            Changed::Yes
        }
    }

    #[test]
    fn detects_wrong_change_reports() {
        assert_eq!(check_laws(&[false, true]), Ok(()));
        assert!(check_laws(&[Boastful(false), Boastful(true)]).is_err());
    }

    #[test]
    fn rejects_decreasing_functions() {
        assert_eq!(check_monotone(&[false, true], &|a, b| *a || *b), Ok(()));
        assert!(check_monotone(&[false, true], &|a, _| !*a).is_err());
    }
}

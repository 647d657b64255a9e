//! The lines in which two texts differ.
//!
//! *Cost.* About linear in both texts, even if every line has changed: lines that occur in only one
//! text are removed before the search, and for texts with many repeated lines the edit script may
//! not be the shortest.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput, Token};

mod unified;

pub use unified::unified;

/// Lines of a text, and the lines of another text that replace them. One of the two ranges may be
/// empty.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LineChange {
    /// Lines of the old text, from 0.
    pub before: Range<usize>,
    /// Lines of the new text, from 0.
    pub after: Range<usize>,
}

/// Maximum number of lines for the histogram algorithm. It gives more readable changes, but scans
/// the rest of the text for each change.
const LONG: usize = 20_000;

/// Returns the changes from the lines `before` to the lines `after`, in order. At least one
/// unchanged line is between two changes.
pub fn changes(before: &[&str], after: &[&str]) -> Vec<LineChange> {
    let mut lines = InternedInput::default();
    lines.update_before(before.iter().copied());
    lines.update_after(after.iter().copied());
    let n = lines.interner.num_tokens();
    let (old, new) = (
        SharedLines::new(&lines.before, &lines.after, n),
        SharedLines::new(&lines.after, &lines.before, n),
    );
    let mut diff = Diff::default();
    let is_long = old.tokens.len().max(new.tokens.len()) > LONG;
    let algorithm = if is_long { Algorithm::Myers } else { Algorithm::Histogram };
    diff.compute_with(algorithm, &old.tokens, &new.tokens, n);
    let stays = |of: &SharedLines, is_changed: &dyn Fn(u32) -> bool| -> Vec<usize> {
        (0_u32..).zip(&of.rows).filter(|it| !is_changed(it.0)).map(|it| *it.1).collect()
    };
    let stay = stays(&old, &|it| diff.is_removed(it)).into_iter();
    let stay = stay.zip(stays(&new, &|it| diff.is_added(it)));
    let (mut from, mut to) = (0, 0);
    let mut out = Vec::new();
    // The lines between two unchanged lines are one change.
    for (old, new) in stay.chain([(before.len(), after.len())]) {
        if (from, to) != (old, new) {
            out.push(LineChange { before: from..old, after: to..new });
        }
        (from, to) = (old + 1, new + 1);
    }
    out
}

/// The lines of a text that also occur in another text, and their numbers.
struct SharedLines {
    tokens: Vec<Token>,
    rows: Vec<usize>,
}

impl SharedLines {
    fn new(of: &[Token], other: &[Token], n_tokens: u32) -> Self {
        let mut is_there = vec![false; n_tokens as usize];
        for it in other {
            is_there[it.0 as usize] = true;
        }
        let shared = (0..).zip(of).filter(|it| is_there[it.1.0 as usize]);
        let (rows, tokens) = shared.unzip();
        Self { tokens, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn text() -> impl Strategy<Value = Vec<&'static str>> {
        vec(select(vec!["a", "b", "c"]), 0..30)
    }

    proptest! {
        #[test]
        fn lines_between_changes_stay(before in text(), after in text()) {
            let (mut from, mut to) = (0, 0);
            let found = changes(&before, &after);
            for it in &found {
                prop_assert_eq!(&before[from..it.before.start], &after[to..it.after.start]);
                prop_assert!(!it.before.is_empty() || !it.after.is_empty());
                (from, to) = (it.before.end, it.after.end);
            }
            prop_assert_eq!(&before[from..], &after[to..]);
            prop_assert_eq!(found.is_empty(), before == after);
        }
    }

    #[test]
    fn lines_of_only_one_text_do_not_split_changes() {
        let change = |before, after| LineChange { before, after };
        assert_eq!(changes(&["a", "b", "c"], &["a", "x", "y", "c"]), [change(1..2, 1..3)]);
        assert_eq!(changes(&[], &["a"]), [change(0..0, 0..1)]);
        assert_eq!(changes(&["a", "b"], &["b", "c"]), [change(0..1, 0..0), change(2..2, 1..2)]);
    }
}

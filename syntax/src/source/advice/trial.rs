//! Selects the proposals that help by applying each to a copy.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Proposal;
use crate::{Category, Code, Op, Problem, Source};

/// Maximum number of proposals that are tried for one request. Later problems have no proposals.
const MAX_TRIALS: usize = 256;
/// Maximum number of problems that are computed for one request. Each trial computes all problems
/// of the text.
const MAX_LISTED_PROBLEMS: usize = 200_000;

/// The numbers of problems of a text.
#[derive(Clone, Copy)]
struct ProblemCounts {
    n_problems: usize,
    /// Number of problems that may hide others.
    n_blocking: usize,
}

impl Source {
    /// Returns the proposals that help against each of some problems, sorted by the number of
    /// remaining problems. Each is tried on a copy of the text. A proposal that removes a problem
    /// may reveal problems that were hidden by it; it is kept unless one of them is in the changed
    /// lines.
    ///
    /// If the best proposal of an earlier problem removes a later problem, the later one has no
    /// proposals of its own: applying both would change correct text. There is one exception: if
    /// the earlier proposal is unsure and the later problem has a sure one, the later problem keeps
    /// its proposals.
    pub fn proven_proposals(
        &self,
        problems: &[&(Op, Range<usize>, Problem)],
    ) -> Vec<Vec<Proposal>> {
        let text = self.text().to_string();
        let mut copy: Option<Source> = None;
        let mut n_trials = 0;
        let before = count_problems(&self.problems());
        let most = (MAX_LISTED_PROBLEMS / before.n_problems.max(1)).clamp(1, MAX_TRIALS);
        let mut out: Vec<Vec<Proposal>> = Vec::with_capacity(problems.len());
        // The problems that an earlier proposal removes; true if that proposal is sure.
        let mut removed: FxHashMap<usize, bool> = FxHashMap::default();
        for (n, (op, range, problem)) in problems.iter().enumerate() {
            let is_in_time = n_trials < most;
            let advice = is_in_time.then(|| self.advice(*op, range, problem));
            let mut kept: Vec<(usize, Proposal, Vec<usize>)> = Vec::new();
            for it in advice.map(|it| it.proposals).unwrap_or_default() {
                let is_known = kept.iter().any(|known| known.1.edits == it.edits);
                if is_known || !is_applicable(&it, &text) {
                    continue;
                }
                n_trials += 1;
                let copy = copy.get_or_insert_with(|| Source::new(&text));
                if let Some((left, gone)) =
                    copy.try_proposal(&it, &text, before, &problems[n + 1..])
                {
                    kept.push((left, it, gone));
                }
            }
            kept.sort_by_key(|it| it.0);
            let has_sure = kept.iter().any(|it| it.1.is_sure);
            if removed.get(&n).is_some_and(|&is_sure| is_sure || !has_sure) {
                kept.clear();
            }
            if let Some((_, best, gone)) = kept.first() {
                for at in gone {
                    *removed.entry(n + 1 + at).or_default() |= best.is_sure;
                }
            }
            out.push(kept.into_iter().map(|it| it.1).collect());
        }
        out
    }

    /// Applies a proposal and reverts it. Returns the number of remaining problems, and the indices
    /// of those of `others` that it removes; `None` if it does not help.
    fn try_proposal(
        &mut self,
        it: &Proposal,
        text: &str,
        before: ProblemCounts,
        others: &[&(Op, Range<usize>, Problem)],
    ) -> Option<(usize, Vec<usize>)> {
        let mut n_new = 0;
        for (range, new) in it.edits.iter().rev() {
            self.edit(range.clone(), new);
            n_new += new.len();
        }
        let problems = self.problems();
        let after = count_problems(&problems);
        let helps = after.n_problems < before.n_problems
            || after.n_blocking < before.n_blocking && {
                let (first, last) = (it.edits.first()?, it.edits.last()?);
                let start = self.line_start(first.0.start);
                let n_old: usize = it.edits.iter().map(|it| it.0.len()).sum();
                let end = last.0.end + n_new - n_old.min(last.0.end + n_new);
                !problems.iter().any(|it| start <= it.1.end && it.1.start <= end)
            };
        for (range, new) in &it.edits {
            self.edit(range.start..range.start + new.len(), &text[range.clone()]);
        }
        debug_assert_eq!(self.text().len_bytes(), text.len(), "all edits are taken back");
        helps.then(|| {
            let left: FxHashSet<(Code, &str)> =
                problems.iter().map(|it| (it.2.code, it.2.message.as_str())).collect();
            let is_gone = |at: &usize| {
                let other = &others[*at].2;
                !left.contains(&(other.code, other.message.as_str()))
            };
            (after.n_problems, (0..others.len()).filter(is_gone).collect())
        })
    }
}

fn count_problems(problems: &[(Op, Range<usize>, Problem)]) -> ProblemCounts {
    let is_blocking = |it: &&(Op, Range<usize>, Problem)| it.2.category() != Category::Structure;
    ProblemCounts {
        n_problems: problems.len(),
        n_blocking: problems.iter().filter(is_blocking).count(),
    }
}

/// Returns true if the edits are in order, disjoint and on character boundaries.
fn is_applicable(it: &Proposal, text: &str) -> bool {
    let is_at_boundary = |it: &(Range<usize>, String)| {
        it.0.start <= it.0.end
            && text.is_char_boundary(it.0.start)
            && text.is_char_boundary(it.0.end)
    };
    !it.edits.is_empty()
        && it.edits.iter().all(is_at_boundary)
        && it.edits.windows(2).all(|it| it[0].0.end <= it[1].0.start)
}

//! Improvement of a program: the optimizer places candidates, and the cheapest one is taken if it
//! is proven equivalent.

mod candidates;

use std::time::{Duration, Instant};

use noisy_analyses::{
    Document, PlacementOptions as Placing, PlacementOutcome, Program, TextEdit, insert_reduces,
};
use noisy_syntax::{Op, parallel};

use self::candidates::{BlockVariants, CandidateSearch};
use crate::equality::{Equality, prove_equal_unless};
use crate::placing::clock::TimeLimit;
use crate::placing::race::PlacementRace;
use crate::placing::{Placer, RewriteOptions, apply_edits, costs_and_bounds, functions_at};
use crate::scale::NoiseParameters;
use crate::structure::{StructureForms, is_allowed_form};

/// The fraction of the time limit that is reserved for the caller, which places and analyzes the
/// result again.
const LAST_PART: f64 = 0.05;

/// The time limit if the options have none.
const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// Minimum time to place the result, even if rewriting took all the time: the cache does not
/// contain placements that took less.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// Returns the time for placing the result, out of a limit that started with [`rewrite`].
pub fn time_left(limit: Duration, start: Instant) -> Duration {
    limit.saturating_sub(start.elapsed()).max(LEAST_TIME.min(limit))
}

/// The costs of a function before and after rewriting, in executed reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct Saving {
    /// The index of the function in the argument of [`rewrite`].
    pub function_index: usize,
    /// The name of the function, without `@`.
    pub function: String,
    /// The cost of a placement of the original function.
    pub before: f64,
    /// Lower bound of the cost of placements of the original function.
    pub lower_bound_before: f64,
    /// The cost of a placement of the rewritten function.
    pub after: f64,
    /// Lower bound of the cost of placements of the rewritten function.
    pub lower_bound_after: f64,
    /// Lower bound of the cost of all rewritings of the function.
    pub lower_bound: f64,
    /// The proof that both functions are equivalent.
    pub equality: Equality,
}

impl Saving {
    /// Returns true if the rewriting is proven optimal.
    pub fn is_optimal(&self) -> bool {
        self.after <= self.lower_bound
    }
}

/// A rewritten program without a placement.
#[derive(Debug)]
pub struct RewrittenProgram {
    /// The rewritten program.
    pub document: Document,
    /// The functions that were rewritten.
    pub savings: Vec<Saving>,
}

/// Rewrites functions of a program so that they need fewer reductions. `None` if no rewriting was
/// found that is proven equivalent and saves reductions. Functions without a placement are left
/// unchanged.
///
/// *Law.* The original program is placed with the whole time limit, concurrently with the search. A
/// rewriting is returned only if its own placement costs less. Both placements are stored in the
/// cache of the options, so placing the result takes no time and has the same cost.
pub fn rewrite(
    program: &Program,
    functions: &[Op],
    options: &RewriteOptions,
) -> Option<RewrittenProgram> {
    let scale = NoiseParameters::of(program.model())?;
    let limits = &options.placement.limits;
    let limit = limits.time.unwrap_or(DEFAULT_LIMIT);
    let clock = TimeLimit::new(limit.mul_f64(1.0 - LAST_PART), limits.cancel.clone());
    let all = program.ir().functions();
    let place_of = |it: &Op| all.iter().position(|of| of == it);
    let places = functions.iter().map(place_of).collect::<Option<_>>()?;
    let placer = Placer {
        options,
        noise_parameters: scale,
        time_limit_seconds: limit.as_secs_f64(),
        function_indices: places,
    };
    let run = RewriteRun { program, functions, placer, race: PlacementRace::new(program) };
    let told = |placing: Placing| Placing { watch: options.placement.watch.clone(), ..placing };
    let (before, found) = if cfg!(target_family = "wasm") {
        // Without threads, each part gets half of the time.
        let before = insert_reduces(
            program,
            functions,
            &told(run.placer.placement_options(&clock.part(0.5))),
        );
        run.race.end();
        (before, run.find(&clock))
    } else {
        let place = || {
            let placing = run.race.watched_options(told(run.placer.placement_options(&clock)));
            let outcome = insert_reduces(program, functions, &placing);
            run.race.end();
            outcome
        };
        let find = || {
            let found = run.find(&clock);
            run.race.allow_all_threads();
            found
        };
        parallel::run_beside(place, find)
    };
    run.keep_cheaper(&before.ok()?, found?)
}

/// One call of [`rewrite`].
struct RewriteRun<'a> {
    program: &'a Program,
    functions: &'a [Op],
    placer: Placer<'a>,
    race: PlacementRace,
}

/// A rewritten form of the program.
struct RewrittenForm {
    document: Document,
    functions: Vec<Op>,
}

/// All forms that were found, with their ranking.
#[derive(Default)]
struct FoundForms {
    /// The variants of the arithmetic of the original program.
    choices: Vec<BlockVariants>,
    forms: Vec<RewrittenForm>,
    /// By function: the costs and the indices of the forms in which it has changed, the cheapest
    /// first.
    ranked: Vec<Vec<(f64, usize)>>,
}

impl FoundForms {
    /// True if the best form of each function has cost 0.
    fn has_only_free_forms(&self) -> bool {
        self.ranked.iter().all(|it| it.first().is_some_and(|it| it.0 <= 0.0))
    }

    /// Returns the latest form that is the cheapest one for some function.
    fn best(&self) -> Option<&Program> {
        let numbers = self.ranked.iter().filter_map(|it| Some(it.first()?.1));
        Some(&self.forms[numbers.max()?].document)
    }
}

/// A rewritten program that is proven equivalent.
struct ProvenProgram {
    after: Document,
    /// By function: the proof if the function is rewritten.
    equalities: Vec<Option<Equality>>,
}

impl RewriteRun<'_> {
    /// Finds the best form of each function, and places the resulting program.
    fn find(&self, clock: &TimeLimit) -> Option<(FoundForms, ProvenProgram, PlacementOutcome)> {
        let mut found = self.forms(&clock.part(0.5).at_most(self.placer.options.search_time));
        let shown = self.prove_best(&mut found, &clock.part(0.5))?;
        // The first placement is in the cache because of the trials.
        let (_, first) = self.placer.place(&shown.after, &clock.part(0.1))?;
        self.race.allow_all_threads();
        // A rewritten function without a placement has infinite cost; an unchanged one without a
        // placement does not count.
        let refused = |at: usize| if shown.equalities[at].is_some() { f64::INFINITY } else { 0.0 };
        let all = costs_and_bounds(&first).into_iter().enumerate();
        let cost = all.map(|(at, it)| it.map_or_else(|| refused(at), |it| it.0)).sum();
        let is_optimal = first.functions.iter().all(|it| it.verdict.is_optimal());
        if self.race.is_lost(cost) {
            return None;
        }
        if is_optimal {
            self.race.finish_rewriting(cost);
            return Some((found, shown, first));
        }
        self.race.enter_rewriting(cost);
        let placed = self.placer.place(&shown.after, clock).map_or(first, |it| it.1);
        Some((found, shown, placed))
    }

    /// Rewrites the arithmetic of the program and of its restructured forms, each with a share of
    /// the time.
    fn forms(&self, clock: &TimeLimit) -> FoundForms {
        let mut found =
            FoundForms { ranked: vec![Vec::new(); self.functions.len()], ..FoundForms::default() };
        let mut forms = StructureForms::of(self.program, &self.placer);
        let share = |n: usize| clock.part(1.0 / (1 + n) as f64);
        let part = share(forms.n_left());
        let search = CandidateSearch {
            placer: &self.placer,
            program: self.program,
            functions: self.functions,
        };
        found.choices = search.block_variants(&part.part(0.7));
        if let Some(after) = search.place_candidates(&found.choices, None, &part) {
            self.rank_form(&mut found, after, &part);
        }
        while let Some(form) = forms.next(found.best()) {
            if clock.is_over() || found.has_only_free_forms() {
                break;
            }
            let part = share(forms.n_left());
            let after = self.rewrite_form(form, &part);
            self.rank_form(&mut found, after, &part);
        }
        found
    }

    /// Returns a restructured form of the program with rewritten arithmetic.
    fn rewrite_form(&self, form: Document, clock: &TimeLimit) -> Document {
        let least = self.placer.place(&form, &clock.part(0.1));
        let after = least.and_then(|(functions, least)| {
            let search =
                CandidateSearch { placer: &self.placer, program: &form, functions: &functions };
            let choices = search.block_variants(&clock.part(0.6));
            let least =
                costs_and_bounds(&least).into_iter().map(|it| it.map_or(f64::INFINITY, |it| it.0));
            search.place_candidates(&choices, Some(least.collect()), &clock.part(0.8))
        });
        StructureForms::finished(after.unwrap_or(form), &self.placer)
    }

    /// Adds a form to the ranking of each function.
    fn rank_form(&self, found: &mut FoundForms, document: Document, clock: &TimeLimit) {
        let Some((functions, outcome)) = self.placer.place(&document, clock) else { return };
        let number = found.forms.len();
        for (at, cost) in costs_and_bounds(&outcome).into_iter().enumerate() {
            let pair = ((self.program, self.functions[at]), (&*document, functions[at]));
            let fits = is_allowed_form(pair.0, pair.1, self.placer.options.max_growth);
            if let Some((cost, _)) = cost.filter(|_| fits) {
                let ranked = &mut found.ranked[at];
                let place = ranked.partition_point(|it| it.0 <= cost);
                ranked.insert(place, (cost, number));
            }
        }
        found.forms.push(RewrittenForm { document, functions });
    }

    /// Returns the program with the cheapest form of each function that is proven equivalent;
    /// `None` if no function is changed. Forms that are not proven equivalent are dropped.
    fn prove_best(&self, found: &mut FoundForms, clock: &TimeLimit) -> Option<ProvenProgram> {
        while found.ranked.iter().any(|it| !it.is_empty()) {
            let mut edits = Vec::new();
            for (ranked, (at, &function)) in
                found.ranked.iter().zip(self.functions.iter().enumerate())
            {
                let Some(&(_, number)) = ranked.first() else { continue };
                let RewrittenForm { document, functions } = &found.forms[number];
                let text = document.source().slice(document.ir().range(functions[at]));
                edits.push(TextEdit { range: self.program.ir().range(function), text });
            }
            let after = apply_edits(self.program, &TextEdit::in_order(edits)?)?;
            let new = functions_at(&after, &self.placer.function_indices)?;
            let mut equalities = vec![None; new.len()];
            let mut is_shown = true;
            for (at, ranked) in found.ranked.iter_mut().enumerate().filter(|it| !it.1.is_empty()) {
                let old = (self.program, self.functions[at]);
                // A form with alternatives gets less time.
                let clock = clock.part(1.0 / ranked.len() as f64);
                equalities[at] =
                    prove_equal_unless(old, (&after, new[at]), &|| clock.is_over()).ok();
                if equalities[at].is_none() {
                    ranked.remove(0);
                    is_shown = false;
                }
            }
            if is_shown {
                return Some(ProvenProgram { after, equalities });
            }
        }
        None
    }

    /// Returns the result with only the functions whose rewriting is cheaper. Functions that are
    /// placed together are rewritten together or not at all.
    fn keep_cheaper(
        &self,
        before: &PlacementOutcome,
        (mut found, mut shown, placed): (FoundForms, ProvenProgram, PlacementOutcome),
    ) -> Option<RewrittenProgram> {
        let (old, new) = (costs_and_bounds(before), costs_and_bounds(&placed));
        let group = group_of_functions(self.functions, before);
        let mut is_left = false;
        for first in 0..group.len() {
            let its = || (0..group.len()).filter(|&it| group[it] == first);
            let sum = |of: &[Option<(f64, f64)>]| -> Option<f64> {
                its().map(|it| Some(of[it]?.0)).sum()
            };
            let is_cheaper = sum(&old).zip(sum(&new)).is_some_and(|(old, new)| new < old);
            for at in its().filter(|_| !is_cheaper) {
                is_left |= !found.ranked[at].is_empty();
                found.ranked[at].clear();
            }
        }
        if is_left {
            // Only the best forms were placed with the whole time limit.
            found.ranked.iter_mut().for_each(|it| it.truncate(1));
            // The remaining functions were already proven and placed, so little time suffices.
            let clock = TimeLimit::new(
                Duration::from_secs(1),
                self.placer.options.placement.limits.cancel.clone(),
            );
            shown = self.prove_best(&mut found, &clock)?;
        }
        let search = CandidateSearch {
            placer: &self.placer,
            program: self.program,
            functions: self.functions,
        };
        let mut savings = Vec::new();
        for (at, equality) in shown.equalities.into_iter().enumerate() {
            let (Some(equality), Some((before, least_before)), Some((after, least_after))) =
                (equality, old[at], new[at])
            else {
                continue;
            };
            let function = self.program.function_name(self.functions[at]);
            let least =
                if after > 0.0 { search.least_reductions(at, &found.choices) as f64 } else { 0.0 };
            savings.push(Saving {
                function_index: at,
                function,
                before,
                lower_bound_before: least_before,
                after,
                lower_bound_after: least_after,
                lower_bound: least,
                equality,
            });
        }
        (!savings.is_empty()).then_some(RewrittenProgram { document: shown.after, savings })
    }
}

/// Returns, for each function, the first function of its group: functions of a group are placed
/// together.
fn group_of_functions(functions: &[Op], outcome: &PlacementOutcome) -> Vec<usize> {
    let mut group: Vec<usize> = (0..functions.len()).collect();
    for it in &outcome.groups {
        let its: Vec<usize> =
            (0..functions.len()).filter(|&at| it.functions.contains(&functions[at])).collect();
        for &at in &its {
            group[at] = its[0];
        }
    }
    group
}

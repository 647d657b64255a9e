//! From a program to a better one: candidates are placed by the optimizer, and the cheapest is
//! taken if it is shown equal.

mod candidates;

use std::time::{Duration, Instant};

use noisy_analyses::{Document, Options as Placing, Outcome, Program, TextEdit, insert_reduces};
use noisy_syntax::{Op, parallel};

use self::candidates::{Choice, Search};
use crate::equality::{Equality, equal_unless};
use crate::placing::clock::Clock;
use crate::placing::race::Race;
use crate::placing::{Options, Placer, costs, edited, functions_at};
use crate::scale::Scale;
use crate::structure::{Forms, is_form_of};

/// The part of the time limit that is left for what follows: the result is placed and analyzed once
/// more.
const LAST_PART: f64 = 0.05;

/// The time limit if there is none.
const DEFAULT_LIMIT: Duration = Duration::from_secs(10);

/// Time to place the result, if rewriting took all of it: the cache does not know placements that
/// took less.
const LEAST_TIME: Duration = Duration::from_millis(50);

/// The time that is left for placing the result, of a limit that began with [`rewrite`].
pub fn time_left(limit: Duration, start: Instant) -> Duration {
    limit.saturating_sub(start.elapsed()).max(LEAST_TIME.min(limit))
}

/// The cost of a function before and after, in executed reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct Saving {
    /// The position of the function among those that were asked for.
    pub at: usize,
    /// The name of the function, without `@`.
    pub function: String,
    /// The cost of placing it as it was.
    pub before: f64,
    /// No placement of it as it was costs less.
    pub least_before: f64,
    /// The cost of placing it rewritten.
    pub after: f64,
    /// No placement of it rewritten costs less.
    pub least_after: f64,
    /// No function that computes the same by the laws of rewriting costs less.
    pub least: f64,
    /// The proof that it computes the same.
    pub equality: Equality,
}

impl Saving {
    /// Returns true if no rewriting by these laws needs fewer reductions.
    pub fn is_least(&self) -> bool {
        self.after <= self.least
    }
}

/// A rewritten program, not placed yet.
#[derive(Debug)]
pub struct Rewritten {
    /// The program that they make.
    pub document: Document,
    /// The functions that were rewritten.
    pub savings: Vec<Saving>,
}

/// Rewrites functions of a program so that they need fewer reductions; `None` if no rewriting that
/// was found and shown equal saves any. Functions that cannot be placed are left as they are.
///
/// *Law.* The program as it is gets a placement with the whole time limit, beside the search. A
/// rewriting is returned only if its own placement costs less than that one. Both placements are
/// put into the cache of the options, so that placing the result takes no time and costs no more.
pub fn rewrite(program: &Program, functions: &[Op], options: &Options) -> Option<Rewritten> {
    let scale = Scale::of(program.model())?;
    let limits = &options.placing.limits;
    let limit = limits.time.unwrap_or(DEFAULT_LIMIT);
    let clock = Clock::new(limit.mul_f64(1.0 - LAST_PART), limits.cancel.clone());
    let all = program.ir().functions();
    let place_of = |it: &Op| all.iter().position(|of| of == it);
    let places = functions.iter().map(place_of).collect::<Option<_>>()?;
    let placer = Placer { options, scale, seconds: limit.as_secs_f64(), places };
    let run = Run { program, functions, placer, race: Race::new(program) };
    let told = |placing: Placing| Placing { watch: options.placing.watch.clone(), ..placing };
    let (before, found) = if cfg!(target_family = "wasm") {
        // No threads: half of the time for each.
        let before =
            insert_reduces(program, functions, &told(run.placer.placing(&clock.part(0.5))));
        run.race.end();
        (before, run.find(&clock))
    } else {
        let place = || {
            let placing = run.race.watched(told(run.placer.placing(&clock)));
            let outcome = insert_reduces(program, functions, &placing);
            run.race.end();
            outcome
        };
        let find = || {
            let found = run.find(&clock);
            run.race.widen();
            found
        };
        parallel::beside(place, find)
    };
    run.cheaper(&before.ok()?, found?)
}

/// One call of [`rewrite`].
struct Run<'a> {
    program: &'a Program,
    functions: &'a [Op],
    placer: Placer<'a>,
    race: Race,
}

/// A form of the program whose arithmetic was searched.
struct Form {
    document: Document,
    functions: Vec<Op>,
}

/// All forms that were found.
#[derive(Default)]
struct Found {
    /// The ways to write the arithmetic of the program as it is.
    choices: Vec<Choice>,
    forms: Vec<Form>,
    /// By function: the forms in which it has changed, with their costs, the cheapest first.
    ranked: Vec<Vec<(f64, usize)>>,
}

impl Found {
    /// True if no function can get cheaper.
    fn is_free(&self) -> bool {
        self.ranked.iter().all(|it| it.first().is_some_and(|it| it.0 <= 0.0))
    }

    /// The last form that is the cheapest of a function.
    fn best(&self) -> Option<&Program> {
        let numbers = self.ranked.iter().filter_map(|it| Some(it.first()?.1));
        Some(&self.forms[numbers.max()?].document)
    }
}

/// A program that is shown equal.
struct Shown {
    after: Document,
    /// By function: the proof, if it is rewritten.
    equalities: Vec<Option<Equality>>,
}

impl Run<'_> {
    /// Finds the best form of each function, and places them.
    fn find(&self, clock: &Clock) -> Option<(Found, Shown, Outcome)> {
        let mut found = self.forms(&clock.part(0.5).at_most(self.placer.options.time));
        let shown = self.shown(&mut found, &clock.part(0.5))?;
        // A first answer, which the cache knows from the trial.
        let (_, first) = self.placer.place(&shown.after, &clock.part(0.1))?;
        self.race.widen();
        // A rewriting that cannot be placed has lost; other functions may be refused as they were.
        let refused = |at: usize| if shown.equalities[at].is_some() { f64::INFINITY } else { 0.0 };
        let all = costs(&first).into_iter().enumerate();
        let cost = all.map(|(at, it)| it.map_or_else(|| refused(at), |it| it.0)).sum();
        let is_optimal = first.functions.iter().all(|it| it.verdict.is_optimal());
        if self.race.is_lost(cost) {
            return None;
        }
        if is_optimal {
            self.race.finish(cost);
            return Some((found, shown, first));
        }
        self.race.enter(cost);
        let placed = self.placer.place(&shown.after, clock).map_or(first, |it| it.1);
        Some((found, shown, placed))
    }

    /// Rewrites the arithmetic of the program and of its other forms, each in a share of the time.
    fn forms(&self, clock: &Clock) -> Found {
        let mut found =
            Found { ranked: vec![Vec::new(); self.functions.len()], ..Found::default() };
        let mut forms = Forms::of(self.program, &self.placer);
        let share = |n: usize| clock.part(1.0 / (1 + n) as f64);
        let part = share(forms.n_left());
        let search =
            Search { placer: &self.placer, program: self.program, functions: self.functions };
        found.choices = search.choices(&part.part(0.7));
        if let Some(after) = search.tried(&found.choices, None, &part) {
            self.offer(&mut found, after, &part);
        }
        while let Some(form) = forms.next(found.best()) {
            if clock.is_over() || found.is_free() {
                break;
            }
            let part = share(forms.n_left());
            let after = self.searched(form, &part);
            self.offer(&mut found, after, &part);
        }
        found
    }

    /// A form of the program with rewritten arithmetic.
    fn searched(&self, form: Document, clock: &Clock) -> Document {
        let least = self.placer.place(&form, &clock.part(0.1));
        let after = least.and_then(|(functions, least)| {
            let search = Search { placer: &self.placer, program: &form, functions: &functions };
            let choices = search.choices(&clock.part(0.6));
            let least = costs(&least).into_iter().map(|it| it.map_or(f64::INFINITY, |it| it.0));
            search.tried(&choices, Some(least.collect()), &clock.part(0.8))
        });
        Forms::finished(after.unwrap_or(form), &self.placer)
    }

    /// Ranks a form among the others.
    fn offer(&self, found: &mut Found, document: Document, clock: &Clock) {
        let Some((functions, outcome)) = self.placer.place(&document, clock) else { return };
        let number = found.forms.len();
        for (at, cost) in costs(&outcome).into_iter().enumerate() {
            let pair = ((self.program, self.functions[at]), (&*document, functions[at]));
            let fits = is_form_of(pair.0, pair.1, self.placer.options.growth);
            if let Some((cost, _)) = cost.filter(|_| fits) {
                let ranked = &mut found.ranked[at];
                let place = ranked.partition_point(|it| it.0 <= cost);
                ranked.insert(place, (cost, number));
            }
        }
        found.forms.push(Form { document, functions });
    }

    /// The program with the cheapest form of each function that is shown equal; `None` if all
    /// functions are left as they are. Forms that are not shown equal are dropped.
    fn shown(&self, found: &mut Found, clock: &Clock) -> Option<Shown> {
        while found.ranked.iter().any(|it| !it.is_empty()) {
            let mut edits = Vec::new();
            for (ranked, (at, &function)) in
                found.ranked.iter().zip(self.functions.iter().enumerate())
            {
                let Some(&(_, number)) = ranked.first() else { continue };
                let Form { document, functions } = &found.forms[number];
                let text = document.source().slice(document.ir().range(functions[at]));
                edits.push(TextEdit { range: self.program.ir().range(function), text });
            }
            let after = edited(self.program, &TextEdit::in_order(edits)?)?;
            let new = functions_at(&after, &self.placer.places)?;
            let mut equalities = vec![None; new.len()];
            let mut is_shown = true;
            for (at, ranked) in found.ranked.iter_mut().enumerate().filter(|it| !it.1.is_empty()) {
                let old = (self.program, self.functions[at]);
                // Less for a form that others can take the place of.
                let clock = clock.part(1.0 / ranked.len() as f64);
                equalities[at] = equal_unless(old, (&after, new[at]), &|| clock.is_over()).ok();
                if equalities[at].is_none() {
                    ranked.remove(0);
                    is_shown = false;
                }
            }
            if is_shown {
                return Some(Shown { after, equalities });
            }
        }
        None
    }

    /// The functions whose rewriting costs less than what they are now. Functions that call each
    /// other are kept or left together.
    fn cheaper(
        &self,
        before: &Outcome,
        (mut found, mut shown, placed): (Found, Shown, Outcome),
    ) -> Option<Rewritten> {
        let (old, new) = (costs(before), costs(&placed));
        let group = groups(self.functions, before);
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
            // No other form was placed with all of the time.
            found.ranked.iter_mut().for_each(|it| it.truncate(1));
            // The others were shown equal and placed already, in as little time.
            let clock = Clock::new(
                Duration::from_secs(1),
                self.placer.options.placing.limits.cancel.clone(),
            );
            shown = self.shown(&mut found, &clock)?;
        }
        let search =
            Search { placer: &self.placer, program: self.program, functions: self.functions };
        let mut savings = Vec::new();
        for (at, equality) in shown.equalities.into_iter().enumerate() {
            let (Some(equality), Some((before, least_before)), Some((after, least_after))) =
                (equality, old[at], new[at])
            else {
                continue;
            };
            let function = self.program.function_name(self.functions[at]);
            let least = if after > 0.0 { search.least(at, &found.choices) as f64 } else { 0.0 };
            savings.push(Saving {
                at,
                function,
                before,
                least_before,
                after,
                least_after,
                least,
                equality,
            });
        }
        (!savings.is_empty()).then_some(Rewritten { document: shown.after, savings })
    }
}

/// For each function, the first of those that are placed together with it.
fn groups(functions: &[Op], outcome: &Outcome) -> Vec<usize> {
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

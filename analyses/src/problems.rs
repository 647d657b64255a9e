//! Diagnostics and fixes of the problems that the parser and the verifier find.

use std::ops::Range;

use noisy_syntax::{Code, Op, OpKind, Problem, Proposal};
use rustc_hash::FxHashMap;

use crate::program::Program;
use crate::report::diagnostic::{
    Applicability, Category, Diagnostic, Fix, RelatedLocation, RepairKind, Severity, Tag, TextEdit,
};

/// Maximum number of problems of a text that are shown with advice, which is much more expensive
/// than the list: no user reads more at once. Fixes do not have this limit: they are computed on
/// request.
pub(crate) const MAX_ADVISED: usize = 100;

/// An op, the range of its problem in the file, and the problem.
type PlacedProblem = (Op, Range<usize>, Problem);

/// Returns the diagnostic of a problem, with advice if `is_advised`.
pub(crate) fn diagnostic(program: &Program, it: PlacedProblem, is_advised: bool) -> Diagnostic {
    let (op, range, problem) = it;
    let mut out = Diagnostic {
        code: problem.code.name(),
        category: problem.code.category().into(),
        severity: Severity::Error,
        range,
        message: String::new(),
        related: Vec::new(),
        help: None,
        mlir_wording: None,
        tags: Vec::new(),
        repair: RepairKind::Choice,
    };
    if !is_advised {
        out.message = problem.message;
        return out;
    }
    let advice = program.source().advice(op, &out.range, &problem);
    out.message = advice.message;
    out.help = advice.help;
    let related = advice.related.into_iter().filter(|it| it.0 != out.range);
    out.related = related.map(|(range, message)| RelatedLocation { range, message }).collect();
    out.repair = match &advice.proposals[..] {
        [] => RepairKind::None,
        all if all.iter().any(|it| it.is_sure) => RepairKind::Edits,
        _ => RepairKind::Choice,
    };
    let ir = program.ir();
    // HEIR's ops are unregistered in `mlir-opt`.
    let is_of_mlir = !noisy_heir::is_heir_op(ir.op_name(op));
    if out.message != problem.message && is_of_mlir {
        out.mlir_wording = Some(problem.message);
    }
    out
}

/// Returns true if a diagnostic comes from the parser or the verifier, not from a check.
pub(crate) fn is_problem(it: &Diagnostic) -> bool {
    Code::ALL.iter().any(|code| code.name() == it.code)
}

/// Returns true if the reported mistake may hide other errors: a problem of the parser or the
/// verifier, or an op that is unknown because its name is misspelled.
pub(crate) fn hides_others(it: &Diagnostic) -> bool {
    it.code == "misspelled-name" || is_problem(it)
}

/// Returns the fixes of each diagnostic that reports a problem, the best first. Each fix has been
/// tried on a copy of the text.
pub(crate) fn fixes(program: &Program, diagnostics: &[&Diagnostic]) -> Vec<Vec<Fix>> {
    let mut out = vec![Vec::new(); diagnostics.len()];
    if !diagnostics.iter().any(|it| is_problem(it)) {
        return out;
    }
    let problems = program.source().problems();
    let key = |code: &'static str, range: &Range<usize>| (code, range.start, range.end);
    let by_place: FxHashMap<_, &PlacedProblem> =
        problems.iter().map(|it| (key(it.2.code.name(), &it.1), it)).collect();
    let found = diagnostics.iter().enumerate();
    let (numbers, wanted): (Vec<usize>, Vec<&PlacedProblem>) =
        found.filter_map(|(n, it)| Some((n, *by_place.get(&key(it.code, &it.range))?))).unzip();
    for (n, proposals) in numbers.into_iter().zip(program.source().proven_proposals(&wanted)) {
        out[n] = proposals.into_iter().map(fix).collect();
    }
    out
}

fn fix(it: Proposal) -> Fix {
    let edits = it.edits.into_iter().map(|(range, text)| TextEdit { range, text });
    Fix {
        title: it.title,
        applicability: if it.is_sure { Applicability::Safe } else { Applicability::Unsafe },
        edits: edits.collect(),
    }
}

/// Removes hints at unnecessary code in functions with problems: the use may be in the broken text.
/// Text outside of functions counts as one function.
pub(crate) fn keep_plausible(
    program: &Program,
    problems: &[PlacedProblem],
    found: &mut Vec<Diagnostic>,
) {
    let is_unsure =
        |it: &Diagnostic| it.category == Category::Lint && it.tags.contains(&Tag::Unnecessary);
    if problems.is_empty() || !found.iter().any(is_unsure) {
        return;
    }
    let ir = program.ir();
    let function = |it: Op| match ir.op(it).kind {
        OpKind::FuncFunc => Some(it),
        _ => ir.function_of(it),
    };
    let mut broken: Vec<Option<Op>> = problems.iter().map(|it| function(it.0)).collect();
    // A wrong brace ends a function too early; the problem is then outside of it.
    broken.extend(problems.iter().map(|it| ir.item_at(it.1.start).and_then(function)));
    broken.sort_unstable();
    broken.dedup();
    // A function without a region: its body is parsed as text outside of functions.
    let is_outside = broken.iter().flatten().any(|&it| ir.op(it).regions.is_empty());
    found.retain(|it| {
        !is_unsure(it)
            || match ir.item_at(it.range.start).and_then(function) {
                None => !is_outside && broken.first() != Some(&None),
                inside => broken.binary_search(&inside).is_err(),
            }
    });
}

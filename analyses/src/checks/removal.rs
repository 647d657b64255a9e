//! Taking an op out of the text.

use noisy_syntax::{Form, Op, OpKind};

use super::{Index, Trial, n_errors};
use crate::diagnostic::{Applicability, Fix, TextEdit, combine};
use crate::program::Program;

/// So many analyses prove the fixes of one request at most; what is not proven by then is not offered. One is enough unless
/// fixes get in each other's way.
const MAX_ANALYSES: usize = 64;

/// Takes an op out, with its line if nothing else stands there, and puts a text in place of the uses of its result; `None` if that
/// cannot be told. To be [`proven`].
pub(super) fn removal(
    program: &Program,
    op: Op,
    title: &str,
    instead: Option<&str>,
) -> Option<Fix> {
    let ir = program.ir();
    let data = ir.op(op);
    let is_read = data.kind != OpKind::Unknown && data.form != Form::Opaque && !ir.is_broken(op);
    is_read.then(|| removal_unread(program, op, title, instead))?
}

/// Takes an op out, with its line if nothing else stands there, and puts a name in place of the uses of each of its results. To be
/// [`proven`].
pub(super) fn replacement(program: &Program, op: Op, title: &str, names: &[String]) -> Option<Fix> {
    taken_out(program, op, title, &|at| names.get(at).map(String::as_str))
}

/// As [`removal`], of an op of which it is known by its name alone that nothing else is lost with it.
pub(super) fn removal_unread(
    program: &Program,
    op: Op,
    title: &str,
    instead: Option<&str>,
) -> Option<Fix> {
    taken_out(program, op, title, &|_| instead)
}

/// Puts a text in place of an op from its name on; its results and its location stay. `None` if a comment stands in it.
pub(super) fn rewritten(program: &Program, op: Op, text: &str) -> Option<TextEdit> {
    let ir = program.ir();
    let range = ir.absolute(op, ir.op(op).name_span).start..ir.range(op).end;
    let old = program.source().slice(range.clone());
    let location = old.rfind(" loc(").filter(|_| old.ends_with(')')).map_or("", |at| &old[at..]);
    (!has_comment(&old)).then(|| TextEdit { range, text: format!("{text}{location}") })
}

/// Whether a comment may stand in a text: also where it is a string that has what begins one.
fn has_comment(text: &str) -> bool {
    text.contains("//")
}

/// Takes an op out, with what comes in place of the uses of each of its results. `None` if a comment stands in it.
fn taken_out<'a>(
    program: &Program,
    op: Op,
    title: &str,
    instead: &dyn Fn(usize) -> Option<&'a str>,
) -> Option<Fix> {
    let (ir, source) = (program.ir(), program.source());
    let text = source.text();
    let mut edits = instead_of_results(program, op, instead)?;
    let mut range = ir.range(op);
    if has_comment(&source.slice(range.clone())) {
        return None;
    }
    let after = text.byte_to_line(range.end) + 1;
    let line_end = text.line_to_byte(after.min(text.len_lines()));
    let after = source.slice(range.end..line_end.max(range.end));
    let is_first = source.is_first_on_line(range.start);
    if is_first && after.trim().is_empty() {
        range = source.line_start(range.start)..line_end.max(range.end);
    } else if is_first && after.trim_start().starts_with("//") {
        // The comment stands where the op stood.
        range.end += after.len() - after.trim_start().len();
    }
    edits.push(TextEdit { range, text: String::new() });
    let edits = TextEdit::in_order(edits)?;
    Some(Fix { title: title.to_owned(), applicability: Applicability::Safe, edits })
}

/// Puts a text in place of the uses of each result of an op; `None` if one that is used has none.
pub(super) fn instead_of_results<'a>(
    program: &Program,
    op: Op,
    instead: &dyn Fn(usize) -> Option<&'a str>,
) -> Option<Vec<TextEdit>> {
    let ir = program.ir();
    let mut edits = Vec::new();
    for (at, &result) in ir.op(op).results.iter().enumerate() {
        for &(user, index) in &ir.value(result).uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: instead(at)?.to_owned() });
        }
    }
    Some(edits)
}

/// Those of some fixes that leave the program with no more errors than it has: each was applied to a copy, with all others that hold
/// and do not edit the same places, and the copy was analyzed. What is proven so is proven of each alone, as a removal needs no other:
/// an op that is not used, or a reset that only raises noise, takes nothing from what stays.
pub(super) fn proven(
    program: &Program,
    index: &Index,
    fixes: Vec<Option<Fix>>,
    trial: &mut Trial,
) -> Vec<Option<Fix>> {
    let before = n_errors(program, index);
    let mut holds = vec![false; fixes.len()];
    let mut groups: Vec<Vec<usize>> =
        vec![(0..fixes.len()).filter(|&it| fixes[it].is_some()).collect()];
    for _ in 0..MAX_ANALYSES {
        let Some(group) = groups.pop() else { break };
        let (edits, is_taken) = combine(group.iter().filter_map(|&it| fixes[it].as_ref()));
        let mut is_taken = is_taken.into_iter();
        let (together, apart): (Vec<usize>, Vec<usize>) =
            group.into_iter().partition(|_| is_taken.next() == Some(true));
        if !apart.is_empty() {
            groups.push(apart);
        }
        if trial.n_errors(program, &edits) <= before {
            for at in together {
                holds[at] = true;
            }
        } else if together.len() > 1 {
            let (left, right) = together.split_at(together.len() / 2);
            groups.extend([right.to_vec(), left.to_vec()]);
        }
    }
    fixes.into_iter().zip(holds).map(|(fix, holds)| fix.filter(|_| holds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Replaces the first place of a text that reads so.
    fn replacing(text: &str, this: &str, that: &str) -> Option<Fix> {
        let start = text.find(this).expect("the text has it");
        let edits = vec![TextEdit { range: start..start + this.len(), text: that.to_owned() }];
        Some(Fix { title: String::new(), applicability: Applicability::Safe, edits })
    }

    #[test]
    fn what_makes_an_error_is_told_from_what_does_not() {
        let text = "func.func @f(%a: i32) -> i32 {\n  %b = arith.addi %a, %a : i32\n  %c = arith.addi %b, %b : i32\n  return %b : i32\n}\n";
        let program = Program::new(text);
        let proven = |fixes| proven(&program, &Index::new(&program), fixes, &mut Trial::default());
        let no_c = "  %c = arith.addi %b, %b : i32\n";
        let fixes = vec![
            replacing(text, no_c, ""),
            None,
            replacing(text, "  %b = arith.addi %a, %a : i32\n", ""),
            // Meets the first one, and holds.
            replacing(text, "%b, %b", "%a, %a"),
            // Meets both, and does not hold.
            replacing(text, "%b, %b", "%z, %a"),
        ];
        let holds: Vec<bool> = proven(fixes).iter().map(Option::is_some).collect();
        assert_eq!(holds, [true, false, false, true, false]);
        assert_eq!(proven(Vec::new()), []);
        assert_eq!(proven(vec![None]), [None]);
    }
}

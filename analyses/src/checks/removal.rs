//! Taking an op out of the text.

use noisy_syntax::{Form, Op, OpKind};
use rustc_hash::FxHashSet;

use crate::{Applicability, Document, Fix, TextEdit};

/// So many analyses prove the fixes of one request at most; what is not proven by then is not offered. One is enough unless
/// fixes get in each other's way.
const MAX_ANALYSES: usize = 64;

/// Takes an op out, with its line if nothing else stands there, and puts a text in place of the uses of its result; `None` if that
/// cannot be told. To be [`proven`].
pub(super) fn removal(
    document: &Document,
    op: Op,
    title: &str,
    instead: Option<&str>,
) -> Option<Fix> {
    let (ir, text) = (document.ir(), document.source().text());
    let data = ir.op(op);
    if data.kind == OpKind::Unknown || matches!(data.form, Form::Broken | Form::Opaque) {
        return None;
    }
    let mut edits: Vec<TextEdit> = Vec::new();
    for &result in &data.results {
        for &(user, index) in &ir.value(result).uses {
            let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
            edits.push(TextEdit { range, text: instead?.to_owned() });
        }
    }
    let mut range = ir.range(op);
    let line_start = text.line_to_byte(text.byte_to_line(range.start));
    let after = text.byte_to_line(range.end) + 1;
    let line_end = text.line_to_byte(after.min(text.len_lines()));
    let before = text.byte_slice(line_start..range.start).to_string();
    let behind = text.byte_slice(range.end..line_end.max(range.end)).to_string();
    if before.trim().is_empty() && behind.trim().is_empty() {
        range = line_start..line_end.max(range.end);
    }
    if edits.iter().any(|it| it.range.start < range.end && range.start < it.range.end) {
        return None;
    }
    edits.push(TextEdit { range, text: String::new() });
    edits.sort_by_key(|it| it.range.start);
    Some(Fix { title: title.to_owned(), applicability: Applicability::Safe, edits })
}

/// Those of some fixes that leave the program with no more errors than it has: each was applied to a copy, with all others that hold
/// and do not edit the same places, and the copy was analyzed. What is proven so is proven of each alone, as a removal needs no other:
/// an op that is not used, or a reset that only raises noise, takes nothing from what stays.
pub(crate) fn proven(document: &Document, fixes: Vec<Option<Fix>>) -> Vec<Option<Fix>> {
    let text = document.source().text().to_string();
    let before = document.n_errors();
    let mut holds = vec![false; fixes.len()];
    let mut groups: Vec<Vec<usize>> =
        vec![(0..fixes.len()).filter(|&it| fixes[it].is_some()).collect()];
    for _ in 0..MAX_ANALYSES {
        let Some(group) = groups.pop() else { break };
        let (edits, together, apart) = disjoint(&fixes, &group);
        if !apart.is_empty() {
            groups.push(apart);
        }
        let after = TextEdit::apply_all(&edits, &text);
        let after = Document::with_model(&after, document.model().clone());
        if after.n_errors() <= before {
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

/// The edits of those fixes that can be applied at once, in order, these fixes, and the others.
fn disjoint(fixes: &[Option<Fix>], group: &[usize]) -> (Vec<TextEdit>, Vec<usize>, Vec<usize>) {
    let mut edits: Vec<(usize, &TextEdit)> = Vec::new();
    for &at in group {
        edits.extend(fixes[at].iter().flat_map(|it| &it.edits).map(|it| (at, it)));
    }
    edits.sort_by_key(|it| (it.1.range.start, it.1.range.end, it.0));
    let mut is_apart = FxHashSet::default();
    let mut end = 0;
    for (at, edit) in &edits {
        if edit.range.start < end {
            is_apart.insert(*at);
        }
        end = end.max(edit.range.end);
    }
    // Where each is in the way of another, one goes first.
    if let Some(first) = group.first().filter(|_| is_apart.len() == group.len()) {
        is_apart.remove(first);
    }
    let (apart, together): (Vec<usize>, Vec<usize>) =
        group.iter().partition(|it| is_apart.contains(it));
    edits.retain(|it| !is_apart.contains(&it.0));
    (edits.into_iter().map(|it| it.1.clone()).collect(), together, apart)
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
        let document = Document::new(text);
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
        let holds: Vec<bool> = proven(&document, fixes).iter().map(Option::is_some).collect();
        assert_eq!(holds, [true, false, false, true, false]);
        assert_eq!(proven(&document, Vec::new()), []);
        assert_eq!(proven(&document, vec![None]), [None]);
    }
}

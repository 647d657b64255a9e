//! What a program of HEIR's needs, stage by stage, as `noisy-check --fix` does it: `reduce_noise` where the user's model has noise
//! over its budget, then [`analyses::STAGES`]; then the levels and polynomials that are written.
//!
//! *Law.* Each stage works on the text that the one before has made and that was read again. The edits of all of them together give
//! the text after the last.

use noisy_analyses::{
    self as analyses, Applicability, Diagnostic, Document, Fix, Options, TextEdit, checks, diff,
};
use noisy_syntax::Op;

use super::{Found, joined, refused, report};

/// How often annotations are fixed at most: one that is fixed may be what others were compared with.
const ROUNDS: usize = 4;

/// The program as the stages have made it so far.
struct Stages<'a> {
    before: &'a Document,
    after: Option<Document>,
    /// The functions, by their number in the text, which no stage changes.
    functions: Vec<usize>,
    /// The edits of the only stage so far that changed something.
    only: Option<Vec<TextEdit>>,
    titles: Vec<String>,
    report: Vec<String>,
    refused: Option<String>,
}

/// Places what some functions need.
pub(super) fn place(
    document: &Document,
    functions: &[Op],
    options: &Options,
) -> Result<(Found, String), String> {
    let all = document.ir().functions();
    let numbers = all.iter().enumerate().filter(|it| functions.contains(it.1)).map(|it| it.0);
    let mut stages = Stages {
        before: document,
        after: None,
        functions: numbers.collect(),
        only: None,
        titles: Vec::new(),
        report: Vec::new(),
        refused: None,
    };
    let is_over = |it: &Diagnostic| checks::is_over_budget(it.code);
    if options.replace || document.diagnostics_in_brief(&[]).iter().any(is_over) {
        stages.place(document.model().reset_name(), analyses::insert_reduces, options)?;
    }
    let mut is_changed = false;
    for (op, insert) in analyses::STAGES {
        is_changed |= stages.place(op, insert, options)?;
    }
    if is_changed {
        stages.apply_fixes();
    }
    Ok(stages.done())
}

impl Stages<'_> {
    fn now(&self) -> &Document {
        self.after.as_ref().unwrap_or(self.before)
    }

    /// One stage; whether it changed something.
    fn place(
        &mut self,
        op: &str,
        insert: analyses::Insert,
        options: &Options,
    ) -> Result<bool, String> {
        let now = self.now();
        let all = now.ir().functions();
        let functions: Vec<Op> =
            self.functions.iter().filter_map(|&it| all.get(it).copied()).collect();
        let outcome = insert(now, &functions, options).map_err(|it| it.to_string())?;
        self.report.extend(report(op, &outcome));
        let refused = refused(&outcome);
        self.refused = self.refused.take().or(refused);
        let Some(fix) = outcome.fix else { return Ok(false) };
        self.titles.push(fix.title);
        self.apply(fix.edits);
        Ok(true)
    }

    fn apply(&mut self, edits: Vec<TextEdit>) {
        let now = self.now();
        let text = TextEdit::apply_all(&edits, &now.source().text().to_string());
        let model = now.model().clone();
        self.only = if self.after.is_none() { Some(edits) } else { None };
        self.after = Some(Document::with_model(&text, model));
    }

    /// The levels and polynomials that are written and that no longer follow.
    fn apply_fixes(&mut self) {
        for _ in 0..ROUNDS {
            let now = self.now();
            let found = now.diagnostics();
            let all = now.ir().functions();
            let within: Vec<_> = self
                .functions
                .iter()
                .filter_map(|&it| Some(now.ir().range(*all.get(it)?)))
                .collect();
            let is_within = |it: &Diagnostic| within.iter().any(|of| of.contains(&it.range.start));
            let is_wrong = |code: &str| matches!(code, "level-mismatch" | "dimension-mismatch");
            let wrong = found.iter().filter(|it| is_wrong(it.code) && is_within(it));
            let (edits, _) = now.fix_all(wrong, false);
            if edits.is_empty() {
                return;
            }
            self.apply(edits);
        }
    }

    fn done(self) -> (Found, String) {
        let report = joined(&self.report);
        let found = match (&self.after, self.refused) {
            (None, Some(why)) => Found::Refused(why),
            (None, None) => Found::Nothing,
            (Some(after), _) => {
                let before = self.before.source().text().to_string();
                let edits = self
                    .only
                    .unwrap_or_else(|| difference(&before, &after.source().text().to_string()));
                let title = title(&self.titles);
                Found::Fix(Fix { title, applicability: Applicability::Safe, edits })
            }
        };
        (found, report)
    }
}

/// `Insert 1 bootstrap (proven optimal), 2 relinearize (proven optimal)`
fn title(stages: &[String]) -> String {
    let mut out = String::new();
    for (at, title) in stages.iter().enumerate() {
        match title.strip_prefix("Insert ").filter(|_| at > 0) {
            Some(rest) => out.push_str(&format!(", {rest}")),
            None if at > 0 => out.push_str(&format!("; {title}")),
            None => out.push_str(title),
        }
    }
    out
}

/// The lines of a text that differ in another, as edits in order that do not touch.
fn difference(before: &str, after: &str) -> Vec<TextEdit> {
    let (old, new): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let (mut out, mut from, mut offset) = (Vec::new(), 0, 0);
    let length = |lines: &[&str]| -> usize { lines.iter().map(|it| it.len()).sum() };
    for it in diff::changes(&old, &new) {
        let start = offset + length(&old[from..it.before.start]);
        offset = start + length(&old[it.before.clone()]);
        out.push(TextEdit { range: start..offset, text: new[it.after].concat() });
        from = it.before.end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of a linear congruential generator.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, n: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % n
        }
    }

    #[test]
    fn a_difference_makes_one_text_of_the_other() {
        let mut numbers = Numbers(7);
        for _ in 0..500 {
            let mut text = |n: usize| -> String {
                (0..numbers.below(n))
                    .map(|_| ["a\n", "b\n", "\n", "c", "λ\r\n"][numbers.below(5)])
                    .collect()
            };
            let (before, after) = (text(12), text(12));
            let edits = difference(&before, &after);
            assert_eq!(TextEdit::apply_all(&edits, &before), after, "{before:?}");
            assert_eq!(edits.is_empty(), before == after);
        }
    }

    const TEXT: &str = "module attributes {backend.config_override = {bootstrapLevelsConsumed = 1 : i32}, backend.lattigo, scheme.ckks} {
  func.func @f(%x: !secret.secret<f32>) -> !secret.secret<f32> {
    %0 = secret.generic(%x: !secret.secret<f32>) {
    ^body(%a: f32):
      %1 = arith.mulf %a, %a : f32
      %3 = mgmt.modreduce %1 : f32
      %4 = arith.mulf %3, %3 : f32
      %5 = mgmt.modreduce %4 : f32
      %6 = mgmt.modreduce %5 : f32
      secret.yield %6 : f32
    } -> !secret.secret<f32>
    return %0 : !secret.secret<f32>
  }
}
";

    fn placed(budget: Option<u32>) -> (String, String) {
        let mut model = analyses::NoiseModel::tutorial();
        model.heir.level_budget = budget.and_then(std::num::NonZeroU32::new);
        let document = Document::with_model(TEXT, model);
        let functions = document.ir().functions();
        let (found, report) = place(&document, &functions, &Options::default()).expect("no defect");
        let Found::Fix(fix) = found else { panic!("{found:?}: {report}") };
        let text = TextEdit::apply_all(&fix.edits, TEXT);
        let after = Document::with_model(&text, document.model().clone());
        assert!(after.diagnostics().is_empty(), "{text}{:?}", after.diagnostics());
        (fix.title, text)
    }

    #[test]
    fn stages_follow_each_other() {
        let (title, text) = placed(None);
        assert_eq!(title, "Insert 2 relinearize (proven optimal)");
        assert_eq!(text.matches("mgmt.relinearize").count(), 2, "{text}");
        let (title, text) = placed(Some(1));
        assert_eq!(title, "Insert 1 bootstrap (proven optimal), 2 relinearize (proven optimal)");
        assert_eq!(text.matches("mgmt.bootstrap").count(), 1, "{text}");
        assert_eq!(text.matches("mgmt.relinearize").count(), 2, "{text}");
    }
}

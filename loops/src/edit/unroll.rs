//! Unrolling, unroll and jam, and peeling, with a second loop for the remaining iterations.

use noisy_syntax::TextEdit;

use super::header::LoopHeader;
use super::names::{self, fresh_name, with_names_replaced};
use super::{
    EditBuilder, EditResult, MAX_COPIED_BYTES, UNROLL_FACTOR, check_no_iter_args, insertion,
};

/// The bounds of the loop over groups of iterations, and of the loop over the remaining iterations.
struct GroupBounds {
    /// The upper bound of the loop over groups, if it changes.
    high: Option<String>,
    /// The lower bound of the remaining iterations, if there are any.
    rest: Option<String>,
}

impl EditBuilder<'_> {
    /// Divides the iterations of a loop into groups of `size` and a rest.
    fn group_bounds(&self, it: &LoopHeader, size: i64) -> Result<GroupBounds, String> {
        let by = it.step.checked_mul(size).ok_or("the step is too large")?;
        let low = it.constant_bounds.0.ok_or("the lower bound is not a number")?;
        if let Some(trips) = it.trip_count() {
            if trips < size {
                return Err(format!("there are only {trips} iterations"));
            }
            if trips % size == 0 {
                return Ok(GroupBounds { high: None, rest: None });
            }
            // This cannot overflow: it is at most the last value of the variable.
            let end = (low + (trips / size) * by).to_string();
            return Ok(GroupBounds { high: Some(end.clone()), rest: Some(end) });
        }
        let high = self.text(&it.upper);
        if !high.starts_with('%') {
            return Err("the upper bound is neither a number nor a value".to_owned());
        }
        let back = low.checked_neg().ok_or("the lower bound is too large")?;
        let end = format!("((d0 + {back}) floordiv {by}) * {by} + {low}");
        // For a loop without iterations, the upper bound of the groups is below the lower bound.
        let rest = format!("max affine_map<(d0) -> ({end}, {low})>({high})");
        Ok(GroupBounds {
            high: Some(format!("affine_map<(d0) -> ({end})>({high})")),
            rest: Some(rest),
        })
    }

    /// Returns the edits of the header that change the step to [`UNROLL_FACTOR`] iterations, and
    /// that add a loop for the remaining iterations.
    fn group_edits(&self, it: &LoopHeader, split: &GroupBounds) -> EditResult {
        let step = it.step.checked_mul(UNROLL_FACTOR).ok_or("the step is too large")?;
        let mut out = Vec::new();
        match &split.high {
            Some(high) => {
                let range = it.upper.start..it.range.end;
                out.push(TextEdit { range, text: format!("{high} step {step}") });
            }
            None => out.push(TextEdit {
                range: it.upper.end..it.range.end,
                text: format!(" step {step}"),
            }),
        }
        if let Some(rest) = &split.rest {
            let whole = self.ir.range(it.op);
            check_copy_size(whole.len())?;
            let indent = self.indent(it.op);
            let (results, tail) = self.continuation(it, "_groups", it.upper.start, &mut out);
            out.push(insertion(
                whole.end,
                format!("\n{indent}{results}affine.for {} = {rest} to {tail}", it.iv),
            ));
        }
        Ok(out)
    }

    /// Returns the text of a second loop that continues with the carried values of the first: the
    /// definition of its results, and the text of the loop from `from` on. The second loop takes
    /// over the name of the original results; an edit gives the results of the first loop a new
    /// name.
    fn continuation(
        &self,
        it: &LoopHeader,
        suffix: &str,
        from: usize,
        edits: &mut Vec<TextEdit>,
    ) -> (String, String) {
        let end = self.ir.range(it.op).end;
        let Some(carried) = &it.iter_args else {
            return (String::new(), self.text(&(from..end)));
        };
        let name = fresh_name(&self.text_of_names(it), &carried.result, suffix);
        let text = carried.definition_named(&name);
        edits.push(TextEdit { range: carried.result_range.clone(), text });
        let (mut out, mut at) = (String::new(), from);
        for (start, value) in carried.initial_values.iter().zip(carried.uses_named(&name)) {
            out += &self.text(&(at..start.start));
            out += &value;
            at = start.end;
        }
        out += &self.text(&(at..end));
        (format!("{} = ", carried.definition_named(&carried.result)), out)
    }

    /// Returns the text of all iterations of a group but the first, as renamed copies of `inside`,
    /// and the values that the last iteration yields. `body_of` is the loop with the body `inside`.
    fn renamed_copies(
        &self,
        it: &LoopHeader,
        inside: &str,
        body_of: &LoopHeader,
    ) -> (String, Vec<String>) {
        let all = self.text_of_names(it);
        let mut names = names::names_defined_in(self.source, body_of.op);
        if body_of.op != it.op {
            // The variables of the loops in between keep their names.
            let mut around = vec![body_of.iv.clone()];
            around.extend(self.perfect_nest(it).iter().map(|it| it.iv.clone()));
            names.retain(|name| !around.contains(name));
        }
        names.push(it.iv.clone());
        let indent = self.indent(body_of.op);
        let mut out = String::new();
        let (args, yielded) = match &it.iter_args {
            Some(it) => (&it.args[..], it.yielded.iter().map(|it| self.text(it)).collect()),
            None => (&[][..], Vec::new()),
        };
        names.extend(args.iter().cloned());
        let mut passed: Vec<String> = yielded.clone();
        for copy in 1..UNROLL_FACTOR {
            let new = |name: &str| match args.iter().position(|it| it == name) {
                Some(at) => passed[at].clone(),
                None => fresh_name(&all, name, &format!("_{copy}")),
            };
            let by = it.step * copy;
            out += &format!(
                "\n{indent}  {} = affine.apply affine_map<(d0) -> (d0 + {by})>({})",
                new(&it.iv),
                it.iv
            );
            out += &with_names_replaced(inside, &names, &new);
            passed = yielded.iter().map(|it| with_names_replaced(it, &names, &new)).collect();
        }
        (out, passed)
    }

    /// Returns the perfectly nested loops from `it` to the innermost loop.
    fn perfect_nest(&self, it: &LoopHeader) -> Vec<LoopHeader> {
        let mut out = vec![it.clone()];
        while let Some(inner) = out.last().and_then(|it| self.only_inner_loop(it)) {
            out.push(inner);
        }
        out
    }

    pub(super) fn unroll(&self, it: &LoopHeader) -> EditResult {
        let split = self.group_bounds(it, UNROLL_FACTOR)?;
        let inside = self.body_text(it);
        check_copy_size(inside.len())?;
        if let Some(carried) = &it.iter_args {
            let whole = self.text(&self.ir.range(it.op));
            if carried.args.iter().any(|it| whole.contains(&format!("{it}#"))) {
                return Err("a carried value is written with a number, such as %x#1".to_owned());
            }
        }
        let mut out = self.group_edits(it, &split)?;
        let end = it.body.start + inside.len();
        let (copies, passed) = self.renamed_copies(it, &inside, it);
        out.push(insertion(end, copies));
        if let Some(carried) = &it.iter_args {
            let both = carried.yielded.iter().zip(passed);
            out.extend(both.map(|(range, text)| TextEdit { range: range.clone(), text }));
        }
        Ok(out)
    }

    /// Unrolls a loop and jams the copies into the innermost loop. `None` if there is no inner
    /// loop.
    pub(super) fn unroll_and_jam(&self, it: &LoopHeader) -> Option<EditResult> {
        let chain = self.perfect_nest(it);
        let innermost = chain.last().filter(|last| last.op != it.op)?;
        Some(self.jam(it, &chain[1..], innermost))
    }

    fn jam(&self, it: &LoopHeader, inner: &[LoopHeader], innermost: &LoopHeader) -> EditResult {
        check_no_iter_args(&[it])?;
        check_no_iter_args(&inner.iter().collect::<Vec<_>>())?;
        if let Some(reader) = inner.iter().find(|inner| self.has_bound_on(inner, &it.iv)) {
            return Err(format!("the bounds of the loop over {} depend on {}", reader.iv, it.iv));
        }
        let numbers: Option<Vec<u32>> = inner.iter().map(|it| self.nest.loop_of(it.op)).collect();
        let both = self.nest.loop_of(it.op).zip(numbers);
        let (outer, numbers) = both.ok_or("the loops have a form that is not supported")?;
        let span = it.step.checked_mul(UNROLL_FACTOR - 1).ok_or("the step is too large")?;
        self.legality
            .check_unroll_and_jam(outer, &numbers, i128::from(span))
            .map_err(|it| self.describe(it))?;
        let split = self.group_bounds(it, UNROLL_FACTOR)?;
        let inside = self.body_text(innermost);
        check_copy_size(inside.len())?;
        let mut out = self.group_edits(it, &split)?;
        let end = innermost.body.start + inside.len();
        out.push(insertion(end, self.renamed_copies(it, &inside, innermost).0));
        Ok(out)
    }

    pub(super) fn peel(&self, it: &LoopHeader) -> EditResult {
        let (Some(low), Some(trips)) = (it.constant_bounds.0, it.trip_count()) else {
            return Err("the bounds are not numbers".to_owned());
        };
        if trips < 2 {
            return Err("the loop has fewer than two iterations".to_owned());
        }
        let next = low.checked_add(it.step).ok_or("the step is too large")?;
        let whole = self.ir.range(it.op);
        check_copy_size(whole.len())?;
        let indent = self.indent(it.op);
        let rest = self.text(&(it.range.end..whole.end));
        let end = low.checked_add(1).ok_or("the bounds are too large")?;
        let mut out = Vec::new();
        let mut results = String::new();
        if let Some(carried) = &it.iter_args {
            let name = fresh_name(&self.text_of_names(it), &carried.result, "_first");
            results = format!("{} = ", carried.definition_named(&name));
            let both = carried.initial_values.iter().zip(carried.uses_named(&name));
            out.extend(both.map(|(range, text)| TextEdit { range: range.clone(), text }));
        }
        let first = format!("{results}affine.for {} = {low} to {end}{rest}\n{indent}", it.iv);
        out.push(insertion(whole.start, first));
        out.push(TextEdit { range: it.lower.clone(), text: next.to_string() });
        Ok(out)
    }
}

/// Returns an error if a text is too large to be copied.
fn check_copy_size(n_bytes: usize) -> Result<(), String> {
    if n_bytes > MAX_COPIED_BYTES {
        return Err(format!(
            "the body has {n_bytes} bytes, and at most {MAX_COPIED_BYTES} are copied"
        ));
    }
    Ok(())
}

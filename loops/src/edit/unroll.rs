//! Several iterations at once: unrolling, unrolling an outer loop into the one inside (unroll and jam), and what is left over.

use super::header::Header;
use super::names::{self, fresh, renamed};
use super::{Edit, Edits, MOST_COPIED, Made, UNROLL, insert};

/// Where the loop of whole groups ends, and what runs the iterations that are left.
struct Split {
    /// The upper bound of the groups, if it is another one.
    high: Option<String>,
    /// The lower bound of the rest, if there is one.
    rest: Option<String>,
}

impl Edits<'_> {
    /// Divides the iterations of a loop into groups and a rest.
    fn split(&self, it: &Header, size: i64) -> Result<Split, String> {
        let by = it.step.checked_mul(size).ok_or("the step is too large")?;
        let low = it.numbers.0.ok_or("the lower bound is not a number")?;
        if let Some(trips) = it.trips() {
            if trips < size {
                return Err(format!("there are only {trips} iterations"));
            }
            if trips % size == 0 {
                return Ok(Split { high: None, rest: None });
            }
            // At most the last value of the variable.
            let end = (low + (trips / size) * by).to_string();
            return Ok(Split { high: Some(end.clone()), rest: Some(end) });
        }
        let high = self.text(&(it.high.start..self.end_of_high(it)));
        if !high.starts_with('%') {
            return Err("the upper bound is neither a number nor a value".to_owned());
        }
        let back = low.checked_neg().ok_or("the lower bound is too large")?;
        let end = format!("((d0 + {back}) floordiv {by}) * {by} + {low}");
        // Without an iteration the groups would end below the first one.
        let rest = format!("max affine_map<(d0) -> ({end}, {low})>({high})");
        Ok(Split { high: Some(format!("affine_map<(d0) -> ({end})>({high})")), rest: Some(rest) })
    }

    /// The edits that let a loop go on by several iterations, and a loop behind it do what is left.
    fn grouped(&self, it: &Header, split: &Split) -> Made {
        let step = it.step.checked_mul(UNROLL).ok_or("the step is too large")?;
        let old = self.end_of_high(it);
        let mut out = Vec::new();
        match &split.high {
            Some(high) => {
                let range = it.high.start..it.high.end;
                out.push(Edit { range, text: format!("{high} step {step}") });
            }
            None => out.push(Edit { range: old..it.high.end, text: format!(" step {step}") }),
        }
        if let Some(rest) = &split.rest {
            let whole = self.ir.range(it.op);
            if whole.len() > MOST_COPIED {
                return Err("the body is too long".to_owned());
            }
            let indent = self.indent(it.op);
            let tail = self.text(&(it.high.start..whole.end));
            out.push(insert(
                whole.end,
                format!("\n{indent}affine.for {} = {rest} to {tail}", it.iv),
            ));
        }
        Ok(out)
    }

    /// What the iterations behind the first one of a group do, in a body whose own text is `inside`.
    fn copies(&self, it: &Header, inside: &str, body_of: &Header) -> String {
        let function = self.ir.function_of(it.op).unwrap_or(it.op);
        let all = self.text(&self.ir.range(function));
        let mut names = names::definitions(self.source, body_of.op);
        if body_of.op != it.op {
            // The variables of the loops between stay.
            let mut around = vec![body_of.iv.clone()];
            around.extend(self.chain(it).iter().map(|it| it.iv.clone()));
            names.retain(|name| !around.contains(name));
        }
        names.push(it.iv.clone());
        let indent = self.indent(body_of.op);
        let mut out = String::new();
        for copy in 1..UNROLL {
            let new = |name: &str| fresh(&all, &format!("{name}_{copy}"));
            let by = it.step * copy;
            out += &format!(
                "\n{indent}  {} = affine.apply affine_map<(d0) -> (d0 + {by})>({})",
                new(&it.iv),
                it.iv
            );
            out += &renamed(inside, &names, &new);
        }
        out
    }

    /// The loops right in each other, from a loop to the innermost one.
    fn chain(&self, it: &Header) -> Vec<Header> {
        let mut out = vec![it.clone()];
        while let Some(inner) = out.last().and_then(|it| self.inner(it)) {
            out.push(inner);
        }
        out
    }

    pub(super) fn unroll(&self, it: &Header) -> Made {
        let split = self.split(it, UNROLL)?;
        let inside = self.inside(it);
        if inside.len() > MOST_COPIED {
            return Err("the body is too long".to_owned());
        }
        let mut out = self.grouped(it, &split)?;
        let end = it.body.start + inside.len();
        out.push(insert(end, self.copies(it, &inside, it)));
        Ok(out)
    }

    /// Several iterations of a loop share the loops in it; not there if none is.
    pub(super) fn unroll_and_jam(&self, it: &Header) -> Option<Made> {
        let chain = self.chain(it);
        let innermost = chain.last().filter(|last| last.op != it.op)?;
        Some(self.jam(it, &chain[1..], innermost))
    }

    fn jam(&self, it: &Header, inner: &[Header], innermost: &Header) -> Made {
        if let Some(reader) = inner.iter().find(|inner| self.reads(inner, &it.iv)) {
            return Err(format!("the bounds of the loop over {} read {}", reader.iv, it.iv));
        }
        let numbers: Option<Vec<u32>> = inner.iter().map(|it| self.nest.loop_of(it.op)).collect();
        let both = self.nest.loop_of(it.op).zip(numbers);
        let (outer, numbers) = both.ok_or("the loops are not understood")?;
        let span = it.step.checked_mul(UNROLL - 1).ok_or("the step is too large")?;
        self.legality.jams(outer, &numbers, i128::from(span)).map_err(|it| self.why(it))?;
        let split = self.split(it, UNROLL)?;
        let inside = self.inside(innermost);
        if inside.len() > MOST_COPIED {
            return Err("the body is too long".to_owned());
        }
        let mut out = self.grouped(it, &split)?;
        let end = innermost.body.start + inside.len();
        out.push(insert(end, self.copies(it, &inside, innermost)));
        Ok(out)
    }

    pub(super) fn peel(&self, it: &Header) -> Made {
        let (Some(low), Some(trips)) = (it.numbers.0, it.trips()) else {
            return Err("the bounds are not numbers".to_owned());
        };
        if trips < 2 {
            return Err("the loop has less than two iterations".to_owned());
        }
        let next = low.checked_add(it.step).ok_or("the step is too large")?;
        let whole = self.ir.range(it.op);
        if whole.len() > MOST_COPIED {
            return Err("the body is too long".to_owned());
        }
        let indent = self.indent(it.op);
        let rest = self.text(&(it.range.end..whole.end));
        let end = low.checked_add(1).ok_or("the bounds are too large")?;
        let first = format!("affine.for {} = {low} to {end}{rest}\n{indent}", it.iv);
        Ok(vec![insert(whole.start, first), Edit { range: it.low.clone(), text: next.to_string() }])
    }
}

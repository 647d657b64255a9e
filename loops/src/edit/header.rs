//! The header of an `affine.for` in the text: variable, bounds and step.

use std::ops::Range;

use noisy_syntax::lex::lex;
use noisy_syntax::{AttrData, Ir, Op, OpKind, Source, TokenKind};

/// The parts of a header, with their byte ranges in the file.
#[derive(Clone, Debug)]
pub(super) struct LoopHeader {
    pub(super) op: Op,
    /// The name of the variable, with its `%`.
    pub(super) iv: String,
    pub(super) iv_range: Range<usize>,
    /// The range from the variable to the end of the step, or of the upper bound if no step is
    /// written.
    pub(super) range: Range<usize>,
    pub(super) lower: Range<usize>,
    pub(super) upper: Range<usize>,
    /// The bounds, if they are constants.
    pub(super) constant_bounds: (Option<i64>, Option<i64>),
    pub(super) step: i64,
    /// The range of the body, without its terminator.
    pub(super) body: Range<usize>,
    /// The values of `iter_args`, if there are any.
    pub(super) iter_args: Option<IterArgs>,
}

/// The values that a loop carries from one iteration to the next (`iter_args`), as text.
#[derive(Clone, Debug)]
pub(super) struct IterArgs {
    /// The name of the results, with its `%`. Several results share it: `%r#0`, `%r#1`.
    pub(super) result: String,
    /// The range of the result list, with the number of results: `%r:2`.
    pub(super) result_range: Range<usize>,
    /// The names of the region arguments.
    pub(super) args: Vec<String>,
    /// The ranges of the initial values.
    pub(super) initial_values: Vec<Range<usize>>,
    /// The ranges of the operands of the terminator.
    pub(super) yielded: Vec<Range<usize>>,
}

impl IterArgs {
    /// Returns the uses of the results if they had the given name.
    pub(super) fn uses_named(&self, name: &str) -> Vec<String> {
        match self.args.len() {
            1 => vec![name.to_owned()],
            n => (0..n).map(|at| format!("{name}#{at}")).collect(),
        }
    }

    /// Returns the definition of the results if they had the given name.
    pub(super) fn definition_named(&self, name: &str) -> String {
        match self.args.len() {
            1 => name.to_owned(),
            n => format!("{name}:{n}"),
        }
    }
}

impl LoopHeader {
    /// Reads the header of a loop in its custom form.
    pub(super) fn of(source: &Source, op: Op) -> Option<Self> {
        let ir = source.ir();
        let data = ir.op(op);
        (data.kind == OpKind::AffineFor).then_some(())?;
        let [(_, region)] = data.regions[..] else { return None };
        let whole = ir.range(op);
        let inside = ir.region_start(region);
        let mut inside = inside..inside + ir.region_len(region);
        // The header ends before the brace that opens the body.
        let head = source.slice(whole.start..inside.start);
        let head = head.trim_end().strip_suffix('{')?;
        let tokens = lex(head).tokens;
        let span = |at: usize| {
            let it = &tokens[at];
            whole.start + it.span().start as usize..whole.start + it.span().end as usize
        };
        let text = |it: Range<usize>| &head[it.start - whole.start..it.end - whole.start];
        let is_word = |at: usize, word: &str| text(span(at)) == word;
        let end = tokens.iter().position(|it| it.kind == TokenKind::Eof)?;
        // The tokens before the name of the op are its results.
        let name = tokens.iter().take(end).position(|it| it.kind == TokenKind::Bare)?;
        (is_word(name, "affine.for") && (name == 0) == data.results.is_empty()).then_some(())?;
        let iv = name + 1;
        (end > iv + 4
            && tokens[iv].kind == TokenKind::Percent
            && tokens[iv + 1].kind == TokenKind::Equal)
            .then_some(())?;
        let first = iv + 2;
        let (mut depth, mut to, mut step_at, mut n) = (0_i32, None, None, end);
        for (at, token) in tokens.iter().enumerate().take(end).skip(first) {
            match token.kind {
                TokenKind::LParen | TokenKind::LSquare | TokenKind::Less => depth += 1,
                TokenKind::RParen | TokenKind::RSquare | TokenKind::Greater => depth -= 1,
                TokenKind::Bare if depth == 0 && to.is_none() && is_word(at, "to") => to = Some(at),
                TokenKind::Bare if depth == 0 && is_word(at, "step") => step_at = Some(at),
                TokenKind::Bare if depth == 0 && is_word(at, "iter_args") => {
                    n = at;
                    break;
                }
                _ => {}
            }
        }
        let (to, step_at) = (to?, step_at.unwrap_or(n));
        (to > first && step_at > to + 1).then_some(())?;
        let step = match ir.interner.attr_data(ir.attr(op, "step")?) {
            AttrData::Int { value, .. } => i64::try_from(*value).ok().filter(|it| *it > 0)?,
            _ => return None,
        };
        let number = |range: &Range<usize>| text(range.clone()).trim().parse::<i64>().ok();
        let written = ir.items(region).find(|&it| ir.op(it).kind == OpKind::AffineYield);
        if let Some(it) = written {
            inside.end = ir.range(it).start;
        }
        let carried = if data.results.is_empty() {
            None
        } else {
            // `(%x = %a, %y = %b#1)`
            let (mut args, mut starts) = (Vec::new(), Vec::new());
            let mut at = n + 2;
            while at + 2 < end && tokens[at].kind == TokenKind::Percent {
                let is_next =
                    |it: &usize| matches!(tokens[*it].kind, TokenKind::Comma | TokenKind::RParen);
                let next = (at + 2..end).find(is_next)?;
                args.push(text(span(at)).to_owned());
                starts.push(span(at + 2).start..span(next - 1).end);
                at = next + 1;
            }
            let it = written?;
            let operands = ir.op(it).operands.iter();
            let yielded: Vec<_> = operands.map(|use_| ir.absolute(it, use_.span)).collect();
            let fits = args.len() == data.results.len() && yielded.len() == args.len();
            // All results must share one name.
            let n_names = tokens[..name].iter().filter(|it| it.kind == TokenKind::Percent).count();
            (fits && n_names == 1).then_some(())?;
            let result_range = span(0).start..span(name - 2).end;
            let result = text(span(0)).to_owned();
            Some(IterArgs { result, result_range, args, initial_values: starts, yielded })
        };
        let low = span(first).start..span(to - 1).end;
        let high = span(to + 1).start..span(step_at - 1).end;
        Some(Self {
            op,
            iv: text(span(iv)).to_owned(),
            iv_range: span(iv),
            range: span(iv).start..span(n - 1).end,
            constant_bounds: (number(&low), number(&high)),
            lower: low,
            upper: high,
            step,
            body: inside,
            iter_args: carried,
        })
    }

    /// Returns the number of iterations if the bounds are constants.
    pub(super) fn trip_count(&self) -> Option<i64> {
        let (low, high) = (self.constant_bounds.0?, self.constant_bounds.1?);
        let size = high.checked_sub(low)?.max(0);
        Some(size / self.step + i64::from(size % self.step != 0))
    }

    /// Returns the ops of the body, without nested ops and without the terminator.
    pub(super) fn body_ops(&self, ir: &Ir) -> Vec<Op> {
        let region = ir.op(self.op).regions[0].1;
        let is_meant = |it: &Op| ir.op(*it).kind.is_op() && ir.op(*it).kind != OpKind::AffineYield;
        ir.items(region).filter(is_meant).collect()
    }
}

//! The header of an `affine.for` as it is written: variable, bounds, step.

use std::ops::Range;

use noisy_syntax::lex::lex;
use noisy_syntax::{AttrData, Ir, Op, OpKind, Source, TokenKind};

/// A header in pieces, with their places in the file.
#[derive(Clone, Debug)]
pub(super) struct Header {
    pub(super) op: Op,
    /// The variable with its `%`.
    pub(super) iv: String,
    /// Where the variable stands.
    pub(super) iv_range: Range<usize>,
    /// From the variable to the last token before the brace.
    pub(super) range: Range<usize>,
    /// Where the lower bound stands.
    pub(super) low: Range<usize>,
    /// From the upper bound to the last token before the brace, the step included.
    pub(super) high: Range<usize>,
    /// The bounds where they are numbers.
    pub(super) numbers: (Option<i64>, Option<i64>),
    pub(super) step: i64,
    /// The inside of the body.
    pub(super) body: Range<usize>,
}

impl Header {
    /// The header of a loop in its custom form that carries nothing.
    pub(super) fn of(source: &Source, op: Op) -> Option<Self> {
        let ir = source.ir();
        let data = ir.op(op);
        (data.kind == OpKind::AffineFor && data.results.is_empty()).then_some(())?;
        let [(_, region)] = data.regions[..] else { return None };
        // What is appended to the body must not come behind an end that is written.
        let is_end = |it: Op| ir.op(it).kind == OpKind::AffineYield;
        (!ir.items(region).any(is_end)).then_some(())?;
        let whole = ir.range(op);
        let text = source.slice(whole.clone());
        text.starts_with("affine.for").then_some(())?;
        let inside = ir.region_start(region);
        let inside = inside..inside + ir.region_len(region);
        // The head ends before the brace that opens the body.
        let head = source.slice(whole.start..inside.start);
        let head = head.trim_end().strip_suffix('{')?;
        let tokens = lex(head).tokens;
        let span = |at: usize| {
            let it = &tokens[at];
            whole.start + it.span().start as usize..whole.start + it.span().end as usize
        };
        let is_word = |at: usize, word: &str| {
            let it = span(at);
            &head[it.start - whole.start..it.end - whole.start] == word
        };
        let n = tokens.iter().position(|it| it.kind == TokenKind::Eof)?;
        (n > 5 && tokens[1].kind == TokenKind::Percent && tokens[2].kind == TokenKind::Equal)
            .then_some(())?;
        let (mut depth, mut to, mut step_at) = (0_i32, None, n);
        for (at, token) in tokens.iter().enumerate().take(n).skip(3) {
            match token.kind {
                TokenKind::LParen | TokenKind::LSquare | TokenKind::Less => depth += 1,
                TokenKind::RParen | TokenKind::RSquare | TokenKind::Greater => depth -= 1,
                TokenKind::Bare if depth == 0 && to.is_none() && is_word(at, "to") => to = Some(at),
                TokenKind::Bare if depth == 0 && is_word(at, "step") => step_at = at,
                TokenKind::Bare if depth == 0 && is_word(at, "iter_args") => return None,
                _ => {}
            }
        }
        let to = to?;
        (to > 3 && step_at > to + 1).then_some(())?;
        let step = match ir.interner.attr_data(ir.attr(op, "step")?) {
            AttrData::Int { value, .. } => i64::try_from(*value).ok().filter(|it| *it > 0)?,
            _ => return None,
        };
        let number = |range: &Range<usize>| {
            head[range.start - whole.start..range.end - whole.start].trim().parse::<i64>().ok()
        };
        let low = span(3).start..span(to - 1).end;
        let high = span(to + 1).start..span(step_at - 1).end;
        Some(Self {
            op,
            iv: head[span(1).start - whole.start..span(1).end - whole.start].to_owned(),
            iv_range: span(1),
            range: span(1).start..span(n - 1).end,
            numbers: (number(&low), number(&high)),
            low,
            high: high.start..span(n - 1).end,
            step,
            body: inside,
        })
    }

    /// How often the loop runs, if its bounds are numbers.
    pub(super) fn trips(&self) -> Option<i64> {
        let (low, high) = (self.numbers.0?, self.numbers.1?);
        let size = high.checked_sub(low)?.max(0);
        Some(size / self.step + i64::from(size % self.step != 0))
    }

    /// The ops right in the body.
    pub(super) fn ops(&self, ir: &Ir) -> Vec<Op> {
        let region = ir.op(self.op).regions[0].1;
        let is_meant = |it: &Op| ir.op(*it).kind.is_op() && ir.op(*it).kind != OpKind::AffineYield;
        ir.items(region).filter(is_meant).collect()
    }
}

//! The analysis of ranges: bounds of integers through blocks, loops and branches. It builds on the
//! analysis of constants.
//!
//! Results of ops follow MLIR's `InferIntRangeCommon` (LLVM 19) or are tighter (`infer.rs`); the
//! lattice is in `range.rs`.

use noisy_syntax::{Form, Interner, Op, Type, Value};

use super::constant::Constant;
use super::constants::ConstantFacts;
use super::infer;
use super::range::{Bounds, Range, type_width, width};
use noisy_dataflow::flow::Interval;
use noisy_dataflow::sparse::{AnalysisContext, SparseForward};
use noisy_dataflow::view::ProgramView;

/// The range analysis. It has no state of its own.
#[derive(Debug, Default)]
pub struct Ranges;

impl SparseForward for Ranges {
    type Fact = Range;
    type Base = ConstantFacts;

    fn has_fact(&self, interner: &Interner, ty: Type) -> bool {
        type_width(interner, ty).is_some()
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Self::Base>,
        op: Op,
        result: usize,
        operands: &[Range],
    ) -> Range {
        let data = ir.op(op);
        if matches!(data.form, Form::Broken | Form::Opaque) || operands.contains(&Range::Bottom) {
            let is_broken = matches!(data.form, Form::Broken | Form::Opaque);
            return if is_broken { Range::Unknown } else { Range::Bottom };
        }
        infer::infer(ir, op, result, operands).map_or(Range::Unknown, Range::from)
    }

    fn entry_argument_fact(
        &mut self,
        ir: &AnalysisContext<'_, Self::Base>,
        op: Op,
        index: usize,
        argument: Value,
        operands: &[Range],
    ) -> Range {
        let bounds = |at: usize| operands.get(at)?.interval(ir, ir.operand_ty(op, at)?).bounds();
        infer::induction_bounds(ir, op, index, argument, &bounds)
            .map_or(Range::Unknown, Range::from)
    }

    fn interval(&self, interner: &Interner, ty: Type, fact: &Range) -> Option<Interval> {
        Some(fact.interval(interner, ty))
    }

    fn refine(&self, ir: &AnalysisContext<'_, Self::Base>, value: Value, fact: Range) -> Range {
        let known = ir.base_facts(value);
        match (known.constant, width(ir, value)) {
            (Constant::Bottom, _) => Range::Bottom,
            (Constant::Int(number), Some(width)) => match i64::try_from(number) {
                Ok(number) => Bounds::one(width, number).into(),
                Err(_) => fact,
            },
            (Constant::Elements(_), Some(width)) => {
                let of_all = known.list.into_iter().flatten().map(|it| {
                    let number = it.int().and_then(|it| i64::try_from(it).ok());
                    number.map_or(Bounds::full(width), |it| Bounds::one(width, it))
                });
                of_all.reduce(Bounds::joined).map_or(fact, Range::from)
            }
            _ => fact,
        }
    }
}

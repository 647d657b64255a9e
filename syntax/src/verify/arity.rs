//! What the generic form may get wrong and the custom form cannot: how many operands, results, regions and successors an op has,
//! and the attributes that it needs.

use super::Verifier;
use crate::{Code, Form, Op, OpKind};

/// How many there must be, at least and at most.
type Count = (usize, usize);

const ANY: Count = (0, usize::MAX);
const NONE: Count = (0, 0);
const ONE: Count = (1, 1);
const TWO: Count = (2, 2);
const THREE: Count = (3, 3);
const SOME: Count = (1, usize::MAX);

/// Operands, results, regions and successors.
struct Arity(Count, Count, Count, Count);

impl Arity {
    /// Of an op, by its description in the dialects (`*Ops.td` of MLIR 19).
    #[allow(clippy::match_same_arms, reason = "a table: one row for each group of ops, by dialect")]
    fn of(kind: OpKind) -> Option<Arity> {
        use OpKind as K;
        Some(match kind {
            K::BuiltinModule => Arity(NONE, NONE, ONE, NONE),
            K::FuncFunc => Arity(NONE, NONE, ONE, NONE),
            K::FuncCall => Arity(ANY, ANY, NONE, NONE),
            K::FuncCallIndirect => Arity(SOME, ANY, NONE, NONE),
            K::FuncConstant | K::ArithConstant => Arity(NONE, ONE, NONE, NONE),
            K::FuncReturn | K::ScfYield | K::AffineYield => Arity(ANY, NONE, NONE, NONE),
            K::CfBr => Arity(ANY, NONE, NONE, ONE),
            K::CfCondBr => Arity(SOME, NONE, NONE, TWO),
            K::CfSwitch => Arity(SOME, NONE, NONE, SOME),
            K::CfAssert => Arity(ONE, NONE, NONE, NONE),
            K::ArithCmpi | K::ArithCmpf => Arity(TWO, ONE, NONE, NONE),
            K::ArithSelect => Arity(THREE, ONE, NONE, NONE),
            K::ArithAdduiExtended
            | K::ArithSubuiExtended
            | K::ArithMulsiExtended
            | K::ArithMuluiExtended => Arity(TWO, TWO, NONE, NONE),
            K::ScfIf => Arity(ONE, ANY, TWO, NONE),
            K::ScfFor => Arity((3, usize::MAX), ANY, ONE, NONE),
            K::ScfWhile => Arity(ANY, ANY, TWO, NONE),
            K::ScfCondition => Arity(SOME, NONE, NONE, NONE),
            K::ScfParallel | K::ScfForall => Arity(ANY, ANY, ONE, NONE),
            K::ScfReduce => Arity(ANY, NONE, ANY, NONE),
            K::ScfReduceReturn => Arity(ONE, NONE, NONE, NONE),
            K::ScfForallInParallel => Arity(NONE, NONE, ONE, NONE),
            K::ScfExecuteRegion => Arity(NONE, ANY, ONE, NONE),
            K::ScfIndexSwitch => Arity(ONE, ANY, SOME, NONE),
            K::AffineFor | K::AffineParallel => Arity(ANY, ANY, ONE, NONE),
            K::AffineIf => Arity(ANY, ANY, TWO, NONE),
            K::AffineApply | K::AffineMin | K::AffineMax => Arity(ANY, ONE, NONE, NONE),
            K::AffineLoad | K::AffineVectorLoad => Arity(SOME, ONE, NONE, NONE),
            K::AffineStore | K::AffineVectorStore => Arity((2, usize::MAX), NONE, NONE, NONE),
            K::AffinePrefetch | K::AffineDmaStart | K::AffineDmaWait => {
                Arity(SOME, NONE, NONE, NONE)
            }
            K::AffineDelinearizeIndex => Arity(SOME, ANY, NONE, NONE),
            K::AffineLinearizeIndex => Arity(ANY, ONE, NONE, NONE),
            K::NoisyAdd | K::NoisySub | K::NoisyMul => Arity(TWO, ONE, NONE, NONE),
            K::NoisyEncode | K::NoisyDecode | K::NoisyReduceNoise => Arity(ONE, ONE, NONE, NONE),
            K::ArithScalingExtf | K::ArithScalingTruncf => Arity(TWO, ONE, NONE, NONE),
            _ => match kind.spec().name.strip_prefix("arith.")? {
                "negf" => Arity(ONE, ONE, NONE, NONE),
                name if is_cast(name) => Arity(ONE, ONE, NONE, NONE),
                _ => Arity(TWO, ONE, NONE, NONE),
            },
        })
    }
}

fn is_cast(name: &str) -> bool {
    matches!(
        name,
        "extsi"
            | "extui"
            | "trunci"
            | "extf"
            | "truncf"
            | "sitofp"
            | "uitofp"
            | "fptosi"
            | "fptoui"
            | "index_cast"
            | "index_castui"
            | "bitcast"
            | "convertf"
    )
}

/// The attributes that an op does not do without.
pub(super) fn required(kind: OpKind) -> &'static [&'static str] {
    use OpKind as K;
    match kind {
        K::FuncFunc => &["sym_name", "function_type"],
        K::FuncCall => &["callee"],
        K::FuncConstant | K::ArithConstant => &["value"],
        K::ArithCmpi | K::ArithCmpf => &["predicate"],
        K::CfAssert => &["msg"],
        K::CfSwitch => &["case_operand_segments"],
        K::ScfIndexSwitch => &["cases"],
        K::AffineFor => &["lowerBoundMap", "upperBoundMap", "step"],
        K::AffineParallel => &[
            "lowerBoundsMap",
            "upperBoundsMap",
            "lowerBoundsGroups",
            "upperBoundsGroups",
            "steps",
            "reductions",
        ],
        K::AffineApply
        | K::AffineMin
        | K::AffineMax
        | K::AffineLoad
        | K::AffineStore
        | K::AffineVectorLoad
        | K::AffineVectorStore => &["map"],
        K::AffineDmaStart => &["src_map", "dst_map", "tag_map"],
        K::AffineDmaWait => &["tag_map"],
        _ => &[],
    }
}

impl Verifier<'_> {
    /// The counts and the attributes of an op in generic form.
    pub(super) fn arity(&mut self, op: Op) {
        let data = self.ir.op(op);
        if data.form != Form::Generic {
            return;
        }
        let Some(Arity(operands, results, regions, successors)) = Arity::of(data.kind) else {
            return;
        };
        let n_successors = self.ir.extra(op).successors.len();
        for (what, n, count) in [
            ("operands", data.operands.len(), operands),
            ("results", data.results.len(), results),
            ("regions", data.regions.len(), regions),
            ("successors", n_successors, successors),
        ] {
            if n < count.0 || n > count.1 {
                let wanted = match count {
                    (least, usize::MAX) => format!("{least} or more"),
                    (least, _) => least.to_string(),
                };
                let message = format!("expected {wanted} {what}, but found {n}");
                self.tell(op, Code::WrongCount, message);
                return;
            }
        }
        for name in required(data.kind) {
            if self.ir.attr(op, name).is_none() {
                self.tell(op, Code::MissingAttribute, format!("requires attribute '{name}'"));
                return;
            }
        }
    }
}

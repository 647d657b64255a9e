//! Dominance and isolation: checks that the definition of each operand dominates the op, and that
//! no isolated region separates them.

use super::Verifier;
use crate::{Block, Code, Def, Op, OpKind, Region, Traits, Value};

impl Verifier<'_> {
    pub(super) fn check_dominance(&mut self, op: Op) {
        let operands = &self.ir.op(op).operands;
        for (n, operand) in operands.iter().enumerate() {
            let Some(value) = operand.value else { continue };
            if operands[..n.min(MAX_COMPARED_OPERANDS)].iter().any(|it| it.value == Some(value)) {
                continue;
            }
            match self.use_dominance(op, value) {
                UseDominance::Yes => {}
                UseDominance::Isolated => {
                    self.report_at(
                        operand.span,
                        Code::Isolated,
                        "uses a value defined outside of the isolated region",
                    );
                }
                UseDominance::No => {
                    let name = self.ir.interner.str(operand.name);
                    let number = match operand.number {
                        0 => String::new(),
                        n => format!("#{n}"),
                    };
                    let message = format!("operand %{name}{number} does not dominate this use");
                    self.report_at(operand.span, Code::Dominance, message);
                }
            }
        }
    }

    fn use_dominance(&self, op: Op, value: Value) -> UseDominance {
        let ir = self.ir;
        let (region, defining_op) = match ir.value(value).def {
            Def::Result(it, _) => (ir.op(it).parent, Some(it)),
            Def::Argument(block, _) => (ir.block(block).region, None),
        };
        // The ancestor of the use that is in the region of the definition.
        let mut user = op;
        while ir.op(user).parent != region {
            let Some(parent) = ir.parent_op(user) else { return UseDominance::No };
            if ir.op(parent).kind.has(Traits::ISOLATED) {
                return UseDominance::Isolated;
            }
            user = parent;
        }
        let of_entry = |block: Block| ir.block(block).label.is_none();
        if self.is_graph_region(region)
            || matches!(ir.value(value).def, Def::Argument(it, _) if of_entry(it))
        {
            return UseDominance::Yes;
        }
        let Some(flow) = self.dominators.get(&region) else {
            // In a region with one block, the use is dominated by the arguments and by the
            // preceding ops.
            return UseDominance::from(
                defining_op.is_none_or(|it| it != user && self.is_before(it, user)),
            );
        };
        let at = self.block_of(user);
        if !flow.is_reachable(at) {
            // Unreachable code has no dominance problems.
            return UseDominance::Yes;
        }
        let from: Block = match ir.value(value).def {
            Def::Argument(block, _) => block,
            Def::Result(it, _) => self.block_of(it),
        };
        match defining_op {
            // Neither an op nor its regions can use its results.
            Some(it) if from == at => UseDominance::from(it != user && self.is_before(it, user)),
            _ => UseDominance::from(flow.dominates(from, at)),
        }
    }

    /// Returns true if the order of the ops of a region is irrelevant or unknown.
    fn is_graph_region(&self, region: Region) -> bool {
        self.ir.region(region).parent.is_none_or(|it| {
            let kind = self.ir.op(it).kind;
            let is_unknown = kind == OpKind::Unknown && !self.ir.is_secret_generic(it);
            is_unknown || kind == OpKind::Chunk || kind.has(Traits::GRAPH_REGION)
        })
    }
}

/// Number of leading operands of an op among which each value is reported only once.
const MAX_COMPARED_OPERANDS: usize = 8;

enum UseDominance {
    Yes,
    No,
    Isolated,
}

impl From<bool> for UseDominance {
    fn from(it: bool) -> Self {
        if it { UseDominance::Yes } else { UseDominance::No }
    }
}

//! What the generic form may get wrong and the custom form cannot: how many operands, results, regions and successors an op has,
//! and the attributes that it needs.

use super::Verifier;
use crate::dialect::{Count, Presence};
use crate::{Code, Form, Op, OpKind};

impl Verifier<'_> {
    /// The counts and the attributes of an op in generic form.
    pub(super) fn arity(&mut self, op: Op) {
        let data = self.ir.op(op);
        if data.form != Form::Generic || data.kind == OpKind::Unknown {
            return;
        }
        let spec = data.kind.spec();
        let n_successors = self.ir.extra(op).successors.len();
        for (what, n, count) in [
            ("operands", data.operands.len(), spec.operands),
            ("results", data.results.len(), spec.results),
            ("regions", data.regions.len(), spec.regions),
            ("successors", n_successors, spec.successors),
        ] {
            if !count.contains(n) {
                let wanted = match count {
                    Count { least, most: usize::MAX } => format!("{least} or more"),
                    Count { least, most } if least < most => format!("{least} to {most}"),
                    Count { least, .. } => least.to_string(),
                };
                let message = format!("expected {wanted} {what}, but found {n}");
                self.tell(op, Code::WrongCount, message);
                return;
            }
        }
        for attr in spec.attrs.iter().filter(|it| it.presence == Presence::Required) {
            if self.ir.attr(op, attr.name).is_none() {
                let message = format!("requires attribute '{}'", attr.name);
                self.tell(op, Code::MissingAttribute, message);
                return;
            }
        }
    }
}

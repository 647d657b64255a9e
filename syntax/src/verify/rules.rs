//! The verifier rules of single ops. The rows of the table of ops refer to them.

use super::Verifier;
use crate::Op;

/// A rule about one op. It reports problems to the verifier.
pub(crate) type VerifierRule = fn(&mut Verifier<'_>, Op);

/// The verifier rules of an op, in addition to those that are derived from the counts, types,
/// attributes and traits in its row.
#[derive(Debug)]
pub(crate) struct VerifierRules {
    /// Rules about types and attributes. They run in order until one finds a problem.
    pub(crate) types: &'static [VerifierRule],
    /// A rule about the symbols that the op defines or refers to.
    pub(crate) symbols: Option<VerifierRule>,
    /// A rule about the blocks of the op, or about the enclosing block or op.
    pub(crate) blocks: Option<VerifierRule>,
    /// A rule about the regions of the op, their arguments and terminators.
    pub(crate) regions: Option<VerifierRule>,
    /// Number of leading regions that need a block in the generic form. Used if the op has an
    /// implicit terminator.
    pub(crate) n_required_blocks: usize,
    /// A rule about the ops that compute the indices of this op.
    pub(crate) indices: Option<VerifierRule>,
    /// True if another rule depends on the ops that compute indices.
    pub(crate) reads_indices: bool,
}

impl VerifierRules {
    pub(crate) const NONE: VerifierRules = VerifierRules {
        types: &[],
        symbols: None,
        blocks: None,
        regions: None,
        n_required_blocks: usize::MAX,
        indices: None,
        reads_indices: false,
    };

    /// Rules about types and attributes alone.
    pub(crate) const fn of_types(types: &'static [VerifierRule]) -> VerifierRules {
        VerifierRules { types, ..VerifierRules::NONE }
    }

    /// Rules about types and attributes, and one about indices.
    pub(crate) const fn of_indices(
        types: &'static [VerifierRule],
        indices: VerifierRule,
    ) -> VerifierRules {
        VerifierRules { types, indices: Some(indices), ..VerifierRules::NONE }
    }
}

impl Verifier<'_> {
    pub(super) fn rules(&self, op: Op) -> &'static VerifierRules {
        &self.ir.op(op).kind.spec().rules
    }
}

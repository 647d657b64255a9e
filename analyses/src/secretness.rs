//! What depends on encrypted data: values of types that carry noise or that HEIR has for secrets, arguments with the attribute `secret.secret`, and what is
//! computed from any of them. What decrypts (`secret.reveal`, `openfhe.decrypt`, ...) gives what is public. A value that is only chosen by a secret condition
//! does not count: data flow, as in HEIR's `lib/Analysis/SecretnessAnalysis`.

use std::fmt;

use noisy_syntax::{Def, Form, Ir, Op, OpKind, Value};

use crate::flow::{self, Flow};
use crate::heir;
use crate::integer::Integers;
use crate::lattice::{Changed, Lattice};
use crate::model::NoiseModel;
use crate::sparse::{AnalysisContext, Calls, Domain, SparseForward};

/// Whether a value depends on encrypted data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Secretness {
    /// Nothing reaches it.
    #[default]
    Bottom,
    /// It does not.
    Public,
    /// It may.
    Secret,
}

impl Lattice for Secretness {
    fn bottom() -> Self {
        Secretness::Bottom
    }

    fn join(&mut self, other: &Self) -> Changed {
        let before = *self;
        *self = before.max(*other);
        Changed::when(*self != before)
    }
}

impl Domain for Secretness {
    fn unknown() -> Self {
        Secretness::Secret
    }
}

impl fmt::Display for Secretness {
    /// `public`, `secret` or `unreached`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Secretness::Bottom => "unreached",
            Secretness::Public => "public",
            Secretness::Secret => "secret",
        })
    }
}

/// The analysis.
#[derive(Debug)]
pub struct Secrets {
    model: NoiseModel,
}

impl Secrets {
    /// The analysis; a model says which types carry noise.
    pub fn new(model: NoiseModel) -> Self {
        Self { model }
    }
}

/// Whether a value is encrypted whatever flows into it: by its type, or as an argument of a function that says so.
pub(crate) fn is_secret(ir: &Ir, model: &NoiseModel, value: Value) -> bool {
    if model.is_noisy(&ir.interner, ir.value(value).ty) || heir::is_secret_type(ir, value) {
        return true;
    }
    let Def::Argument(block, index) = ir.value(value).def else { return false };
    let region = ir.block(block).region;
    ir.region(region).parent.is_some_and(|it| {
        ir.op(it).kind == OpKind::FuncFunc
            && flow::entry_block(ir, region) == block
            && heir::is_secret_argument(ir, it, index as usize, value)
    })
}

impl SparseForward for Secrets {
    type Fact = Secretness;
    type Base = Integers;

    fn calls(&self) -> Calls {
        Calls::Joined
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        operands: &[Secretness],
    ) -> Secretness {
        if ir.op(op).form == Form::Broken {
            return Secretness::Secret;
        }
        let operands = heir::known(ir, op, operands);
        if operands.contains(&Secretness::Bottom) {
            return Secretness::Bottom;
        }
        if heir::decrypts(ir.op_name(op)) {
            return Secretness::Public;
        }
        operands.iter().copied().max().unwrap_or(Secretness::Public)
    }

    fn entry(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        _: usize,
        _: Value,
        operands: &[Secretness],
    ) -> Secretness {
        // What a loop sets itself depends on its bounds, and not on what it carries.
        let n = match Flow::of(ir, op) {
            Flow::For { first } | Flow::Parallel { first } | Flow::Forall { first } => first,
            _ => operands.len(),
        };
        operands.iter().take(n).copied().max().unwrap_or(Secretness::Public)
    }

    fn refine(
        &self,
        ir: &AnalysisContext<'_, Integers>,
        value: Value,
        fact: Secretness,
    ) -> Secretness {
        if is_secret(ir, &self.model, value) { Secretness::Secret } else { fact }
    }

    fn concerned(
        &self,
        ir: &AnalysisContext<'_, Integers>,
        moved: Value,
        enter: &mut dyn FnMut(Op),
    ) {
        Integers::decided_by(ir, moved, enter);
    }
}

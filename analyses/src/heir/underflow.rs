//! Where levels run out, and where a loop carries another level than it takes.
//!
//! *Law.* A value is told of where it first has no level: its operands still have one. *Cost.* One walk over the program.

use noisy_syntax::{Def, Ir, Op, Value};

use super::{Ciphertext, Heir, Level, Options, Scheme, loops, rows};

/// A value for which no level is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Underflow {
    /// The value.
    pub(crate) value: Value,
    /// The levels it uses; `None` if all were dropped before.
    pub(crate) used: Option<u32>,
    /// The levels that there are.
    pub(crate) most: u32,
}

/// Whether levels run out at a result of an op; `most` says how many there are for a value, if that is known.
pub(super) fn runs_out(
    ir: &Ir,
    heir: &Heir,
    most: &dyn Fn(Value) -> Option<u32>,
    value: Value,
) -> bool {
    let over = |value: Value| match heir.ciphertext(value) {
        Ciphertext::Encrypted { level, .. } => match level {
            Level::Used(n) => most(value).is_some_and(|most| n > most),
            Level::All => false,
            Level::Invalid => true,
        },
        _ => false,
    };
    let Def::Result(op, _) = ir.value(value).def else { return false };
    // What a loop carries at another level is told of as that.
    over(value)
        && ir.op(op).regions.is_empty()
        && rows::moves_level(ir.op_name(op))
        && !ir.op(op).operands.iter().filter_map(|it| it.value).any(over)
}

/// How levels run out at a value.
pub(super) fn underflow(
    ir: &Ir,
    heir: &Heir,
    most: &dyn Fn(Value) -> Option<u32>,
    value: Value,
) -> Underflow {
    let used = match heir.ciphertext(value).level() {
        Some(Level::Used(n)) => Some(n),
        _ => None,
    };
    let most = most(value).unwrap_or_else(|| heir.levels_around(ir, value));
    Underflow { value, used, most }
}

/// How many levels there are for a value by the settings: those between bootstraps and those that a bootstrap takes.
pub(crate) fn budget(ir: &Ir, heir: &Heir, options: Options, value: Value) -> Option<u32> {
    let taken = heir.setting_for(ir, value).map_or(0, |it| it.bootstrap_level);
    Some(options.level_budget?.get().saturating_add(taken))
}

/// How often the moduli of the parameters for a value can be switched.
pub(crate) fn switches(ir: &Ir, heir: &Heir, value: Value) -> Option<u32> {
    let setting = heir.setting_for(ir, value)?;
    match &setting.params {
        Some(Ok(params)) if setting.scheme != Some(Scheme::Bfv) => {
            u32::try_from(params.max_level()).ok()
        }
        _ => None,
    }
}

/// A loop that takes a value at one level and gives it to its next round at another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Varying {
    /// The loop.
    pub(crate) op: Op,
    /// What it takes.
    pub(crate) init: Value,
    /// The carried argument.
    pub(crate) carried: Option<Value>,
    /// What it gives to the next round.
    pub(crate) yielded: Value,
    /// The levels used by what it takes.
    pub(crate) from: u32,
}

/// What an op carries round at another level than it takes it, if it is a loop.
pub(super) fn varying(ir: &Ir, heir: &Heir, op: Op) -> Vec<Varying> {
    let level = |value: Value| heir.ciphertext(value).level();
    let mut out = Vec::new();
    loops::carried_by(ir, op, &mut |it| {
        let (Some(Level::Used(from)), Some(to)) = (level(it.init), level(it.yielded)) else {
            return;
        };
        if it.is_repeated && to != Level::Used(from) {
            out.push(Varying {
                op: it.op,
                init: it.init,
                carried: it.argument,
                yielded: it.yielded,
                from,
            });
        }
    });
    out
}

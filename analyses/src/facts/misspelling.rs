//! Misspelled names of ops and attributes: unknown names that are similar to a known one.
//!
//! *Law.* An unknown dialect counts as misspelled only if the similar known dialect has an op of
//! that name. *Cost.* Linear in the number of known ops, for each unknown name.

use noisy_syntax::dialect::{is_closed, is_read_by_mlir, ops};
use noisy_syntax::{AttrData, Ir, Name, Op, OpKind, nearest};

/// Attributes that this tool or HEIR reads.
const ATTRIBUTES: [&str; 14] = [
    "noisy.bound",
    "noisy.range",
    "mgmt.mgmt",
    "secret.secret",
    "scheme.ckks",
    "scheme.bgv",
    "scheme.bfv",
    "scheme.cggi",
    "backend.openfhe",
    "backend.lattigo",
    "ckks.schemeParam",
    "bgv.schemeParam",
    "tensor_ext.layout",
    "tensor_ext.original_type",
];

/// Dialects whose ops all have rows. Later versions of MLIR may add ops to them.
const LISTED_DIALECTS: [&str; 4] = ["scf", "affine", "memref", "math"];

/// Minimum length of the name of an op, without its dialect, that identifies the dialect.
const MIN_DISTINCTIVE_LEN: usize = 7;

/// Existing ops of these dialects without rows, similar to an op with a row.
const EXISTING_OPS: [&str; 2] = ["math.erfc", "memref.realloc"];

/// Returns the known name of an op or attribute that an unknown name most likely misspells.
pub(crate) fn correction(name: &str, is_attribute: bool) -> Option<String> {
    if is_attribute { attribute(name) } else { operation(name) }
}

fn attribute(name: &str) -> Option<String> {
    if ATTRIBUTES.contains(&name) || !name.contains('.') {
        return None;
    }
    match nearest(name, ATTRIBUTES)[..] {
        [one] => Some(one.to_owned()),
        _ => None,
    }
}

fn operation(name: &str) -> Option<String> {
    let (dialect, short) = name.split_once('.')?;
    let is_of_heir = noisy_heir::heir_op_names().any(|it| is_of(it, dialect));
    if is_closed(dialect) || EXISTING_OPS.contains(&name) {
        // An unknown op of a closed dialect is an error.
        return None;
    }
    if is_of_heir || LISTED_DIALECTS.contains(&dialect) {
        let own = known_ops().filter(|it| is_of(it, dialect));
        let near = nearest(short, own.filter_map(|it| Some(it.split_once('.')?.1)));
        return match near[..] {
            [one] if OpKind::of(name) == OpKind::Unknown && !is_catalogued(name) => {
                Some(format!("{dialect}.{one}"))
            }
            _ => None,
        };
    }
    if is_read_by_mlir(dialect) {
        return None;
    }
    let mut dialects: Vec<&str> =
        known_ops().filter_map(|it| Some(it.split_once('.')?.0)).collect();
    dialects.dedup();
    // If two dialects are equally similar, the one that has the op.
    let found = nearest(dialect, dialects).into_iter().find_map(|of| {
        let mut own =
            known_ops().filter(|it| is_of(it, of)).filter_map(|it| Some(it.split_once('.')?.1));
        own.any(|it| it == short).then(|| format!("{of}.{short}"))
    });
    // If only one dialect has an op of this long name, two wrong letters in the dialect are
    // allowed.
    found.or_else(|| {
        let same = known_ops().filter(|it| it.split_once('.').is_some_and(|it| it.1 == short));
        match nearest(name, same)[..] {
            [one] if short.len() >= MIN_DISTINCTIVE_LEN => Some(one.to_owned()),
            _ => None,
        }
    })
}

fn is_of(name: &str, dialect: &str) -> bool {
    name.strip_prefix(dialect).is_some_and(|it| it.starts_with('.'))
}

fn is_catalogued(name: &str) -> bool {
    noisy_heir::heir_op_names().any(|it| it == name)
}

fn known_ops() -> impl Iterator<Item = &'static str> {
    let rows = ops().map(|it| it.spec().name).filter(|it| it.contains('.'));
    rows.chain(noisy_heir::heir_op_names())
}

/// Returns the names in an op that may be misspelled, with true for the names of attributes.
pub(crate) fn names_to_check(ir: &Ir, op: Op) -> impl Iterator<Item = (Name, bool)> + '_ {
    let data = ir.op(op);
    let own = (data.kind == OpKind::Unknown).then_some((data.name, false));
    let extra = data.extra.as_deref();
    let attrs = extra.into_iter().flat_map(|it| it.attrs.iter().map(|it| it.0));
    let arguments = extra.into_iter().flat_map(|it| it.argument_attrs.iter().flatten());
    let arguments = arguments.flat_map(|it| match ir.interner.attr_data(*it) {
        AttrData::Dict(entries) => entries.iter().map(|it| it.0).collect::<Vec<_>>(),
        _ => Vec::new(),
    });
    own.into_iter().chain(attrs.chain(arguments).map(|it| (it, true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_near_known_ones_are_misspelled() {
        for (name, wanted) in [
            ("nosy.mul", Some("noisy.mul")),
            ("Noisy.add", Some("noisy.add")),
            ("airth.addi", Some("arith.addi")),
            ("mgmt.relinarize", Some("mgmt.relinearize")),
            ("scf.yeild", Some("scf.yield")),
            ("mngt.modreduce", Some("mgmt.modreduce")),
            ("fhe.rotate", None),
            // The similar dialect has no op of this name.
            ("nosy.frobnicate", None),
            ("cf.for", None),
            ("torch.add", None),
            ("linalg.matmull", None),
            ("math.erfc", None),
            ("memref.realloc", None),
            ("noisy.add", None),
            // An unknown op of a closed dialect is reported as an error.
            ("noisy.ad", None),
        ] {
            assert_eq!(correction(name, false).as_deref(), wanted, "{name}");
        }
        assert_eq!(correction("noisy.bond", true).as_deref(), Some("noisy.bound"));
        assert_eq!(correction("scheme.cks", true).as_deref(), Some("scheme.ckks"));
        assert_eq!(correction("llvm.noalias", true), None);
    }
}

//! misspelled-name: a name that is almost one that is known
//!
//! An op of an unknown dialect is no mistake: programs mix dialects. But where the name of a
//! dialect, an op or an attribute is within two letters of a known one, it is probably misspelled.
//! Nothing is known of such an op, so the noise of all that follows it is not checked, and such an
//! attribute has no effect. An unknown dialect is reported only if the dialect that is meant has
//! such an op.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32) -> !noisy.i32 {
//!   %0 = nosy.mul %a, %a : !noisy.i32      // noisy.mul
//!   return %0 : !noisy.i32
//! }
//! ```
//!
//! Write the name that is meant. If the name is right, turn the rule off:
//! `misspelled-name = "off"` under `[rules]`.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32) -> !noisy.i32 {
//!   %0 = noisy.mul %a, %a : !noisy.i32
//!   return %0 : !noisy.i32
//! }
//! ```

use std::ops::Range;

use noisy_syntax::dialect::{is_closed, is_read_by_mlir, ops};
use noisy_syntax::{AttrData, Ir, Name, Op, OpKind, nearest};

use crate::checks::{Check, Fixing, Index};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Category, Diagnostic, Fix, TextEdit};

pub(in crate::checks) const CHECK: Check = Check {
    code: "misspelled-name",
    category: Category::Name,
    header: header!("misspelled_name.rs"),
    run: check,
    fix: Some(Fixing::Each(fix)),
    ..Check::WARNING
};

/// Attributes that mean something to this tool or to HEIR.
const ATTRIBUTES: [&str; 13] = [
    "noisy.bound",
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

/// Dialects of which all ops have rows, though new ones may come.
const LISTED: [&str; 4] = ["scf", "affine", "memref", "math"];

/// Ops of these dialects that are near another one, and exist.
const EXISTING: [&str; 1] = ["math.erfc"];

/// At most so much of an op is searched for the name of an attribute, in bytes.
const MAX_HEADER: usize = 1 << 16;

/// The name of an op or attribute that is probably meant.
pub(in crate::checks) fn meant(name: &str, is_attribute: bool) -> Option<String> {
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
    let is_of_heir = noisy_heir::op_names().any(|it| is_of(it, dialect));
    if is_closed(dialect) || EXISTING.contains(&name) {
        // An unknown op of a closed dialect is an error.
        return None;
    }
    if is_of_heir || LISTED.contains(&dialect) {
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
    // Of two that are equally near, the one that has the op.
    nearest(dialect, dialects).into_iter().find_map(|of| {
        let mut own =
            known_ops().filter(|it| is_of(it, of)).filter_map(|it| Some(it.split_once('.')?.1));
        own.any(|it| it == short).then(|| format!("{of}.{short}"))
    })
}

fn is_of(name: &str, dialect: &str) -> bool {
    name.strip_prefix(dialect).is_some_and(|it| it.starts_with('.'))
}

fn is_catalogued(name: &str) -> bool {
    noisy_heir::op_names().any(|it| it == name)
}

fn known_ops() -> impl Iterator<Item = &'static str> {
    let rows = ops().map(|it| it.spec().name).filter(|it| it.contains('.'));
    rows.chain(noisy_heir::op_names())
}

/// The names in an op that may be misspelled, and true for those of attributes.
pub(in crate::checks) fn names(ir: &Ir, op: Op) -> impl Iterator<Item = (Name, bool)> + '_ {
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

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    let mut found: Vec<Op> = index.misspelled.iter().copied().collect();
    found.sort_unstable();
    for op in found {
        let mut known: Vec<Name> = Vec::new();
        for (name, is_attribute) in names(ir, op) {
            let written = ir.interner.str(name);
            let Some(meant) = meant(written, is_attribute) else { continue };
            if known.contains(&name) {
                continue;
            }
            known.push(name);
            for range in places(program, op, written, is_attribute) {
                out.push(diagnostic(range, written, &meant, is_attribute));
            }
        }
    }
}

fn diagnostic(range: Range<usize>, written: &str, meant: &str, is_attribute: bool) -> Diagnostic {
    let what = if is_attribute { "attribute" } else { "op" };
    let mut it = CHECK.at(range, format!("unknown {what} `{written}`; did you mean `{meant}`?"));
    let (dialect, of) = (written.split('.').next(), meant.split('.').next());
    it.help = Some(match (is_attribute, dialect == of) {
        (true, _) => format!("Write `{meant}`: an unknown attribute has no effect"),
        (false, true) => {
            format!("Write `{meant}`: nothing after an unknown op is checked for noise")
        }
        (false, false) => format!(
            "Write `{meant}`: no dialect `{}` is known, and nothing after an unknown op is checked for noise",
            dialect.unwrap_or_default()
        ),
    });
    it
}

/// The places of a name in the text of an op.
fn places(program: &Program, op: Op, name: &str, is_attribute: bool) -> Vec<Range<usize>> {
    let (ir, source) = (program.ir(), program.source());
    if !is_attribute {
        let range = ir.name_range(op);
        let quotes = usize::from(source.slice(range.clone()).starts_with('"'));
        return vec![range.start + quotes..range.end - quotes];
    }
    let range = ir.head_range(op);
    if range.len() > MAX_HEADER {
        return Vec::new();
    }
    let text = source.slice(range.clone());
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '$');
    let found = text.match_indices(name).filter(|(at, _)| {
        let (before, after) =
            (text[..*at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    found.map(|(at, _)| range.start + at..range.start + at + name.len()).collect()
}

fn fix(program: &Program, it: &Diagnostic) -> Option<Fix> {
    let written = program.source().slice(it.range.clone());
    let meant = meant(&written, it.message.starts_with("unknown attribute"))?;
    Some(Fix {
        title: format!("Replace by {meant}"),
        applicability: Applicability::Safe,
        edits: vec![TextEdit { range: it.range.clone(), text: meant }],
    })
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
            // Another dialect, which has no such op.
            ("nosy.frobnicate", None),
            ("cf.for", None),
            ("torch.add", None),
            ("linalg.matmull", None),
            ("math.erfc", None),
            ("noisy.add", None),
            // An error of its own.
            ("noisy.ad", None),
        ] {
            assert_eq!(meant(name, false).as_deref(), wanted, "{name}");
        }
        assert_eq!(meant("noisy.bond", true).as_deref(), Some("noisy.bound"));
        assert_eq!(meant("scheme.cks", true).as_deref(), Some("scheme.ckks"));
        assert_eq!(meant("llvm.noalias", true), None);
    }
}

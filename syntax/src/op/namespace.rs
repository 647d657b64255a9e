//! Dialects: the closed ones, and the default ones, whose ops may be written without a prefix.

use crate::OpKind;

/// HEIR's op that computes on encrypted values. It has no row: its custom form is parsed like that
/// of any unknown op, except for the facts at [`crate::Ir::is_secret_generic`].
pub(crate) const SECRET_GENERIC: &str = "secret.generic";

/// The terminator of [`SECRET_GENERIC`].
pub(crate) const SECRET_YIELD: &str = "secret.yield";

/// Dialects of HEIR. In the custom form of their ops without regions, each name after `%` is an
/// operand, as in the generic form.
pub(crate) const HEIR_OPERAND_DIALECTS: [&str; 8] =
    ["bgv", "ckks", "lattigo", "lwe", "mgmt", "openfhe", "secret", "tensor_ext"];

/// Ops of HEIR without regions, with the number of their operands.
pub(crate) const HEIR_OPERAND_COUNTS: [(&str, usize); 10] = [
    ("mgmt.adjust_scale", 1),
    ("mgmt.bootstrap", 1),
    ("mgmt.init", 1),
    ("mgmt.level_reduce", 1),
    ("mgmt.level_reduce_min", 1),
    ("mgmt.modreduce", 1),
    ("mgmt.relinearize", 1),
    ("secret.conceal", 1),
    ("secret.reveal", 1),
    ("tensor_ext.rotate", 2),
];

/// Returns true if it is a dialect of HEIR with parsers that expand aliases in the bodies of its
/// types and attributes.
pub(crate) fn is_read_by_heir(dialect: &str) -> bool {
    HEIR_OPERAND_DIALECTS.contains(&dialect)
        || matches!(dialect, "mod_arith" | "polynomial" | "rns")
}

/// Returns true if every op and type of the dialect is known, so that an unknown one is an error.
pub fn is_closed(dialect: &str) -> bool {
    matches!(dialect, "noisy" | "func" | "arith" | "cf" | "builtin")
}

/// Returns true if `mlir-opt` has the dialect and so parses the bodies of its types and attributes
/// (`mlir-opt --show-dialects` of LLVM 19).
pub fn is_read_by_mlir(dialect: &str) -> bool {
    matches!(
        dialect,
        "acc"
            | "affine"
            | "amdgpu"
            | "amx"
            | "arith"
            | "arm_neon"
            | "arm_sme"
            | "arm_sve"
            | "async"
            | "bufferization"
            | "builtin"
            | "cf"
            | "complex"
            | "dlti"
            | "emitc"
            | "func"
            | "gpu"
            | "index"
            | "irdl"
            | "linalg"
            | "llvm"
            | "math"
            | "memref"
            | "mesh"
            | "ml_program"
            | "mpi"
            | "nvgpu"
            | "nvvm"
            | "omp"
            | "pdl"
            | "pdl_interp"
            | "polynomial"
            | "ptr"
            | "quant"
            | "rocdl"
            | "scf"
            | "shape"
            | "sparse_tensor"
            | "spirv"
            | "tensor"
            | "test"
            | "test_dyn"
            | "tosa"
            | "transform"
            | "ub"
            | "vector"
            | "x86vector"
            | "xegpu"
    )
}

/// Returns true if `name` (no dot) is an op of the default dialect `dialect`. Such a name at the
/// start of a line starts an op.
pub(crate) fn is_unprefixed_op(dialect: &str, name: &str) -> bool {
    match dialect {
        "builtin" | "func" => OpKind::is_op_of(dialect, name),
        "pdl" => matches!(
            name,
            "pattern"
                | "rewrite"
                | "operation"
                | "operand"
                | "operands"
                | "type"
                | "types"
                | "attribute"
                | "result"
                | "results"
                | "replace"
                | "erase"
                | "apply_native_constraint"
                | "apply_native_rewrite"
                | "range"
        ),
        "transform" => matches!(
            name,
            "yield"
                | "sequence"
                | "named_sequence"
                | "include"
                | "foreach"
                | "foreach_match"
                | "alternatives"
                | "match.operation_name"
                | "print"
                | "cast"
                | "merge_handles"
                | "split_handle"
                | "replicate"
                | "select"
                | "with_pdl_patterns"
                | "collect_matching"
                | "apply_patterns"
                | "apply_cse"
                | "apply_dce"
                | "apply_licm"
                | "annotate"
                | "get_parent_op"
                | "get_producer_of_operand"
                | "get_consumers_of_result"
                | "get_defining_op"
                | "get_result"
                | "get_operand"
                | "get_type"
                | "num_associations"
                | "verify"
        ),
        "async" => matches!(
            name,
            "return"
                | "yield"
                | "execute"
                | "await"
                | "await_all"
                | "call"
                | "func"
                | "add_to_group"
                | "create_group"
        ),
        "shape" => matches!(
            name,
            "return"
                | "yield"
                | "func"
                | "add"
                | "any"
                | "assuming"
                | "assuming_all"
                | "assuming_yield"
                | "broadcast"
                | "concat"
                | "const_shape"
                | "const_size"
                | "const_witness"
                | "cstr_broadcastable"
                | "cstr_eq"
                | "cstr_require"
                | "dim"
                | "div"
                | "from_extent_tensor"
                | "from_extents"
                | "function_library"
                | "get_extent"
                | "index_to_size"
                | "is_broadcastable"
                | "max"
                | "meet"
                | "min"
                | "mul"
                | "num_elements"
                | "rank"
                | "reduce"
                | "shape_eq"
                | "shape_of"
                | "size_to_index"
                | "split_at"
                | "to_extent_tensor"
                | "value_as_shape"
                | "value_of"
                | "with_shape"
        ),
        _ => false,
    }
}

/// The default dialect at the top level of a file.
pub(crate) const TOP_LEVEL_DIALECT: Option<&str> = Some("builtin");

/// Returns true if `name` (no dot) is an op of any default dialect.
pub(crate) fn is_unprefixed_anywhere(name: &str) -> bool {
    ["builtin", "func", "pdl", "transform", "async", "shape"]
        .iter()
        .any(|dialect| is_unprefixed_op(dialect, name))
}

/// Default dialect inside the regions of an unknown op. Any dialect is possible, so a name without
/// a dot may be valid.
pub(crate) const ANY_DIALECT: &str = "?";

/// Returns the default dialect inside the regions of an op that is written in custom form with the
/// name `written`. `around` is the default dialect outside. `None`: names in the regions need a
/// prefix.
pub(crate) fn inner_dialect(around: Option<&'static str>, written: &str) -> Option<&'static str> {
    match around {
        _ if written.contains('.') => default_dialect_of(written),
        Some(ANY_DIALECT) => around,
        Some(around) => default_dialect_of(&format!("{around}.{written}")),
        None => None,
    }
}

fn default_dialect_of(full_name: &str) -> Option<&'static str> {
    let kind = OpKind::of(full_name);
    if kind != OpKind::Unknown {
        return kind.spec().default_dialect;
    }
    let dialect = full_name.split('.').next().unwrap_or_default();
    match full_name {
        "transform.sequence"
        | "transform.named_sequence"
        | "transform.with_pdl_patterns"
        | "transform.foreach"
        | "transform.alternatives" => Some("transform"),
        "pdl.pattern" | "pdl.rewrite" => Some("pdl"),
        "async.func" => Some("async"),
        "shape.func" | "shape.function_library" => Some("shape"),
        _ if is_closed(dialect) || matches!(dialect, "scf" | "affine" | "memref") => None,
        _ => Some(ANY_DIALECT),
    }
}

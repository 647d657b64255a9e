//! Compares the check of types of ciphertexts after lowering with HEIR's verifiers and its
//! lowerings to libraries. Needs `heir-opt` of HEIR 2026.9.1 (`scripts/bootstrap oracles` installs
//! it).

use std::path::PathBuf;

use crate::Random;
use crate::lowering::{errors, fixed, heir_opt, refusal_by};
use noisy_analyses::Document;

/// The type of a ciphertext in BGV with plaintext modulus 17.
#[derive(Clone, Copy)]
struct Ct {
    scale: i64,
    level: usize,
    size: u32,
}

const MODULI: [&str; 3] = ["97 : i64", "113 : i64", "193 : i64"];

fn residues(level: usize) -> String {
    MODULI[..=level].iter().map(|it| format!("!mod_arith.int<{it}>")).collect::<Vec<_>>().join(", ")
}

fn ring(level: usize) -> String {
    format!("<coefficientType = !rns.rns<{}>, polynomialModulus = <1 + x**16>>", residues(level))
}

fn space(scale: i64) -> String {
    format!(
        "<ring = <coefficientType = !mod_arith.int<17 : i64>, polynomialModulus = <1 + x**16>>, encoding = #lwe.full_crt_packing_encoding<scaling_factor = {scale}>>"
    )
}

fn chain(level: usize) -> String {
    format!("<elements = <{}>, current = {level}>", MODULI.join(", "))
}

impl Ct {
    fn text(self) -> String {
        let Ct { scale, level, size } = self;
        format!(
            "!lwe.lwe_ciphertext<plaintext_space = {}, ciphertext_space = <ring = {}, encryption_type = lsb, size = {size}>, key = <>, modulus_chain = {}>",
            space(scale),
            ring(level),
            chain(level)
        )
    }
}

const CT: Ct = Ct { scale: 1, level: 1, size: 2 };

/// Returns the aliases that the programs of these tests use.
fn aliases() -> String {
    let types = [
        ("!c", CT.text()),
        ("!low", Ct { level: 0, ..CT }.text()),
        ("!scaled", Ct { scale: 3, ..CT }.text()),
        ("!wide", Ct { size: 3, ..CT }.text()),
        // The inverse of 113 modulo 17.
        ("!switched", Ct { scale: 14, level: 0, ..CT }.text()),
        ("!p", format!("!lwe.lwe_plaintext<plaintext_space = {}>", space(1))),
        ("!q", format!("!lwe.lwe_plaintext<plaintext_space = {}>", space(3))),
        ("!key", format!("!lwe.lwe_public_key<key = <>, ring = {}>", ring(1))),
        ("!low_key", format!("!lwe.lwe_public_key<key = <>, ring = {}>", ring(0))),
        ("!secret_key", format!("!lwe.lwe_secret_key<key = <>, ring = {}>", ring(1))),
    ];
    let mut lines: Vec<String> =
        types.iter().map(|(name, text)| format!("{name} = {text}")).collect();
    lines.extend((0..2).map(|it| format!("#ring{it} = #polynomial.ring{}", ring(it))));
    lines.push("#plain_ring = #polynomial.ring<coefficientType = !mod_arith.int<17 : i64>, polynomialModulus = <1 + x**16>>".to_owned());
    lines.push("#e = #lwe.full_crt_packing_encoding<scaling_factor = 1>\n".to_owned());
    lines.join("\n")
}

/// Returns a function with these ops, one per line, in a module of BGV.
fn program(library: &str, ops: &str) -> String {
    let ops: Vec<String> = ops.lines().map(|it| format!("    {}\n", it.trim())).collect();
    let ops = ops.concat();
    format!(
        "{}module attributes {{backend.{library}, scheme.bgv}} {{
  func.func @f(%x: !c, %y: !c, %l: !low, %s: !scaled, %w: !wide, %p: !p, %q: !q, %k: !key, %lk: !low_key, %sk: !secret_key, %t: tensor<16xi16>, %i: index) {{
{ops}    return
  }}
}}
",
        aliases()
    )
}

/// Returns the error of `heir-opt`, if it does not lower a program to its library.
fn refusal(heir_opt: &PathBuf, text: &str) -> Option<String> {
    let library = if text.contains("backend.lattigo") { "lattigo" } else { "openfhe" };
    refusal_by(heir_opt, &["--bgv-to-lwe", "--ckks-to-lwe", &format!("--lwe-to-{library}")], text)
}

/// Ops that violate a requirement: HEIR's message in the table of requirements, the ops, and the
/// message of `heir-opt` if it is different.
const REFUSED: &[(&str, &str, &str)] = &[
    ("expects different type than prior uses", "%0 = bgv.add %x, %s : (!c, !c) -> !c", ""),
    ("expects different type than prior uses", "%0 = bgv.negate %s : !c", ""),
    ("expects different type than prior uses", "%0 = bgv.rotate_cols %w, %i : index : !c", ""),
    (
        "expects different type than prior uses",
        "%0 = bgv.mul %x, %y : (!c, !c) -> !wide\n%1 = scf.execute_region -> !c {\nscf.yield %0 : !c\n}",
        "",
    ),
    ("must be lwe-ciphertext-like", "%0 = bgv.add %x, %p : (!c, !p) -> !c", ""),
    ("must be lwe-ciphertext-like", "%0 = lwe.rmul %t, %x : (tensor<16xi16>, !c) -> !wide", ""),
    (
        "expected ciphertext, plaintext operand types",
        "%0 = bgv.add_plain %x, %y : (!c, !c) -> !c",
        "",
    ),
    (
        "expected ciphertext, plaintext operand types",
        "%0 = lwe.rmul_plain %p, %q : (!p, !q) -> !scaled",
        "expected plaintext, ciphertext operand types",
    ),
    ("to have the same rings", "%0 = bgv.sub %x, %y : (!c, !c) -> !low", ""),
    (
        "to have the same rings",
        "%0 = bgv.relinearize %w {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : !wide -> !low",
        "",
    ),
    ("to have the same plaintextSpace", "%0 = bgv.add %x, %s : (!c, !scaled) -> !c", ""),
    ("to have the same plaintextSpace", "%0 = bgv.sub_plain %x, %q : (!c, !q) -> !c", ""),
    ("to have the same plaintextSpace", "%0 = lwe.radd_plain %x, %q : (!c, !q) -> !c", ""),
    ("to have the same plaintextSpace", "%0 = bgv.level_reduce %s : !scaled -> !low", ""),
    ("to have the same ciphertextType", "%0 = bgv.add_plain %x, %p : (!c, !p) -> !wide", ""),
    ("output.dim == x.dim + y.dim - 1 does not hold", "%0 = bgv.mul %x, %y : (!c, !c) -> !c", ""),
    ("output.dim == x.dim does not hold", "%0 = bgv.mul_plain %x, %p : (!c, !p) -> !wide", ""),
    ("output plaintext space does not match", "%0 = bgv.mul %x, %s : (!c, !scaled) -> !wide", ""),
    ("output plaintext space does not match", "%0 = lwe.rmul_plain %x, %q : (!c, !q) -> !c", ""),
    ("output modulus chain size does not match", "%0 = bgv.level_reduce %x : !c -> !c", ""),
    ("output modulus chain size does not match", "%0 = ckks.level_reduce %x : !c -> !c", ""),
    (
        "are incompatible with return type(s) of operation",
        "%0 = bgv.add %x, %w : (!c, !wide) -> !c",
        "",
    ),
    (
        "are incompatible with return type(s) of operation",
        "%0 = lwe.radd_plain %x, %p : (!c, !p) -> !wide",
        "",
    ),
    (
        "output dimension does not match to_basis",
        "%0 = ckks.relinearize %w {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : (!wide) -> !wide",
        "",
    ),
    ("x.dim == 2 does not hold", "%0 = bgv.rotate_cols %w, %i : index : !wide", ""),
    ("contains neither static nor dynamic operand", "%0 = bgv.rotate_cols %x : !c", ""),
    (
        "contains neither static nor dynamic operand",
        "%0 = ckks.rotate %x, %i : index {static_shift = 1 : index} : !c",
        "contains both static and dynamic operand",
    ),
    (
        "input dimension does not match from_basis",
        "%0 = bgv.relinearize %w {from_basis = array<i32: 0, 1>, to_basis = array<i32: 0, 1>} : !wide -> !c",
        "",
    ),
    (
        "output dimension does not match to_basis",
        "%0 = bgv.relinearize %w {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : !wide -> !wide",
        "",
    ),
    (
        "output ciphertext_space ring should match to_ring",
        "%0 = bgv.modulus_switch %x {to_ring = #ring1} : !c -> !switched",
        "",
    ),
    (
        "output ring basis size should be less than the input ring basis size",
        "%0 = bgv.modulus_switch %x {to_ring = #ring1} : !c -> !c",
        "",
    ),
    (
        "output plaintext space does not match",
        "%0 = bgv.modulus_switch %x {to_ring = #ring0} : !c -> !low",
        "",
    ),
    (
        "output ciphertext must have",
        "%0 = ckks.bootstrap %l {targetLevel = 2 : i64} : !low -> !c",
        "",
    ),
    (
        "the first arg's type's encoding matches the given encoding",
        "%0 = lwe.rlwe_encode %t {encoding = #e, ring = #plain_ring} : tensor<16xi16> -> !q",
        "",
    ),
    (
        "the first arg's type's encoding matches the given encoding",
        "%0 = lwe.rlwe_decode %q {encoding = #e, ring = #plain_ring} : !q -> tensor<16xi16>",
        "",
    ),
    (
        "the first arg's type's encoding matches the given encoding",
        "%0 = lwe.trivial_encrypt %q : !q -> !c",
        "",
    ),
    (
        "the first arg's type's encoding matches the given encoding",
        "%0 = lwe.rlwe_encrypt %q, %k : (!q, !key) -> !c",
        "",
    ),
    ("rings do not match", "%0 = lwe.rlwe_encrypt %p, %lk : (!p, !low_key) -> !c", ""),
    (
        "rings do not match",
        "%0 = lwe.rlwe_decrypt %l, %sk : (!low, !secret_key) -> !p",
        "RLWE parameters matches",
    ),
    (
        "explicitly marked illegal",
        "%0 = ckks.bootstrap %l {targetLevel = 1 : i64} : !low -> !c",
        "",
    ),
];

/// Ops that HEIR lowers to `OpenFHE`.
const LOWERED: &[&str] = &[
    "%0 = bgv.add %x, %y : (!c, !c) -> !c",
    "%0 = bgv.add %w, %y : (!wide, !c) -> !wide",
    "%0 = lwe.radd %y, %w : (!c, !wide) -> !wide",
    "%0 = bgv.add_plain %p, %x : (!p, !c) -> !c",
    "%0 = bgv.mul %x, %s : (!c, !scaled) -> !product\n%1 = bgv.relinearize %0 {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 1>} : !product -> !scaled",
    "%0 = bgv.mul_plain %s, %q : (!scaled, !q) -> !nine",
    "%0 = bgv.modulus_switch %x {to_ring = #ring0} : !c -> !switched",
    "%0 = bgv.level_reduce %x : !c -> !low",
    "%0 = bgv.rotate_cols %x {static_shift = 1 : index} : !c",
    "%0 = bgv.rotate_cols %x, %i : index : !c",
    "%0 = ckks.bootstrap %l : !low -> !c",
    "%0 = bgv.negate %w : !wide",
    "%0 = lwe.rlwe_encode %t {encoding = #e, ring = #plain_ring} : tensor<16xi16> -> !p\n%1 = lwe.rlwe_encrypt %0, %k : (!p, !key) -> !c\n%2 = lwe.rlwe_decrypt %1, %sk : (!c, !secret_key) -> !p",
];

fn lowered(library: &str, ops: &str) -> String {
    let product = Ct { scale: 3, size: 3, ..CT }.text();
    let nine = Ct { scale: 9, ..CT }.text();
    let text = program(library, ops);
    format!("!product = {product}\n!nine = {nine}\n{text}")
}

#[test]
fn each_violated_requirement_on_types_is_an_error_at_its_op() {
    let heir_opt = heir_opt();
    for &(message, ops, other) in REFUSED {
        let text = program("openfhe", ops);
        let found = Document::new(&text).diagnostics();
        let found: Vec<_> = found.iter().filter(|it| it.severity.name() == "error").collect();
        let [error] = found.as_slice() else { panic!("{ops}: {found:?}") };
        let line = text[..error.range.start].lines().count();
        let last = ops.lines().filter(|it| *it != "}").count() - 1;
        let first = text.lines().position(|it| it.contains("%0 = ")).expect("an op") + 1;
        assert_eq!(line, first + last, "{ops}");
        assert_eq!(error.code, "ciphertext-types", "{ops}: {}", error.message);
        let told = error.help.as_deref().unwrap_or_default();
        assert!(told.contains(message), "{ops}: {told}");
        let Some(heir_opt) = &heir_opt else { continue };
        let said = refusal(heir_opt, &text).expect("a refusal");
        let message = if other.is_empty() { message } else { other };
        assert!(said.contains(message), "{ops}: {said}");
    }
}

/// Programs with a wrong type, basis or op, each with a text that the fix inserts.
const FIXED: &[(&str, &str)] = &[
    ("%0 = bgv.mul %x, %y : (!c, !c) -> !c\n%1 = bgv.negate %0 : !wide", "size = 3"),
    ("%0 = bgv.add %x, %s : (!c, !c) -> !c\n%1 = bgv.mul %x, %s : (!c, !scaled) -> !product", ""),
    (
        "%0 = bgv.mul %x, %y : (!c, !c) -> !wide\n%1 = bgv.rotate_cols %0, %i : index : !c",
        "\"bgv.relinearize\"(%0)",
    ),
    (
        "%0 = bgv.rotate_cols %x, %i : index : !wide\n%1 = bgv.add %x, %0 : (!c, !c) -> !c",
        "rotate_cols %x, %i : index : !lwe",
    ),
    (
        "%0 = bgv.modulus_switch %x {to_ring = #ring0} : !c -> !switched\n%1 = lwe.radd %y, %0 : (!c, !switched) -> !switched",
        "\"bgv.modulus_switch\"(%y)",
    ),
    ("%0 = bgv.add %x, %l : (!c, !low) -> !low", "\"bgv.level_reduce\"(%x)"),
    (
        "%0 = bgv.modulus_switch %x {to_ring = #ring1} : !c -> !switched",
        "to_ring = #polynomial.ring<",
    ),
    (
        "%0 = bgv.relinearize %w {from_basis = array<i32: 0, 1>, to_basis = array<i32: 0, 2>} : !wide -> !c",
        "to_basis = array<i32: 0, 1>",
    ),
    ("%0 = bgv.add_plain %x, %y : (!c, !c) -> !c", "bgv.add %x"),
    ("%0 = lwe.rmul %x, %p : (!c, !p) -> !c", "lwe.rmul_plain %x"),
];

#[test]
fn after_the_fix_of_types_the_program_lowers() {
    let heir_opt = heir_opt();
    for (ops, written) in FIXED {
        let text = lowered("openfhe", ops);
        assert!(!errors(&text).is_empty(), "{ops}");
        let after = fixed(&text);
        if written.is_empty() {
            // The scales of the operands differ, and no op can change one of them.
            assert!(!errors(&after).is_empty(), "{after}");
            continue;
        }
        assert!(errors(&after).is_empty() && after.contains(written), "{after}");
        let Some(heir_opt) = &heir_opt else { continue };
        assert_eq!(refusal(heir_opt, &after), None, "{after}");
    }
}

#[test]
fn accepts_consistent_types() {
    let heir_opt = heir_opt();
    for ops in LOWERED {
        let text = lowered("openfhe", ops);
        assert_eq!(errors(&text), [""; 0], "{text}");
        let Some(heir_opt) = &heir_opt else { continue };
        assert_eq!(refusal(heir_opt, &text), None, "{text}");
    }
}

#[test]
fn lowered_ops_depend_on_the_library() {
    let heir_opt = heir_opt();
    let negate = "%0 = bgv.negate %x : !c";
    let target = "%0 = ckks.bootstrap %l {targetLevel = 1 : i64} : !low -> !c";
    let basis = "%0 = bgv.relinearize %w {from_basis = array<i32: 0, 1, 2>, to_basis = array<i32: 0, 2>} : !wide -> !c";
    let rows = "%0 = arith.constant 1 : i32\n%1 = bgv.rotate_rows %x, %0 : i32 : !c";
    for (library, ops, is_refused) in [
        ("openfhe", negate, false),
        ("lattigo", negate, true),
        ("openfhe", target, true),
        ("lattigo", target, true),
        ("openfhe", basis, true),
        ("lattigo", basis, false),
        ("openfhe", rows, true),
        ("lattigo", rows, true),
    ] {
        let text = program(library, ops);
        let codes: &[&str] = if is_refused { &["ciphertext-types"] } else { &[] };
        assert_eq!(errors(&text), codes, "{library} {ops}");
        let Some(heir_opt) = &heir_opt else { continue };
        assert_eq!(refusal(heir_opt, &text).is_some(), is_refused, "{library} {ops}");
    }
}

#[test]
fn reports_an_invalid_type_once() {
    let heir_opt = heir_opt();
    for (from, to, message) in [
        ("current = 1", "current = 2", "the level in the ciphertext ring must match"),
        ("key = <>", "key = <slot_index = 1>", "must have size 2"),
        ("!mod_arith.int<17 : i64>", "!mod_arith.int<19 : i64>", "modulus must be 1 mod n"),
    ] {
        let bad = Ct { size: 3, ..CT }.text().replace(from, to);
        let ops = "%0 = bgv.negate %b : !bad\n%1 = bgv.negate %0 : !bad";
        let text = program("openfhe", ops).replace("%i: index", "%i: index, %b: !bad");
        let text = format!("!bad = {bad}\n{text}");
        let found = Document::new(&text).diagnostics();
        let found: Vec<_> = found.iter().filter(|it| it.code == "ciphertext-types").collect();
        let [error] = found.as_slice() else { panic!("{to}: {found:?}") };
        assert_eq!(text[..error.range.start].lines().count(), 0, "{to}");
        let Some(heir_opt) = &heir_opt else { continue };
        let said = refusal(heir_opt, &text).expect("a refusal");
        assert!(said.contains(message), "{to}: {said}");
    }
}

#[test]
fn ignores_ops_with_undefined_operands() {
    for ops in ["%0 = bgv.rotate_cols %x, %n : index : !c", "%0 = bgv.add %n, %p : (!c, !p) -> !c"]
    {
        assert_eq!(errors(&program("openfhe", ops)), ["undefined-value"], "{ops}");
    }
}

/// After edits of types, the diagnostics equal those from scratch.
#[test]
fn edits_of_types_equal_fresh_documents() {
    let names = ["!c", "!low", "!scaled", "!wide", "!p", "!switched"];
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let mut lines = String::from("%0 = bgv.add %x, %y : (!c, !c) -> !c\n");
        for n in 1..6 {
            let before = n - 1;
            lines += &match random.below(4) {
                0 => format!("%{n} = bgv.negate %{before} : !c\n"),
                1 => format!("%{n} = bgv.add_plain %{before}, %p : (!c, !p) -> !c\n"),
                2 => format!("%{n} = bgv.rotate_cols %{before}, %i : index : !c\n"),
                _ => format!("%{n} = bgv.sub %x, %{before} : (!c, !c) -> !c\n"),
            };
        }
        let mut text = program("lattigo", &lines);
        let mut document = Document::new(&text);
        for _ in 0..8 {
            let from = text.find("    %0 =").expect("an op");
            let places: Vec<usize> =
                text[from..].match_indices('!').map(|it| from + it.0).collect();
            let at = *random.pick(&places);
            let len = text[at + 1..].find(|it: char| !it.is_ascii_alphanumeric()).expect("an end");
            let new = random.pick(&names);
            document.edit(at..at + 1 + len, new);
            text.replace_range(at..at + 1 + len, new);
            let fresh = Document::new(&text).diagnostics();
            assert_eq!(document.diagnostics(), fresh, "{text}");
        }
    }
}

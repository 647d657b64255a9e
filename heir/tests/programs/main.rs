//! Tests on HEIR programs: their facts and diagnostics, also after edits.

mod annotations;
mod carried;
mod derivation;
mod diagnostics;
mod edits;
mod goals;
mod lowering;
mod ranges;
mod refusals;
mod types;
mod written;

use noisy_syntax::{Ir, Region, Source, Value};

use noisy_analyses::Document;
use noisy_heir::{CiphertextFacts, HeirNoise};
use noisy_integers::Integers;

/// Returns all values of a program, in textual order.
fn values(ir: &Ir) -> Vec<Value> {
    fn within(ir: &Ir, region: Region, out: &mut Vec<Value>) {
        for block in ir.blocks(region) {
            out.extend(ir.block(block).args.iter().copied());
            for op in ir.block_ops(block) {
                out.extend(ir.op(op).results.iter().copied());
                for &(_, inner) in &ir.op(op).regions {
                    within(ir, inner, out);
                }
            }
        }
    }
    let mut out = Vec::new();
    for chunk in ir.items(ir.root()) {
        for &(_, region) in &ir.op(chunk).regions {
            within(ir, region, &mut out);
        }
    }
    out
}

/// A small random number generator (xorshift) with a seed, so that runs are reproducible.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a number below `n`, which must be at least 1.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Returns the facts of each named value, as text.
fn facts_of_values(
    text: &str,
    of: &dyn Fn(&Document, &CiphertextFacts, &Ir, Value) -> Option<String>,
) -> String {
    let program = Document::new(text);
    let (ir, heir) = (program.ir(), program.heir().expect("a program of HEIR's"));
    // The header of an unknown op may name arguments of its region. Names without a use are not
    // arguments.
    let is_named = |it: &Value| ir.value(*it).ty != noisy_syntax::Type::UNKNOWN;
    let values = values(ir).into_iter().filter(is_named);
    let said = values.map(|it| {
        let what = of(&program, heir, ir, it).unwrap_or_else(|| "-".into());
        format!("{}={what}", ir.value_text(it))
    });
    said.collect::<Vec<_>>().join(" ")
}

fn levels(text: &str) -> String {
    facts_of_values(text, &|_, heir, ir, value| heir.level(ir, value).map(|it| it.to_string()))
}

fn dimensions(text: &str) -> String {
    facts_of_values(text, &|_, heir, ir, value| heir.dimension(ir, value).map(|it| it.to_string()))
}

/// A function around the body of a generic with one ciphertext `%a`.
fn generic(attributes: &str, body: &str) -> String {
    format!(
        "module attributes {{{attributes}}} {{
  func.func @f(%x: !secret.secret<i16>) -> (!secret.secret<i16>) {{
    %q = arith.constant 3 : i16
    %p = mgmt.init %q : i16
    %0 = secret.generic(%x: !secret.secret<i16>) {{
    ^body(%a: i16):
{body}
    }} -> (!secret.secret<i16>)
    return %0 : !secret.secret<i16>
  }}
}}"
    )
}

#[test]
fn follows_values_through_generics() {
    let body = "%1 = arith.muli %a, %a : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = mgmt.modreduce %2 : i16
      %4 = arith.addi %3, %p : i16
      secret.yield %4 : i16";
    let text = generic("scheme.bgv", body);
    assert_eq!(levels(&text), "%x=0 %q=1 %p=1 %0=1 %a=0 %1=0 %2=0 %3=1 %4=1");
    assert_eq!(dimensions(&text), "%x=2 %q=2 %p=2 %0=2 %a=2 %1=3 %2=2 %3=2 %4=2");
}

#[test]
fn reads_dropped_levels_of_the_custom_form() {
    let body = "%1 = mgmt.level_reduce %a {levelToDrop = 3 : i64} : i16
      %2 = mgmt.level_reduce %1 : i16
      secret.yield %2 : i16";
    assert_eq!(levels(&generic("scheme.ckks", body)), "%x=0 %q=- %p=- %0=4 %a=0 %1=3 %2=4");
    // An unreadable attribute is unknown, not the default.
    let body = "%1 = mgmt.level_reduce %a {levelToDrop = some} : i16
      secret.yield %1 : i16";
    assert_eq!(levels(&generic("scheme.ckks", body)), "%x=0 %q=- %p=- %0=- %a=0 %1=-");
}

#[test]
fn bootstraps_use_the_levels_of_the_library() {
    let body = "%1 = mgmt.bootstrap %a : i16
      secret.yield %1 : i16";
    let level = |attributes: &str| levels(&generic(attributes, body));
    assert_eq!(level("backend.lattigo, scheme.ckks"), "%x=0 %q=- %p=- %0=16 %a=0 %1=16");
    assert_eq!(level("backend.openfhe, scheme.ckks"), "%x=0 %q=- %p=- %0=22 %a=0 %1=22");
    let own = "backend.config_override = {bootstrapLevelsConsumed = 3 : i32}, backend.lattigo, scheme.ckks";
    assert_eq!(level(own), "%x=0 %q=- %p=- %0=3 %a=0 %1=3");
}

#[test]
fn the_last_level_is_the_largest_of_the_module() {
    let body = "%1 = mgmt.level_reduce %a {levelToDrop = 5 : i64} : i16
      %2 = mgmt.level_reduce_min %a : i16
      %3 = mgmt.modreduce %2 : i16
      secret.yield %2 : i16";
    // There is no level below the last one.
    assert_eq!(levels(&generic("scheme.ckks", body)), "%x=0 %q=- %p=- %0=5 %a=0 %1=5 %2=5 %3=-");
}

#[test]
fn loops_carry_the_level_of_the_initial_value() {
    let of = |inside: &str| {
        let body = format!(
            "%1 = affine.for %i = 0 to 4 iter_args(%b = %a) -> (i16) {{
        {inside}
        affine.yield %c : i16
      }}
      secret.yield %1 : i16"
        );
        levels(&generic("scheme.bgv", &body))
    };
    let same = of("%c = arith.addi %b, %b : i16");
    assert!(same.ends_with("%1=0 %i=- %b=0 %c=0"), "{same}");
    // Each iteration uses one more level: the level of the yielded value differs from that of the
    // initial value.
    let grows = of("%c = mgmt.modreduce %b : i16");
    assert!(grows.ends_with("%1=0 %i=- %b=0 %c=-"), "{grows}");
    // If the yielded value is computed with a plaintext, HEIR uses the larger of both levels, which
    // is not checked.
    let raised = of(
        "%n = mgmt.bootstrap %b : i16\n %m = mgmt.modreduce %n : i16\n %c = arith.addi %m, %p : i16",
    );
    assert!(raised.ends_with("%1=- %i=- %b=- %n=- %m=- %c=-"), "{raised}");
}

#[test]
fn plaintexts_do_not_count_in_products() {
    let body = "%1 = arith.muli %a, %p : i16
      %2 = arith.muli %1, %a : i16
      %3 = arith.muli %2, %2 : i16
      secret.yield %3 : i16";
    let text = generic("scheme.bgv", body);
    assert_eq!(dimensions(&text), "%x=2 %q=2 %p=2 %0=5 %a=2 %1=2 %2=3 %3=5");
}

#[test]
fn client_arguments_have_the_level_of_the_result() {
    let text = format!(
        "{}\nfunc.func @d(%e: !secret.secret<i16>) attributes {{client.dec_func = {{func_name = \"f\", index = 0 : i64}}}} {{ return }}",
        generic("scheme.bgv", "%1 = mgmt.modreduce %a : i16\n secret.yield %1 : i16")
    );
    assert!(levels(&text).ends_with("%e=1"), "{}", levels(&text));
}

#[test]
fn products_add_scales_and_switches_subtract() {
    let params = "scheme.ckks, ckks.schemeParam = #ckks.scheme_param<logN = 13, Q = [36028797018652673, 35184372121601], P = [1152921504606994433], logDefaultScale = 45>";
    let body = "%1 = arith.muli %a, %a : i16
      %2 = mgmt.relinearize %1 : i16
      %3 = mgmt.modreduce %2 : i16
      %4 = mgmt.adjust_scale %3 {mgmt.mgmt = #mgmt.mgmt<level = 0, scale = 50>} : i16
      secret.yield %4 : i16";
    let scales = facts_of_values(&generic(params, body), &|program, _, _, value| {
        program.scales()?.log2(value).map(|it| it.to_string())
    });
    // A plaintext is encoded at the default scale if no scale is written.
    assert_eq!(scales, "%x=45 %q=- %p=45 %0=50 %a=45 %1=90 %2=90 %3=45 %4=50");
    // The default scale with `before_mul_include_first_mul`.
    let mut model = noisy_analyses::NoiseModel::new(&noisy_analyses::ModelSpec::default())
        .expect("the built-in model");
    model.heir.before_mul_include_first_mul = true;
    let program = Document::with_model(&generic(params, "secret.yield %a : i16"), model);
    let scale = |value: Value| program.scales()?.log2(value);
    let values = values(program.ir()).into_iter();
    let known: Vec<i64> = values.filter_map(scale).collect();
    assert_eq!(known, [90, 45, 90, 90]);
}

#[test]
fn noise_equals_that_of_heir() {
    // HEIR 2026.9.1 annotates these bits for these parameters.
    let params = "scheme.bgv, bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761], plaintextModulus = 65537, encryptionTechnique = extended>";
    let text = generic(params, "secret.yield %a : i16");
    let noise = facts_of_values(&text, &|program, heir, ir, value| {
        let solved = program.heir_noise_of_all_models();
        let mut all = solved.iter().map(|it| HeirNoise::new(ir, heir, it));
        let worst = all.find(|it| it.name() == "bgv-noise-by-bound-coeff-worst-case")?;
        Some(format!("{:.2} of {:.0}", worst.bits(value)?, worst.budget(value)?))
    });
    assert_eq!(noise, "%x=27.00 of 30 %q=- %p=- %0=27.00 of 30 %a=27.00 of 30");
}

#[test]
fn noise_that_grows_in_each_iteration_is_unbounded() {
    let params = "scheme.bgv, bgv.schemeParam = #bgv.scheme_param<logN = 12, Q = [2147565569], P = [2147573761], plaintextModulus = 65537>";
    let body = "%1 = scf.while (%b = %a) : (i16) -> i16 {
        %c = other.condition : i1
        scf.condition(%c) %b : i16
      } do {
      ^bb0(%d: i16):
        %e = arith.muli %d, %d : i16
        scf.yield %e : i16
      }
      secret.yield %1 : i16";
    let noise = facts_of_values(&generic(params, body), &|program, _, _, value| {
        program.heir_noise()?.bits(value).map(|it| it.is_finite().to_string())
    });
    assert!(noise.contains("%1=false") && noise.contains("%a=true"), "{noise}");
}

#[test]
fn ignores_programs_without_heir_ops() {
    let source = Source::new("func.func @f(%x: i32) { return }");
    assert!(CiphertextFacts::new(source.ir(), &Integers::new(source.ir())).is_none());
}

#[test]
fn calls_pass_and_return_levels() {
    let text = "module attributes {scheme.bgv} {
  func.func private @outside(!secret.secret<i16>) -> !secret.secret<i16>
  func.func private @twice(%a: i16) -> i16 {
    %b = mgmt.modreduce %a : i16
    return %b : i16
  }
  func.func @f(%x: !secret.secret<i16>) -> !secret.secret<i16> {
    %0 = secret.generic(%x: !secret.secret<i16>) {
    ^body(%c: i16):
      %d = mgmt.modreduce %c : i16
      %e = func.call @twice(%d) : (i16) -> i16
      secret.yield %e : i16
    } -> (!secret.secret<i16>)
    %1 = func.call @outside(%0) : (!secret.secret<i16>) -> !secret.secret<i16>
    %2 = func.call @nowhere(%0) : (!secret.secret<i16>) -> !secret.secret<i16>
    return %1 : !secret.secret<i16>
  }
}";
    assert_eq!(levels(text), "%a=1 %b=2 %x=0 %0=2 %c=0 %d=1 %e=2 %1=2 %2=-");
    // A function that calls itself with one more level used each time has no level.
    let text = "module attributes {scheme.bgv} {
  func.func private @down(%a: i16) -> i16 {
    %b = mgmt.modreduce %a : i16
    %c = func.call @down(%b) : (i16) -> i16
    return %c : i16
  }
  func.func @f(%x: i16 {secret.secret}) -> i16 {
    %y = func.call @down(%x) : (i16) -> i16
    return %y : i16
  }
}";
    assert_eq!(levels(text), "%a=- %b=- %c=- %x=0 %y=-");
}

#[test]
fn results_of_unknown_ops_are_unknown() {
    let body = "%1 = mgmt.modreduce %a : i16
      %2 = mgmt.modreduce3 %1 : i16
      %3 = other.op %1 : i16
      %4 = arith.addi %2, %1 : i16
      %5 = tensor.cast %1 : i16
      %6 = other.op %p : i16
      secret.yield %4 : i16";
    let said = levels(&generic("scheme.bgv", body));
    assert!(said.ends_with("%0=- %a=0 %1=1 %2=- %3=- %4=- %5=1 %6=-"), "{said}");
    // A generic with too few operands is unknown too.
    let body = "%1 = mgmt.modreduce %a : i16
      secret.yield %1 : i16";
    let text = generic("scheme.bgv", body).replace("(%a: i16)", "(%a: i16, %b: i16)");
    let said = levels(&text);
    assert!(said.contains("%0=-"), "{said}");
}

#[test]
fn does_not_check_plaintexts_needed_at_several_levels() {
    let body = "%1 = mgmt.modreduce %a : i16
      %2 = arith.muli %1, %p : i16
      %3 = arith.muli %a, %p : i16
      secret.yield %2 : i16";
    let said = levels(&generic("scheme.bgv", body));
    assert!(said.ends_with("%0=- %a=0 %1=1 %2=- %3=-"), "{said}");
    // A value that depends on its own level has no level.
    let body = "%1 = arith.muli %a, %p : i16
      %2 = mgmt.modreduce %1 : i16
      %3 = arith.muli %2, %p : i16
      secret.yield %3 : i16";
    let said = levels(&generic("scheme.bgv", body));
    assert!(said.ends_with("%0=- %a=0 %1=- %2=- %3=-"), "{said}");
}

#[test]
fn does_not_check_branches_with_plaintexts_of_other_levels() {
    // `%c` is encoded for two used levels, `%q` for none.
    let of = |inside: &str| {
        let body = format!(
            "%c = arith.constant 7 : i16
      %1 = mgmt.modreduce %a : i16
      %2 = mgmt.modreduce %1 : i16
      %3 = arith.addi %2, %c : i16
      {inside}
      secret.yield %2 : i16"
        );
        let text = generic("scheme.bgv", &body).replace("<i16>) -> (", "<i16>, %b: i1) -> (");
        let said = levels(&text);
        said.split("%3=2 ").nth(1).map(str::to_owned).unwrap_or(said)
    };
    let choice = |name: &str| {
        format!(
            "%r = scf.if %b -> (i16) {{
        scf.yield %1 : i16
      }} else {{
        scf.yield {name} : i16
      }}"
        )
    };
    assert_eq!(of(&choice("%c")), "%r=-");
    assert_eq!(of(&choice("%q")), "%r=1");
    // A plaintext that only feeds plaintext ops is not encoded.
    assert_eq!(of(&format!("%d = arith.addi %c, %c : i16\n{}", choice("%d"))), "%d=1 %r=1");
    assert_eq!(of(&format!("%i = mgmt.init %c : i16\n{}", choice("%i"))), "%i=2 %r=-");
    let used = format!("{}\n%s = arith.addi %r, %1 : i16", choice("%c"));
    assert_eq!(of(&used), "%r=- %s=-");
    // The same applies to a loop that has the plaintext as initial or yielded value.
    let round = |high: &str, init: &str, yielded: &str| {
        of(&format!(
            "%r = affine.for %i = 0 to {high} iter_args(%l = {init}) -> (i16) {{
        affine.yield {yielded} : i16
      }}"
        ))
    };
    assert_eq!(round("3", "%c", "%1"), "%r=- %i=- %l=-");
    assert_eq!(round("3", "%c", "%l"), "%r=- %i=- %l=-");
    assert_eq!(round("3", "%1", "%c"), "%r=- %i=- %l=-");
}

#[test]
fn parts_of_a_split_file_are_separate_programs() {
    let body = "%1 = mgmt.bootstrap %a : i16
      %2 = mgmt.level_reduce_min %a : i16
      secret.yield %1 : i16";
    let text = format!(
        "{}\n// -----\n{}",
        generic("backend.lattigo, scheme.ckks", body),
        generic("backend.openfhe, scheme.ckks", body)
    );
    let said = levels(&text);
    assert!(said.contains("%1=16 %2=16") && said.contains("%1=22 %2=22"), "{said}");
}

#[test]
fn in_place_ops_have_the_level_of_their_target() {
    let text = "module attributes {backend.lattigo, scheme.bgv} {
  func.func @f(%e: !lattigo.bgv.evaluator, %x: !lattigo.rlwe.ciphertext, %y: !lattigo.rlwe.ciphertext) {
    %1 = lattigo.rlwe.drop_level_new %e, %y {levelToDrop = 4} : (!lattigo.bgv.evaluator, !lattigo.rlwe.ciphertext) -> !lattigo.rlwe.ciphertext
    %2 = lattigo.bgv.rescale %e, %x, %1 : (!lattigo.bgv.evaluator, !lattigo.rlwe.ciphertext, !lattigo.rlwe.ciphertext) -> !lattigo.rlwe.ciphertext
    %3 = lattigo.bgv.add %e, %x, %2, %1 : (!lattigo.bgv.evaluator, !lattigo.rlwe.ciphertext, !lattigo.rlwe.ciphertext, !lattigo.rlwe.ciphertext) -> !lattigo.rlwe.ciphertext
    return
  }
}";
    assert_eq!(levels(text), "%e=- %x=0 %y=0 %1=4 %2=1 %3=4");
}

#[test]
fn reads_dimensions_from_types() {
    let ty = |size: &str| {
        format!(
            "!lwe.lwe_ciphertext<ciphertext_space = <ring = #r, encryption_type = lsb{size}>, key = #k, modulus_chain = <elements = <3 : i64>, current = 0>>"
        )
    };
    let text = format!(
        "func.func @f(%x: {0}, %y: {1}) {{
  %1 = bgv.mul %x, %x : ({0}, {0}) -> {1}
  %2 = bgv.add %y, %1 : ({1}, {1}) -> {1}
  return
}}",
        ty(""),
        ty(", size = 3")
    );
    assert_eq!(dimensions(&text), "%x=2 %y=3 %1=3 %2=3");
}

#[test]
fn counts_levels_of_chebyshev_polynomials_like_openfhe() {
    let of = |n: usize| {
        let list = vec!["1.0"; n].join(", ");
        let body = format!(
            "%1 = kernel.eval_chebyshev %a {{coefficients = [{list}]}} : i16 -> i16\nsecret.yield %1 : i16"
        );
        levels(&generic("backend.openfhe, scheme.ckks", &body))
            .rsplit('=')
            .next()
            .map(str::to_owned)
    };
    let said: Vec<_> = [1, 2, 4, 5, 6, 12, 14, 60, 61, 300].into_iter().filter_map(of).collect();
    // The numbers of HEIR 2026.9.1.
    assert_eq!(said, ["0", "1", "3", "3", "3", "4", "4", "6", "7", "9"]);
}

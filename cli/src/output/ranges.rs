//! `--show-ranges`: prints the program with the inferred ranges as comments.

use std::collections::BTreeMap;

use noisy_analyses::Document;
use noisy_syntax::Value;

/// The text with a comment after each line that defines a value: the noise of noisy values, and the
/// range of an integer if it is narrower than the type and the value is not a constant in the text.
pub(crate) fn annotated_program(document: &Document) -> String {
    let mut out = String::new();
    let (ir, text) = (document.ir(), document.source().text());
    let mut rows: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
    ir.walk(ir.root(), &mut |op| {
        let blocks = ir.op(op).regions.iter().flat_map(|&(_, region)| ir.blocks(region));
        let arguments = blocks.flat_map(|block| ir.block(block).args.clone());
        for value in arguments.chain(ir.op(op).results.iter().copied()) {
            if let Some(known) = known_range(document, value) {
                let at = noisy_analyses::explain::value_range(ir, value).end;
                let row = text.byte_to_line(at.saturating_sub(1));
                rows.entry(row).or_default().push((ir.value_text(value), known));
            }
        }
    });
    for (row, line) in text.lines().enumerate() {
        let line = line.to_string();
        let Some(values) = rows.get(&row) else {
            out.push_str(&line);
            continue;
        };
        let content = line.trim_end_matches(['\n', '\r']);
        out.push_str(content.trim_end());
        let all: Vec<_> = match &values[..] {
            [(_, known)] => vec![known.clone()],
            _ => values.iter().map(|(name, known)| format!("{name} {known}")).collect(),
        };
        out.push_str("  // ");
        out.push_str(&all.join(", "));
        out.push_str(&line[content.len()..]);
    }
    out
}

fn known_range(document: &Document, value: Value) -> Option<String> {
    if document.is_noisy(value) {
        return Some(document.noise(value).to_string());
    }
    document.integer_in_words(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn ranges_follow_the_lines_of_their_values() {
        let text = "func.func @f(%a: !noisy.i32,\r\n  %b: i5) { // two\r\n  %0 = noisy.mul %a, %a : !noisy.i32   %1 = noisy.mul %0, %0 : !noisy.i32\r\n  \
                    %2 = noisy.add\r\n    %1, %1 : !noisy.i32\r\n  return\r\n}\r\n// -----\r\n%x = \"t.a\"() : () -> !noisy.i32";
        expect![[r#"
            func.func @f(%a: !noisy.i32,  // [0, 12]␍
              %b: i5) { // two␍
              %0 = noisy.mul %a, %a : !noisy.i32   %1 = noisy.mul %0, %0 : !noisy.i32  // %0 [0, 24], %1 [0, 48]␍
              %2 = noisy.add␍
                %1, %1 : !noisy.i32  // [0, 49]␍
              return␍
            }␍
            // -----␍
            %x = "t.a"() : () -> !noisy.i32  // unknown"#]].assert_eq(
            &annotated_program(&Document::new(text)).replace('\r', "␍"),
        );
    }

    #[test]
    fn integers_beside_noise() {
        let text = "func.func @f(%a: i32, %n: index) -> !noisy.i32 {
  %c7 = arith.constant 7 : i32
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c1 = arith.constant 1 : index
  %0 = arith.andi %a, %c7 : i32
  %1 = arith.addi %c7, %c7 : i32
  %2 = arith.addi %a, %c7 : i32
  %3 = noisy.encode %0 : i32 -> !noisy.i32  %4 = arith.muli %0, %0 : i32
  %5 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %3) -> !noisy.i32 {
    %6 = noisy.add %x, %3 : !noisy.i32
    scf.yield %6 : !noisy.i32
  }
  return %5 : !noisy.i32
}
";
        expect![[r#"
            func.func @f(%a: i32, %n: index) -> !noisy.i32 {
              %c7 = arith.constant 7 : i32
              %c0 = arith.constant 0 : index
              %c4 = arith.constant 4 : index
              %c1 = arith.constant 1 : index
              %0 = arith.andi %a, %c7 : i32  // in [0, 7]
              %1 = arith.addi %c7, %c7 : i32  // = 14
              %2 = arith.addi %a, %c7 : i32
              %3 = noisy.encode %0 : i32 -> !noisy.i32  %4 = arith.muli %0, %0 : i32  // %3 [0, 12], %4 in [0, 49]
              %5 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %3) -> !noisy.i32 {  // %i in [0, 3], %x [0, 15], %5 [0, 16]
                %6 = noisy.add %x, %3 : !noisy.i32  // [0, 16]
                scf.yield %6 : !noisy.i32
              }
              return %5 : !noisy.i32
            }
        "#]].assert_eq(&annotated_program(&Document::new(text)));
    }
}

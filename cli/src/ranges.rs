//! `--show-ranges`: the program with what was inferred behind it.

use std::collections::BTreeMap;

use noisy_analyses::{Document, Noise};

/// The text with the noise of every value that carries any as a comment at the end of the line that defines it.
pub(crate) fn annotated(document: &Document) -> String {
    let mut out = String::new();
    let (ir, text) = (document.ir(), document.source().text());
    let mut rows: BTreeMap<usize, Vec<(String, Noise)>> = BTreeMap::new();
    ir.walk(ir.root(), &mut |op| {
        let blocks = ir.op(op).regions.iter().flat_map(|&(_, region)| ir.blocks(region));
        let arguments = blocks.flat_map(|block| ir.block(block).args.clone());
        for value in arguments.chain(ir.op(op).results.iter().copied()) {
            if document.is_noisy(value) {
                let at = noisy_analyses::derivation::value_range(ir, value).end;
                let row = text.byte_to_line(at.saturating_sub(1));
                rows.entry(row).or_default().push((ir.value_text(value), *document.noise(value)));
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
            [(_, noise)] => vec![noise.to_string()],
            _ => values.iter().map(|(name, noise)| format!("{name} {noise}")).collect(),
        };
        out.push_str("  // ");
        out.push_str(&all.join(", "));
        out.push_str(&line[content.len()..]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn every_value_behind_its_line() {
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
            &annotated(&Document::new(text)).replace('\r', "␍"),
        );
    }
}

//! Removal of the branches that are never taken.
//!
//! *Law.* The text of the region that runs is kept, with comments, except for its indentation; the
//! other regions are removed. *Cost.* Linear in the op, its regions, and the uses of its results.

use noisy_syntax::{Op, OpKind, Region, Traits};

use super::removal::{removal_fix, replace_uses, rewrite_op_text};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};

/// Replaces a branch, or an op that selects a region, by its only possible successor or region.
/// `None` if several are possible, or the edit is impossible. The caller must verify the fix.
pub(in crate::checks) fn keep_taken_branch(program: &Program, op: Op) -> Option<Fix> {
    let ir = program.ir();
    let data = ir.op(op);
    let n_ways = match data.kind {
        OpKind::CfCondBr | OpKind::CfSwitch => ir.extra(op).successors.len(),
        OpKind::ScfIf => 2,
        OpKind::ScfIndexSwitch => data.regions.len(),
        _ => return None,
    };
    let mut ways = (0..n_ways).filter(|&it| program.integers().may_take(ir, op, it));
    let (Some(way), None) = (ways.next(), ways.next()) else { return None };
    let (title, edits) = if matches!(data.kind, OpKind::CfCondBr | OpKind::CfSwitch) {
        branch(program, op, way)?
    } else if let Some(&(_, region)) = data.regions.get(way) {
        ("Keep only the region that runs".to_owned(), inlined(program, op, region)?)
    } else {
        let removed = removal_fix(program, op, "Remove this op: its region never runs", None)?;
        (removed.title, removed.edits)
    };
    Some(Fix { title, applicability: Applicability::Unsafe, edits })
}

/// Returns the title and the edits that replace a branch by `cf.br` to one successor.
fn branch(program: &Program, op: Op, way: usize) -> Option<(String, Vec<TextEdit>)> {
    let ir = program.ir();
    let successor = &ir.extra(op).successors[way];
    let to = program.source().span_text(op, successor.span);
    let mut text = format!("cf.br {to}");
    let passed =
        &ir.op(op).operands[successor.operands.start as usize..successor.operands.end as usize];
    if !passed.is_empty() {
        let names: Vec<String> =
            passed.iter().map(|it| program.source().span_text(op, it.span)).collect();
        let types: Option<Vec<String>> = passed
            .iter()
            .map(|it| ir.interner.insertable_type_text(ir.value(it.value?).ty))
            .collect();
        text += &format!("({} : {})", names.join(", "), types?.join(", "));
    }
    Some((format!("Always branch to {to}"), vec![rewrite_op_text(program, op, &text)?]))
}

/// Replaces an op by the ops of one of its regions, and the uses of its results by the yielded
/// values.
fn inlined(program: &Program, op: Op, region: Region) -> Option<Vec<TextEdit>> {
    let (ir, source) = (program.ir(), program.source());
    ir.only_block(region)?;
    let ops: Vec<Op> = ir.items(region).collect();
    let last = ops.last().copied().filter(|&it| ir.op(it).kind.has(Traits::TERMINATOR));
    let yielded: Option<Vec<String>> = (0..ir.op(op).results.len())
        .map(|at| Some(source.span_text(last?, ir.op(last?).operands.get(at)?.span)))
        .collect();
    let yielded = yielded?;
    let mut edits = replace_uses(program, op, &|at| Some(&yielded[at]))?;
    let start = ir.region_start(region);
    let mut body = source.slice(start..start + ir.region_len(region));
    if let Some(last) = last {
        let range = ir.range(last);
        body.replace_range(range.start - start..range.end - start, "");
    }
    let first = ops.iter().find(|it| Some(**it) != last);
    let indent = |of: Op| source.indentation(ir.range(of).start);
    let (old, new) = (first.map_or(String::new(), |&it| indent(it)), indent(op));
    let lines = body.lines().filter(|it| !it.trim().is_empty());
    let lines: Vec<&str> = lines
        .map(|it| it.strip_prefix(old.as_str()).unwrap_or(it.trim_start()).trim_end())
        .collect();
    if lines.is_empty() && ir.op(op).results.is_empty() {
        return Some(removal_fix(program, op, "", None)?.edits);
    }
    let text = lines.join(&format!("\n{new}"));
    edits.push(source.keep_code_after(TextEdit { range: ir.range(op), text }));
    TextEdit::in_order(edits)
}

#[cfg(test)]
mod tests {
    use crate::{Document, TextEdit};

    /// Applies the fixes of constant conditions until none is left.
    fn fixed(text: &str) -> String {
        let mut text = text.to_owned();
        loop {
            let document = Document::new(&text);
            let mut found = document.diagnostics();
            found.retain(|it| it.code == "constant-condition");
            assert_eq!(document.fix_all(&found, false), (Vec::new(), 0), "they need a look");
            let (edits, _) = document.fix_all(&found, true);
            if edits.is_empty() {
                return text;
            }
            text = TextEdit::apply_all(&edits, &text);
        }
    }

    #[test]
    fn the_taken_branch_is_kept_with_its_comments() {
        let text = "func.func @f(%a: i8, %m: memref<i8>) -> i8 {
  %c15 = arith.constant 15 : i8
  %c16 = arith.constant 16 : i8
  %0 = arith.andi %a, %c15 : i8
  %yes = arith.cmpi ult, %0, %c16 : i8
  %no = arith.cmpi uge, %0, %c16 : i8
  // The choice.
  %r = scf.if %yes -> (i8) { // if
    // Inside.
    %1 = arith.addi %0, %a : i8 // one
    scf.if %no {
      memref.store %1, %m[] : memref<i8>
    }
    scf.yield %1 : i8
  } else {
    scf.yield %a : i8 // never
  } // end
  scf.if %no {
    memref.store %a, %m[] : memref<i8>
  } else {
    memref.store %r, %m[] : memref<i8>
  }
  cf.cond_br %no, ^bb1(%a : i8), ^bb2(%0, %r : i8, i8) // the branch
^bb1(%x: i8):
  return %x : i8
^bb2(%y: i8, %z: i8):
  return %z : i8
}
";
        expect_test::expect![[r#"
            func.func @f(%a: i8, %m: memref<i8>) -> i8 {
              %c15 = arith.constant 15 : i8
              %c16 = arith.constant 16 : i8
              %0 = arith.andi %a, %c15 : i8
              %yes = arith.cmpi ult, %0, %c16 : i8
              %no = arith.cmpi uge, %0, %c16 : i8
              // The choice.
              // if
              // Inside.
              %1 = arith.addi %0, %a : i8 // one
              // end
              memref.store %1, %m[] : memref<i8>
              cf.br ^bb2(%0, %1 : i8, i8) // the branch
            ^bb1(%x: i8):
              return %x : i8
            ^bb2(%y: i8, %z: i8):
              return %z : i8
            }
        "#]]
        .assert_eq(&fixed(text));
    }

    #[test]
    fn the_op_after_a_comment_of_the_taken_branch_is_kept() {
        let text = |choice: &str| {
            format!(
                "func.func @f(%a: i8, %m: memref<i8>) {{
  %c15 = arith.constant 15 : i8
  %c16 = arith.constant 16 : i8
  %0 = arith.andi %a, %c15 : i8
  %yes = arith.cmpi ult, %0, %c16 : i8
{choice}
  return
}}
"
            )
        };
        let (one, two) =
            ("memref.store %a, %m[] : memref<i8>", "memref.store %c15, %m[] : memref<i8>");
        for (body, kept) in [
            (format!("{one} // c"), format!("{one} // c\n  {two}")),
            (format!("{one}\n    scf.yield // x"), format!("{one}\n   // x\n  {two}")),
            (one.to_owned(), format!("{one} {two}")),
        ] {
            let found = fixed(&text(&format!("  scf.if %yes {{\n    {body}\n  }} {two}")));
            assert_eq!(found, text(&format!("  {kept}")), "{body}");
        }
    }
}

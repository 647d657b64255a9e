//! Renames all values of a function in the manner of `mlir-opt`: arguments to `%arg0`, `%arg1`, ..., results to `%0`, `%1`,
//! ..., in textual order.
//!
//! *Law.* The program stays the same: the new names are different throughout the function, so none hides another. A function
//! with an error other
//! than too much noise is left alone, for a name in it may not be what it seems.

use noisy_analyses::{Category, Diagnostic, Document, Severity, TextEdit};
use noisy_syntax::{Def, Op, OpKind, Value};

use super::cursor::{self, Entity};
use super::{reference, rename};

/// Functions with more values are not renamed, so that the user does not wait.
const MAX: usize = 20_000;

/// Whether the values of a function can be renamed.
pub(crate) fn is_possible(document: &Document, function: Op, diagnostics: &[Diagnostic]) -> bool {
    let range = document.ir().range(function);
    let is_wrong = |it: &Diagnostic| {
        it.severity == Severity::Error
            && it.category != Category::Noise
            && range.start <= it.range.end
            && it.range.start <= range.end
    };
    !diagnostics.iter().any(is_wrong)
}

/// The edits; nothing if they are too many.
pub(crate) fn rename_all(document: &Document, function: Op) -> Option<Vec<TextEdit>> {
    let ir = document.ir();
    let source = document.source();
    let mut ops = vec![function];
    let mut at = 0;
    // Labels are items, too; they define the arguments of their blocks.
    while let Some(&op) = ops.get(at) {
        let regions = ir.op(op).regions.iter();
        ops.extend(regions.flat_map(|&(_, region)| ir.items(region)));
        at += 1;
    }
    // The values that have a name of their own: of a pack the first.
    let mut named: Vec<Value> = Vec::new();
    for &op in &ops {
        let data = ir.op(op);
        if data.kind != OpKind::Label {
            let mut first = 0;
            for name in &data.result_names {
                named.extend(data.results.get(first));
                first += name.count as usize;
            }
        }
        named.extend(cursor::arguments_in(ir, op));
        if named.len() > MAX {
            return None;
        }
    }
    named.retain(|&it| cursor::definition(ir, it).is_some());
    named.sort_by_key(|&it| cursor::definition(ir, it).map(|it| it.start));
    named.dedup();
    let (mut n_arguments, mut n_results) = (0, 0);
    let mut edits = Vec::new();
    for value in named {
        let name = match ir.value(value).def {
            Def::Argument(..) => {
                n_arguments += 1;
                format!("%arg{}", n_arguments - 1)
            }
            Def::Result(..) => {
                n_results += 1;
                format!("%{}", n_results - 1)
            }
        };
        for it in reference::named(ir, Entity::Value(value), usize::MAX)? {
            let range = rename::name_in(source, Entity::Value(value), it.range);
            if source.slice(range.clone()) != name {
                edits.push(TextEdit { range, text: name.clone() });
            }
        }
    }
    edits.sort_by_key(|it| it.range.start);
    Some(edits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(text: &str) -> Option<String> {
        let document = Document::new(text);
        let function = document.ir().functions()[0];
        if !is_possible(&document, function, &document.diagnostics()) {
            return None;
        }
        let mut out = text.to_owned();
        for edit in rename_all(&document, function)?.into_iter().rev() {
            out.replace_range(edit.range, &edit.text);
        }
        Some(out)
    }

    #[test]
    fn all_names_become_numbers() {
        let text = "func.func @f(%n: index, %3: i32, %c: i1) -> i32 {
  %zero = arith.constant 0 : index
  %0 = arith.constant 1 : index
  %pair:2 = scf.for %i = %zero to %n step %0 iter_args(%x = %3, %y = %3) -> (i32, i32) {
    %1 = arith.addi %x, %y : i32
    scf.yield %1, %pair_of : i32, i32
  }
  cf.cond_br %c, ^bb1(%pair#1 : i32), ^bb1(%pair#0 : i32)
^bb1(%r: i32):
  return %r : i32
}
";
        assert_eq!(renamed(text), None, "an undefined name");
        let wanted = "func.func @f(%arg0: index, %arg1: i32, %arg2: i1) -> i32 {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %2:2 = scf.for %arg3 = %0 to %arg0 step %1 iter_args(%arg4 = %arg1, %arg5 = %arg1) -> (i32, i32) {
    %3 = arith.addi %arg4, %arg5 : i32
    scf.yield %3, %arg5 : i32, i32
  }
  cf.cond_br %arg2, ^bb1(%2#1 : i32), ^bb1(%2#0 : i32)
^bb1(%arg6: i32):
  return %arg6 : i32
}
";
        let found = renamed(&text.replace("%pair_of", "%y"));
        assert_eq!(found.as_deref(), Some(wanted));
        assert_eq!(renamed(wanted).as_deref(), Some(wanted), "twice is once");
    }

    #[test]
    fn the_generic_print_but_for_names_stays() {
        use noisy_syntax::{Source, print};
        let text = "func.func @f(%a: !noisy.i32) -> !noisy.i32 {
  %1 = noisy.add %a, %a : !noisy.i32
  %0 = noisy.mul %1, %a : !noisy.i32
  \"t.x\"(%0) ({
  ^bb0(%q: i32):
    \"t.y\"(%q) : (i32) -> ()
  }) : (!noisy.i32) -> ()
  return %0 : !noisy.i32
}
";
        let print = |text: &str| print::generic(Source::new(text).ir());
        let found = renamed(text).expect("no error");
        assert_eq!(print(&found), print(text));
        assert!(found.contains("%0 = noisy.add %arg0, %arg0"), "{found}");
    }
}

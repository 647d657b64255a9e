//! Lists the reported problems of a document.
//!
//! Each mistake is reported once. Names that a broken op may define are not errors. Problems of the
//! structure of a function are hidden while its syntax or its names have problems, because MLIR
//! verifies only programs that it could parse.

use std::ops::Range;

use rustc_hash::FxHashSet;

use super::Source;
use crate::lex::lex_part;
use crate::verify::END_OF_REGION;
use crate::{Category, Code, Form, Ir, Op, OpKind, Problem, Region, TokenKind, Traits};

/// Maximum number of bytes of a broken op that are searched for names that it may define.
const MAX_SEARCHED_BYTES: usize = 1 << 16;

type PlacedProblem = (Op, Range<usize>, Problem);

impl Source {
    /// All problems of the text in textual order: the op, the range in bytes, and the problem.
    pub fn problems(&self) -> Vec<PlacedProblem> {
        let ir = &self.ir;
        // Sorted by id, which is mostly textual order: neighbors share most of the path through the
        // tree, so it stays in the cache.
        let mut suspects: Vec<Op> = ir.suspects().collect();
        suspects.sort_unstable();
        let mentioned = self.names_in_broken_ops(&suspects);
        let mut out = Vec::with_capacity(suspects.len());
        for op in suspects {
            let start = ir.start(op);
            for problem in ir.problems_of(op) {
                let range = ir.absolute_at(op, start, problem.span);
                let is_hidden = match problem.code {
                    Code::UndefinedValue | Code::UndefinedBlock => {
                        self.may_be_defined(op, &range, &mentioned)
                    }
                    // An alias in a location may be defined anywhere, even in broken text.
                    Code::UndefinedAlias => {
                        let uses = &ir.extra(op).alias_uses;
                        let mut here = uses.iter().filter(|it| it.span == problem.span);
                        !mentioned.is_empty() && here.any(|it| it.is_location)
                    }
                    _ => false,
                };
                if is_hidden {
                    continue;
                }
                out.push((op, range, problem));
            }
        }
        for (op, problem) in ir.redefinitions() {
            out.push((op, ir.absolute(op, problem.span), problem));
        }
        let judged = || self.verdicts.iter().filter(|it| ir.has_known_names(it.0));
        let place = |op: Op, problems: &[Problem], out: &mut Vec<PlacedProblem>| {
            for problem in problems {
                // An empty block is reported at the op that contains it; values that a region
                // yields, at the end of the region.
                let is_label = ir.op(op).kind == OpKind::Label;
                let other = match problem.code {
                    Code::EmptyBlock if is_label => ir.parent_op(op),
                    Code::RegionValues => terminator_in_message(ir, op, problem),
                    Code::MissingTerminator if ir.is_secret_generic(op) => last_item(ir, op),
                    _ => None,
                };
                let (op, span) = match other {
                    Some(other) => (other, ir.op(other).name_span),
                    None => (op, problem.span),
                };
                let range = match other {
                    None if ir.is_secret_generic(op) => self.range_in_generic(op, problem),
                    None => closing_brace_in_message(ir, op, problem),
                    Some(_) => None,
                };
                let range = range.unwrap_or_else(|| ir.absolute(op, span));
                out.push((op, range, Problem { span, ..problem.clone() }));
            }
        };
        for (op, verdict) in judged() {
            place(op, &verdict.local, &mut out);
        }
        let broken = BrokenScopes::of(ir, &out);
        for (op, verdict) in judged().filter(|it| !broken.is_op_affected(ir, it.0)) {
            place(op, &verdict.contextual, &mut out);
        }
        out.retain(|(op, range, problem)| {
            // The message of `memref.get_global` does not distinguish an undefined symbol from one
            // that is not a global.
            let is_unknown = problem.code == Code::UnknownFunction
                || problem.code == Code::AttributeValue
                    && ir.op(*op).kind == OpKind::MemrefGetGlobal;
            !is_unknown || !self.may_be_defined(*op, range, &mentioned)
        });
        let out = self.sorted_without_duplicates(out);
        self.locate_brace_problems(out)
    }

    /// Sorts problems in textual order and removes duplicates. Of equal problems at the same
    /// position (such as two regions that are unclosed at the end of the text), that of the
    /// outermost op remains. Of several uses of an undefined name, the first one in the function
    /// remains.
    fn sorted_without_duplicates(&self, mut problems: Vec<PlacedProblem>) -> Vec<PlacedProblem> {
        let ir = &self.ir;
        let key = |it: &PlacedProblem| (it.1.start, it.1.end, it.2.category(), it.2.code.name());
        let in_order = |a: &PlacedProblem, b: &PlacedProblem| {
            let text = || a.2.message.cmp(&b.2.message);
            key(a).cmp(&key(b)).then_with(text).then_with(|| ir.start(a.0).cmp(&ir.start(b.0)))
        };
        if !problems.is_sorted_by(|a, b| in_order(a, b).is_le()) {
            problems.sort_by(in_order);
        }
        problems.dedup_by(|b, a| key(a) == key(b) && a.2.message == b.2.message);
        // An undefined label may be the intended name of a redefined one.
        let twins = problems.iter().filter(|it| it.2.code == Code::RedefinedBlock);
        let with_twins: FxHashSet<Region> = twins.map(|it| ir.op(it.0).parent).collect();
        let mut seen: FxHashSet<(Region, String)> = FxHashSet::default();
        problems.retain(|(op, _, problem)| {
            let region = ir.op(*op).parent;
            match problem.code {
                Code::UndefinedValue => {
                    seen.insert((isolated_scope(ir, *op), problem.message.clone()))
                }
                Code::UndefinedBlock => {
                    !with_twins.contains(&region) && seen.insert((region, problem.message.clone()))
                }
                _ => true,
            }
        });
        problems
    }

    /// The range of a problem with the result types of `secret.generic`.
    fn range_in_generic(&self, op: Op, problem: &Problem) -> Option<Range<usize>> {
        if problem.code != Code::ResultType {
            return None;
        }
        let ir = &self.ir;
        let region = ir.op(op).regions.first()?.1;
        let end = ir.region_start(region) + ir.region_len(region);
        let range = ir.range(op);
        let text = self.slice(end.min(range.end)..range.end);
        let types = text.split_once("->")?.1;
        let start = range.end - types.trim_start().len();
        Some(start..start + types.trim().len())
    }

    /// Returns true if broken syntax may hide the definition of a name: a broken item contains the
    /// name, an enclosing region is unclosed, or the name is defined in another region, possibly
    /// because of a wrong bracket.
    fn may_be_defined(&self, op: Op, name: &Range<usize>, broken: &FxHashSet<String>) -> bool {
        if broken.is_empty() {
            return false;
        }
        let text = self.slice(name.clone());
        if broken.contains(&text) || self.ir.is_defined_anywhere(&text) {
            return true;
        }
        let mut region = self.ir.op(op).parent;
        loop {
            let data = self.ir.region(region);
            match data.parent {
                Some(parent) if data.is_closed => region = self.ir.op(parent).parent,
                _ => return !data.is_closed,
            }
        }
    }

    /// The `%value`s, `^label`s and `@symbol`s in the text of the items with a syntax problem, and
    /// the op names of these items.
    fn names_in_broken_ops(&self, suspects: &[Op]) -> FxHashSet<String> {
        let ir = &self.ir;
        let mut out = FxHashSet::default();
        let is_broken = |&op: &Op| {
            let syntax = |it: &Problem| it.category() == Category::Syntax;
            ir.op(op).form == Form::Broken || ir.extra(op).problems.iter().any(syntax)
        };
        for op in suspects.iter().copied().filter(is_broken) {
            let head = ir.head_range(op);
            let mut end = head.end;
            if head.len() > MAX_SEARCHED_BYTES {
                // Aligned to a character.
                let at = self.text().byte_to_char(head.start + MAX_SEARCHED_BYTES);
                end = self.text().char_to_byte(at);
            }
            let text = self.slice(head.start..end);
            if !out.contains(ir.op_name(op)) {
                out.insert(ir.op_name(op).to_owned());
            }
            if !text.contains(['%', '^', '@']) {
                continue;
            }
            for token in lex_part(&text, false).tokens {
                if matches!(token.kind, TokenKind::Percent | TokenKind::Caret | TokenKind::At) {
                    out.insert(text[token.range()].to_owned());
                }
            }
        }
        out
    }
}

/// The functions and modules with a problem because of which MLIR would not verify them.
struct BrokenScopes {
    scopes: FxHashSet<Region>,
    /// Ops that contain such a problem at any depth.
    around: FxHashSet<Op>,
}

impl BrokenScopes {
    fn of(ir: &Ir, problems: &[PlacedProblem]) -> Self {
        let mut out = Self { scopes: FxHashSet::default(), around: FxHashSet::default() };
        for (op, ..) in problems.iter().filter(|it| it.2.category() != Category::Structure) {
            out.scopes.insert(isolated_scope(ir, *op));
            let mut at = ir.parent_op(*op);
            while let Some(it) = at.filter(|&it| out.around.insert(it)) {
                at = ir.parent_op(it);
            }
        }
        out
    }

    /// Returns true if the op contains such a problem, or an enclosing function or module has one.
    fn is_op_affected(&self, ir: &Ir, op: Op) -> bool {
        if self.scopes.is_empty() || self.around.contains(&op) {
            return !self.scopes.is_empty();
        }
        let mut region = ir.op(op).parent;
        loop {
            if self.scopes.contains(&region) {
                return true;
            }
            let Some(parent) = ir.region(region).parent else { return false };
            region = ir.op(parent).parent;
        }
    }
}

/// The last item of the first region of an op.
fn last_item(ir: &Ir, op: Op) -> Option<Op> {
    ir.items(ir.op(op).regions.first()?.1).last()
}

/// The region whose end a problem is about.
fn region_in_message(ir: &Ir, op: Op, problem: &Problem) -> Option<Region> {
    let rest = problem.message.strip_prefix(END_OF_REGION)?;
    let number: usize = rest.split(' ').next()?.parse().ok()?;
    Some(ir.op(op).regions.get(number)?.1)
}

/// The explicit terminator of the region whose end a problem is about.
fn terminator_in_message(ir: &Ir, op: Op, problem: &Problem) -> Option<Op> {
    let last = ir.items(region_in_message(ir, op, problem)?).last()?;
    ir.op(last).kind.has(Traits::TERMINATOR).then_some(last)
}

/// The closing brace of the region whose end a problem is about.
fn closing_brace_in_message(ir: &Ir, op: Op, problem: &Problem) -> Option<Range<usize>> {
    let region = region_in_message(ir, op, problem).filter(|&it| ir.region(it).is_closed)?;
    let end = ir.region_start(region) + ir.region_len(region);
    Some(end..end + 1)
}

/// The region of the innermost isolated op around an op: the body of its function.
fn isolated_scope(ir: &Ir, op: Op) -> Region {
    let mut region = ir.op(op).parent;
    loop {
        match ir.region(region).parent {
            Some(parent) if !ir.op(parent).kind.has(Traits::ISOLATED) => {
                let around = ir.op(parent).parent;
                if around == ir.root() {
                    return region;
                }
                region = around;
            }
            _ => return region,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use expect_test::{Expect, expect};

    use crate::Source;

    fn check(text: &str, expected: &Expect) {
        let mut out = String::new();
        for (_, range, problem) in Source::new(text).problems() {
            let row = text[..range.start].matches('\n').count() + 1;
            let _ = writeln!(out, "{row} {}: {}", &text[range], problem.message);
        }
        expected.assert_eq(&out);
    }

    #[test]
    fn reports_undefined_names_once_per_function() {
        check(
            "func.func @f() {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %0 : i32
  cf.cond_br %c, ^bb1, ^bb1
}
func.func @g() -> i32 {
  return %x : i32
}",
            &expect![[r#"
                2 %x: use of undefined value %x
                4 %c: use of undefined value %c
                4 ^bb1: use of undefined block ^bb1
                7 %x: use of undefined value %x
            "#]],
        );
    }

    #[test]
    fn a_missing_label_may_be_one_of_two_of_one_name() {
        check(
            "func.func @f() {
  cf.br ^bb1
^bb2:
  return
^bb2:
  return
}",
            &expect![[r#"
                5 ^bb2: redefinition of block ^bb2
            "#]],
        );
    }

    #[test]
    fn locations_may_be_defined_anywhere_other_aliases_must_be_known() {
        check(
            "func.func @f(%a: !x, %b: !llvm.bar<!y, \"!z\">) {
  return loc(#late)
} loc(#never)
#late = loc(unknown)",
            &expect![[r#"
                1 !x: use of undefined alias !x
                1 !y: use of undefined alias !y
                3 #never: use of undefined alias #never
            "#]],
        );
    }

    #[test]
    fn rejects_misplaced_labels_and_aliases() {
        check(
            "^bb0:
func.func @f(%a: i32) {
^bb0:
  #x = 1 : i32
  return
}",
            &expect![[r#"
                1 ^bb0: expected an operation here
                3 ^bb0: invalid block name in region with named arguments
                4 #x: expected an operation here
            "#]],
        );
    }

    #[test]
    fn inside_unknown_ops_names_may_have_any_dialect() {
        check(
            "foo.op {
  bar : 5
  baz {
    return
  }
  scf.if %c {
    bar
  }
}",
            &expect![[r#"
                7 bar: custom op 'bar' is unknown
            "#]],
        );
    }

    #[test]
    fn hides_structure_problems_of_broken_functions() {
        let text = "func.func @f(%c: i1) -> i32 {
  %0 = arith.addi %1, %1 : i32
  %1 = arith.constant 1 : i32
  return %c : i1
}
func.func @g() {
  %0 = arith.addi %1, %1 : i32
  %1 = arith.constant 1 : i32
  return
}
";
        check(
            text,
            &expect![[r#"
                2 %1: operand %1 does not dominate this use
                4 %c: operand #0 has type 'i1', but the function returns 'i32'
                7 %1: operand %1 does not dominate this use
            "#]],
        );
        check(
            &text.replacen("constant 1 : i32", "constant", 1),
            &expect![[r#"
                3 : expected an attribute value
                7 %1: operand %1 does not dominate this use
            "#]],
        );
    }
}

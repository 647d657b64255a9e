//! Prints a program op by op, each without the contents of its regions, with names that remain the
//! same while the program changes.
//!
//! *Law.* The text of an op depends only on the op, its operands, the shape of its regions, and the
//! names that are taken around it. *Cost.* In proportion to the op's own text.

use rustc_hash::{FxHashMap, FxHashSet};

use super::number::{ValueNumbering, suggested_names};
use super::printer::{OmittedRegion, Printer, REGION_PLACEHOLDER};
use super::{PrintedNames, Style};
use crate::{Block, Def, Ir, Name, Op, OpKind, Region, Traits, Value};

/// Prints ops one by one. Values and blocks keep their first name: that in the text, or a new one.
#[derive(Debug, Default)]
pub struct StableOpPrinter {
    numbers: ValueNumbering,
    names: PrintedNames,
    /// Names without `%` that are taken, each with the isolated op in which it is visible.
    taken: FxHashSet<(Op, String)>,
    /// The next number to append to a name that is taken.
    next: FxHashMap<(Op, String), usize>,
    /// Labels that are taken, with their regions.
    labels: FxHashSet<(Region, String)>,
}

/// An op without the contents of its regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpText {
    /// The text before, between and after the regions, with braces and without indentation: one
    /// piece more than regions.
    pub pieces: Vec<String>,
    /// The regions, in the order of printing.
    pub regions: Vec<OmittedRegion>,
}

impl StableOpPrinter {
    /// Prints an op without the contents of its regions.
    pub fn op(&mut self, ir: &Ir, op: Op) -> OpText {
        self.numbers.number_ops(ir, &[], &|_| Vec::new());
        let data = ir.op(op);
        for operand in &data.operands {
            if let Some(value) = operand.value {
                self.name_definition(ir, value, false);
            }
        }
        if let Some(&first) = data.results.first() {
            self.name_definition(ir, first, true);
        }
        for successor in &ir.extra(op).successors {
            if let Some(block) = successor.block {
                self.name_block(ir, block);
            }
        }
        for &(_, region) in &data.regions {
            for block in ir.blocks(region) {
                self.name_block(ir, block);
            }
        }
        let n_regions = data.regions.iter().map(|it| ir.block(ir.entry_block(it.1)).args.len());
        let n = data.operands.len() + data.results.len() + n_regions.sum::<usize>();
        let mut printer = line_printer(ir, n);
        printer.omitted_regions = Some(Vec::new());
        std::mem::swap(&mut printer.numbers, &mut self.numbers);
        printer.op(op);
        std::mem::swap(&mut printer.numbers, &mut self.numbers);
        let regions = printer.omitted_regions.take().unwrap_or_default();
        let text = printer.finish();
        OpText {
            pieces: text.trim_end().split(REGION_PLACEHOLDER).map(str::to_owned).collect(),
            regions,
        }
    }

    /// Returns the label of a block with its arguments.
    pub fn label(&mut self, ir: &Ir, block: Block) -> String {
        self.numbers.number_ops(ir, &[], &|_| Vec::new());
        self.name_block(ir, block);
        let mut printer = line_printer(ir, ir.block(block).args.len());
        std::mem::swap(&mut printer.numbers, &mut self.numbers);
        printer.label(block);
        std::mem::swap(&mut printer.numbers, &mut self.numbers);
        printer.finish().trim().to_owned()
    }

    /// Returns the name of a value that was printed, with `%`.
    pub fn value(&self, value: Value) -> Option<&str> {
        self.names.values.get(&value).map(String::as_str)
    }

    /// Names the results of an op or the arguments of a block if they have no name yet. If `again`
    /// is true, also renames results with a name that now is that of another isolated op.
    fn name_definition(&mut self, ir: &Ir, value: Value, again: bool) {
        if !again && self.names.values.contains_key(&value) {
            return;
        }
        match ir.value(value).def {
            Def::Result(op, _) => self.name_results(ir, op),
            Def::Argument(block, _) => self.name_block(ir, block),
        }
    }

    fn name_results(&mut self, ir: &Ir, op: Op) {
        let home = isolated_ancestor(ir, op);
        let results = &ir.op(op).results;
        if results.iter().all(|&it| self.is_named(home, it)) {
            // A replaced op may have passed its results on, and ids of removed ops are reused.
            self.numbers.assign_result_list(op, results, &self.names);
            return;
        }
        let old: Vec<Option<String>> = results.iter().map(|&it| name_in_text(ir, it)).collect();
        let mut made: Option<(String, String)> = None;
        for (n, &value) in results.iter().enumerate() {
            let name = match &old[n] {
                // Several results with one name get one new name.
                Some(name) => match &made {
                    Some((before, new)) if before == stem(name) => {
                        format!("%{new}#{}", name.rsplit('#').next().unwrap_or_default())
                    }
                    _ => {
                        let new = self.fresh_name(home, stem(name));
                        made = Some((stem(name).to_owned(), new.clone()));
                        let number = name.split_once('#').map(|it| it.1);
                        format!("%{new}{}", number.map(|it| format!("#{it}")).unwrap_or_default())
                    }
                },
                None => {
                    if made.is_none() {
                        let proposed = match &suggested_names(ir, op)[..] {
                            [(Some(name), 1)] => name.clone(),
                            _ => String::new(),
                        };
                        made = Some((String::new(), self.fresh_name(home, &proposed)));
                    }
                    let new = made.as_ref().map_or("", |it| it.1.as_str());
                    if results.len() == 1 { format!("%{new}") } else { format!("%{new}#{n}") }
                }
            };
            self.names.values.insert(value, name);
            self.numbers.assign_value_name(value, &self.names);
        }
        self.numbers.assign_result_list(op, results, &self.names);
    }

    fn name_block(&mut self, ir: &Ir, block: Block) {
        let region = ir.block(block).region;
        let home = ir
            .region(region)
            .parent
            .map_or(Op::from_index(0), |it| isolated_ancestor_or_self(ir, it));
        for &value in &ir.block(block).args {
            if !self.is_named(home, value) {
                let old = name_in_text(ir, value).unwrap_or_else(|| "arg".to_owned());
                let new = self.fresh_name(home, stem(&old));
                self.names.values.insert(value, format!("%{new}"));
                self.numbers.assign_value_name(value, &self.names);
            }
        }
        if !self.names.blocks.contains_key(&block) {
            let old = ir.block(block).label.map(|it| ir.interner.str(ir.op(it).name).to_owned());
            let mut name = old.filter(|it| !it.is_empty()).unwrap_or_else(|| "bb0".to_owned());
            let mut n = 0;
            while !self.labels.insert((region, name.clone())) {
                name = format!("bb{n}");
                n += 1;
            }
            self.names.blocks.insert(block, name);
            self.numbers.assign_block_name(Some(block), &self.names);
        }
    }

    /// Returns true if a value has a name in an isolated op.
    fn is_named(&self, home: Op, value: Value) -> bool {
        let name = self.names.values.get(&value);
        name.is_some_and(|it| self.taken.contains(&(home, stem(it).to_owned())))
    }

    /// Returns a name that is free in an isolated op: `wanted`, or with a number appended.
    fn fresh_name(&mut self, home: Op, wanted: &str) -> String {
        let mut name = wanted.to_owned();
        // A numbered or unnamed value gets the next number.
        let is_number = wanted.bytes().all(|it| it.is_ascii_digit());
        let base = match wanted {
            _ if is_number => String::new(),
            "arg" => wanted.to_owned(),
            _ => format!("{wanted}_"),
        };
        while name.is_empty() || !self.taken.insert((home, name.clone())) {
            let next = self.next.entry((home, base.clone())).or_default();
            name = format!("{base}{next}");
            *next += 1;
        }
        name
    }
}

/// Returns a printer for a line with `n` values. Text that is much longer is cut, like all texts
/// that are shown.
fn line_printer(ir: &Ir, n: usize) -> Printer<'_> {
    /// A line up to this number of bytes is not cut: it is more than a page shows of a line.
    const SHORT: usize = 1536;
    let mut printer = Printer::new(ir, Style { is_custom: true, ..Style::default() });
    printer.text.limit_to(SHORT + 256 * n);
    printer
}

/// Returns the name of a value in the text.
fn name_in_text(ir: &Ir, value: Value) -> Option<String> {
    (ir.value(value).name != Name::EMPTY).then(|| ir.value_text(value))
}

/// Returns `a` for `%a#1`.
fn stem(name: &str) -> &str {
    let name = name.strip_prefix('%').unwrap_or(name);
    name.split_once('#').map_or(name, |it| it.0)
}

/// Returns the isolated op around an op.
fn isolated_ancestor(ir: &Ir, op: Op) -> Op {
    ir.parent_op(op).map_or(op, |it| isolated_ancestor_or_self(ir, it))
}

fn isolated_ancestor_or_self(ir: &Ir, op: Op) -> Op {
    let mut at = op;
    while !ir.op(at).kind.has(Traits::ISOLATED) && ir.op(at).kind != OpKind::Chunk {
        match ir.parent_op(at) {
            Some(around) => at = around,
            None => break,
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn shapes(text: &str) -> Vec<OpText> {
        let ir = Source::new(text).into_ir();
        let mut lines = StableOpPrinter::default();
        let mut out = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            if ir.op(op).kind.is_op() {
                out.push(lines.op(&ir, op));
            }
        });
        out
    }

    #[test]
    fn ops_are_printed_without_their_regions() {
        let text = "func.func @f(%c: i1, %a: i32) -> i32 {
  %r = scf.if %c -> (i32) {
    scf.yield %a : i32
  } else {
    %two:2 = \"t.two\"(%a) ({
    ^bb0(%x: i32):
      \"t.end\"() : () -> ()
    }) : (i32) -> (i32, i32)
    scf.yield %two#1 : i32
  }
  return %r : i32
}
";
        let pieces: Vec<Vec<String>> = shapes(text).into_iter().map(|it| it.pieces).collect();
        let expected: Vec<Vec<&str>> = vec![
            vec!["func.func @f(%c: i1, %a: i32) -> i32 {", "}"],
            vec!["%r = scf.if %c -> (i32) {", "} else {", "}"],
            vec!["scf.yield %a : i32"],
            vec!["%two:2 = \"t.two\"(%a) ({", "}) : (i32) -> (i32, i32)"],
            vec!["\"t.end\"() : () -> ()"],
            vec!["scf.yield %two#1 : i32"],
            vec!["func.return %r : i32"],
        ];
        assert_eq!(pieces, expected);
        let labels: Vec<bool> =
            shapes(text).iter().flat_map(|it| &it.regions).map(|it| it.has_label).collect();
        assert_eq!(labels, [false, false, false, true]);
    }

    #[test]
    fn siblings_with_one_name_get_distinct_names() {
        let text = "func.func @f(%c: i1) {
  scf.if %c {
    %x = \"t.a\"() : () -> i32
  } else {
    %x = \"t.b\"() : () -> i32
  }
  return
}
func.func @g(%c: i1) {
  return
}
";
        let all: Vec<String> = shapes(text).into_iter().flat_map(|it| it.pieces).collect();
        assert!(all.contains(&"%x = \"t.a\"() : () -> i32".to_owned()), "{all:?}");
        assert!(all.contains(&"%x_0 = \"t.b\"() : () -> i32".to_owned()), "{all:?}");
        assert!(all.contains(&"func.func @g(%c: i1) {".to_owned()), "{all:?}");
    }
}

//! Ops in the generic form, as `mlir-opt --mlir-print-op-generic` prints them.
//!
//! Values are numbered as MLIR does: results and arguments in the order of the text, arguments of blocks as `%arg0`, blocks
//! `^bb0`, each function (or other isolated op) from 0 on. Aliases are spelled out, terminators that the text leaves out
//! are there, inherent attributes stand between `<{` and `}>`.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use super::{push_quoted, write_attr, write_dict, write_types};
use crate::{Attr, Block, Ir, Name, Op, OpKind, Region, Traits, Type, Value};

/// The whole document in generic form; the parts of a split file one after the other, with the line between them.
pub fn generic(ir: &Ir) -> String {
    let mut out = String::new();
    for (n, chunk) in ir.items(ir.root()).enumerate() {
        if n > 0 {
            out.push_str("// -----\n");
        }
        let mut printer = Printer::new(ir);
        for &(_, region) in &ir.op(chunk).regions {
            printer.top(region);
        }
        out += &printer.out;
    }
    out
}

/// One op with its regions in generic form, its values numbered from 0.
pub fn generic_op(ir: &Ir, op: Op) -> String {
    let mut printer = Printer::new(ir);
    printer.number_op(op);
    printer.op(op, 0);
    printer.out
}

struct Printer<'a> {
    ir: &'a Ir,
    out: String,
    names: FxHashMap<Value, String>,
    /// Results without names have no value; their ops have numbers.
    n_values: u32,
    n_arguments: u32,
    blocks: FxHashMap<Block, u32>,
    op_numbers: FxHashMap<Op, u32>,
}

impl<'a> Printer<'a> {
    fn new(ir: &'a Ir) -> Self {
        Self {
            ir,
            out: String::new(),
            names: FxHashMap::default(),
            n_values: 0,
            n_arguments: 0,
            blocks: FxHashMap::default(),
            op_numbers: FxHashMap::default(),
        }
    }

    /// The ops of a file: MLIR wraps them in a module, unless they are one.
    fn top(&mut self, region: Region) {
        let ops: Vec<Op> = self.ir.items(region).filter(|it| self.is_printed(*it)).collect();
        if let [only] = ops[..]
            && self.ir.op(only).kind == OpKind::BuiltinModule
        {
            self.number_op(only);
            self.op(only, 0);
            return;
        }
        for &op in &ops {
            self.number_op(op);
        }
        self.out += "\"builtin.module\"() ({\n";
        if ops.is_empty() {
            self.out += "^bb0:\n";
        }
        for &op in &ops {
            self.op(op, 1);
        }
        self.out += "}) : () -> ()\n";
    }

    fn is_printed(&self, op: Op) -> bool {
        let data = self.ir.op(op);
        data.kind.is_op()
    }

    // Numbers.

    fn number_op(&mut self, op: Op) {
        let data = self.ir.op(op);
        let n = data.results.len() as u32;
        if n > 0 {
            let number = self.n_values;
            self.n_values += 1;
            self.op_numbers.insert(op, number);
            for (i, &value) in data.results.iter().enumerate() {
                let text = if n == 1 { format!("%{number}") } else { format!("%{number}#{i}") };
                self.names.insert(value, text);
            }
        }
        if data.regions.is_empty() {
            return;
        }
        let saved = (self.n_values, self.n_arguments);
        if data.kind.has(Traits::ISOLATED) {
            (self.n_values, self.n_arguments) = (0, 0);
        }
        for &(_, region) in &self.ordered_regions(op) {
            self.number_region(region);
        }
        // Numbers are reused behind an op with regions of its own names.
        (self.n_values, self.n_arguments) = saved;
    }

    fn number_region(&mut self, region: Region) {
        let saved = (self.n_values, self.n_arguments);
        let blocks = self.ir.blocks(region);
        for (n, &block) in blocks.iter().enumerate() {
            self.blocks.insert(block, n as u32);
            for &value in &self.ir.block(block).args {
                let name = if n == 0 {
                    self.n_arguments += 1;
                    format!("%arg{}", self.n_arguments - 1)
                } else {
                    self.n_values += 1;
                    format!("%{}", self.n_values - 1)
                };
                self.names.insert(value, name);
            }
            for op in self.ir.block_ops(block).collect::<Vec<_>>() {
                self.number_op(op);
            }
        }
        (self.n_values, self.n_arguments) = saved;
    }

    /// Regions in the order of the generic form.
    fn ordered_regions(&self, op: Op) -> Vec<(u32, Region)> {
        let data = self.ir.op(op);
        let mut regions = data.regions.to_vec();
        if data.kind == OpKind::ScfIndexSwitch && data.form == crate::Form::Custom {
            regions.rotate_right(1);
        }
        regions
    }

    // Text.

    fn indent(&mut self, depth: usize) {
        for _ in 0..depth {
            self.out.push_str("  ");
        }
    }

    fn value(&mut self, value: Option<Value>) {
        match value.and_then(|it| self.names.get(&it)) {
            Some(name) => self.out.push_str(name),
            None => self.out.push_str("%?"),
        }
    }

    fn op(&mut self, op: Op, depth: usize) {
        let ir = self.ir;
        let data = ir.op(op);
        self.indent(depth);
        if let Some(number) = self.op_numbers.get(&op) {
            let _ = write!(self.out, "%{number}");
            if data.results.len() > 1 {
                let _ = write!(self.out, ":{}", data.results.len());
            }
            self.out.push_str(" = ");
        }
        push_quoted(&mut self.out, ir.interner.str(data.name));
        self.out.push('(');
        for (i, operand) in data.operands.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            self.value(operand.value);
        }
        self.out.push(')');
        let rest = ir.rest(op);
        if !rest.successors.is_empty() {
            self.out.push('[');
            for (i, successor) in rest.successors.iter().enumerate() {
                self.out.push_str(if i > 0 { ", " } else { "" });
                match successor.block.and_then(|it| self.blocks.get(&it)) {
                    Some(n) => {
                        let _ = write!(self.out, "^bb{n}");
                    }
                    None => self.out.push_str("^?"),
                }
            }
            self.out.push(']');
        }
        let (inherent, discardable) = split_attrs(ir, op);
        if !inherent.is_empty() {
            self.out.push_str(" <{");
            for (i, (name, text)) in inherent.iter().enumerate() {
                self.out.push_str(if i > 0 { ", " } else { "" });
                self.out.push_str(name);
                match text {
                    Inherent::Attr(attr) if *attr == Attr::UNIT => {}
                    Inherent::Attr(attr) => {
                        self.out.push_str(" = ");
                        write_attr(&ir.interner, &mut self.out, *attr);
                    }
                    Inherent::Default(text) => {
                        self.out.push_str(" = ");
                        self.out.push_str(text);
                    }
                }
            }
            self.out.push_str("}>");
        }
        self.regions(op, depth);
        if !discardable.is_empty() {
            self.out.push(' ');
            write_dict(&ir.interner, &mut self.out, &discardable);
        }
        self.out.push_str(" : (");
        let types: Vec<Type> = data
            .operands
            .iter()
            .map(|it| it.value.map_or(it.ty, |value| ir.value(value).ty))
            .collect();
        write_types(&ir.interner, &mut self.out, &types);
        self.out.push_str(") -> ");
        let types: Vec<Type> = data.results.iter().map(|it| ir.value(*it).ty).collect();
        let is_plain =
            |ty: &Type| !matches!(ir.interner.type_data(*ty), crate::TypeData::Function { .. });
        match &types[..] {
            [one] if is_plain(one) => super::write_type(&ir.interner, &mut self.out, *one),
            _ => {
                self.out.push('(');
                write_types(&ir.interner, &mut self.out, &types);
                self.out.push(')');
            }
        }
        self.out.push('\n');
    }

    fn regions(&mut self, op: Op, depth: usize) {
        let ir = self.ir;
        let data = ir.op(op);
        let mut regions: Vec<Option<Region>> =
            self.ordered_regions(op).iter().map(|it| Some(it.1)).collect();
        // Regions that the custom form may leave out.
        match data.kind {
            OpKind::FuncFunc => regions.resize(1, None),
            OpKind::ScfIf | OpKind::AffineIf => regions.resize(2, None),
            _ => {}
        }
        if regions.is_empty() {
            return;
        }
        self.out.push_str(" (");
        for (i, region) in regions.iter().enumerate() {
            self.out.push_str(if i > 0 { ", {\n" } else { "{\n" });
            if let Some(region) = region {
                self.region(op, *region, depth);
            }
            self.indent(depth);
            self.out.push('}');
        }
        self.out.push(')');
    }

    fn region(&mut self, parent: Op, region: Region, depth: usize) {
        let ir = self.ir;
        let kind = ir.op(parent).kind;
        let terminator = if ir.op(parent).form == crate::Form::Custom {
            kind.implicit_terminator()
        } else {
            None
        };
        let blocks = ir.blocks(region);
        for (n, &block) in blocks.iter().enumerate() {
            let data = ir.block(block);
            // Only the text of a region in generic form can be without any block.
            let is_empty = ir.block_ops(block).next().is_none();
            let is_shown = is_empty
                && terminator.is_none()
                && (data.label.is_some() || ir.op(parent).form == crate::Form::Custom);
            if n > 0 || !data.args.is_empty() || is_shown {
                self.indent(depth);
                let _ = write!(self.out, "^bb{n}");
                if !data.args.is_empty() {
                    self.out.push('(');
                    for (i, &value) in data.args.iter().enumerate() {
                        self.out.push_str(if i > 0 { ", " } else { "" });
                        self.value(Some(value));
                        self.out.push_str(": ");
                        super::write_type(&ir.interner, &mut self.out, ir.value(value).ty);
                    }
                    self.out.push(')');
                }
                self.out.push_str(":\n");
            }
            let mut last = None;
            for op in ir.block_ops(block).collect::<Vec<_>>() {
                self.op(op, depth + 1);
                last = Some(op);
            }
            if let Some(terminator) = terminator
                && blocks.len() == 1
                && !last.is_some_and(|it| ir.op(it).kind.has(Traits::TERMINATOR))
            {
                self.indent(depth + 1);
                if terminator == OpKind::ScfForallInParallel {
                    self.out.push_str("\"scf.forall.in_parallel\"() ({\n");
                    self.indent(depth + 1);
                    self.out.push_str("^bb0:\n");
                    self.indent(depth + 1);
                    self.out.push_str("}) : () -> ()\n");
                } else {
                    push_quoted(&mut self.out, terminator.spec().name);
                    self.out.push_str("() : () -> ()\n");
                }
            }
        }
    }
}

/// An inherent attribute, or its default.
type NamedInherent = (&'static str, Inherent);

enum Inherent {
    Attr(Attr),
    Default(&'static str),
}

/// Inherent attributes with their defaults, by name, and the others.
fn split_attrs(ir: &Ir, op: Op) -> (Vec<NamedInherent>, Vec<(Name, Attr)>) {
    let data = ir.op(op);
    let spec = data.kind.spec();
    let attrs = &ir.rest(op).attrs;
    let mut inherent = Vec::new();
    for &(name, default) in spec.inherent {
        let found = attrs.iter().find(|it| ir.interner.str(it.0) == name);
        match found {
            Some(&(_, attr)) => inherent.push((name, Inherent::Attr(attr))),
            None if !default.is_empty() => inherent.push((name, Inherent::Default(default))),
            None => {}
        }
    }
    let is_inherent = |name: Name| {
        let name = ir.interner.str(name);
        spec.inherent.iter().any(|it| it.0 == name)
    };
    let others = attrs.iter().copied().filter(|it| !is_inherent(it.0)).collect();
    (inherent, others)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::Source;

    fn check(text: &str, expected: &Expect) {
        let source = Source::new(text);
        assert!(source.problems().is_empty(), "{:?}", source.problems());
        expected.assert_eq(&super::generic(source.ir()));
    }

    #[test]
    fn implicit_terminators_and_default_properties_are_written_out() {
        check(
            "func.func @f(%c: i1, %x: f32) {
  scf.if %c {
    %y = arith.addf %x, %x : f32
  }
  return
}",
            &expect![[r#"
                "builtin.module"() ({
                  "func.func"() <{function_type = (i1, f32) -> (), sym_name = "f"}> ({
                  ^bb0(%arg0: i1, %arg1: f32):
                    "scf.if"(%arg0) ({
                      %0 = "arith.addf"(%arg1, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
                      "scf.yield"() : () -> ()
                    }, {
                    }) : (i1) -> ()
                    "func.return"() : () -> ()
                  }) : () -> ()
                }) : () -> ()
            "#]],
        );
    }

    #[test]
    fn blocks_and_values_are_numbered_per_function() {
        check(
            "#map = affine_map<(d0) -> (d0 + 1)>
func.func @f(%n: index) -> index {
  %p:2 = \"a.b\"(%n) : (index) -> (i32, i32)
  cf.br ^end(%n : index)
^end(%v: index):
  %w = affine.apply #map(%v)
  return %w : index
}
func.func private @g(i32) -> (i32 {x.y = 1 : i8})",
            &expect![[r#"
                "builtin.module"() ({
                  "func.func"() <{function_type = (index) -> index, sym_name = "f"}> ({
                  ^bb0(%arg0: index):
                    %0:2 = "a.b"(%arg0) : (index) -> (i32, i32)
                    "cf.br"(%arg0)[^bb1] : (index) -> ()
                  ^bb1(%1: index):
                    %2 = "affine.apply"(%1) <{map = affine_map<(d0) -> (d0 + 1)>}> : (index) -> index
                    "func.return"(%2) : (index) -> ()
                  }) : () -> ()
                  "func.func"() <{function_type = (i32) -> i32, res_attrs = [{x.y = 1 : i8}], sym_name = "g", sym_visibility = "private"}> ({
                  }) : () -> ()
                }) : () -> ()
            "#]],
        );
    }
}

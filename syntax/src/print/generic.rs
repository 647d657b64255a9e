//! Prints ops in the generic form, like `mlir-opt --mlir-print-op-generic`.
//!
//! Aliases are expanded, implicit terminators are printed, and inherent attributes are between `<{`
//! and `}>`.

use std::fmt::Write as _;

use super::printer::{OmittedRegion, Printer, REGION_PLACEHOLDER, SYMBOL_ATTRIBUTE};
use crate::intern::{NumberTypes, alias_name};
use crate::string::push_quoted;
use crate::{Attr, Block, Form, Ir, Name, Op, OpKind, Region, Tool, Type};

impl Printer<'_> {
    /// Returns the printed text, after the aliases that it uses.
    pub(super) fn finish(mut self) -> String {
        let (above, below) = self.location_definitions();
        self.text.out += &below;
        let above = self.text.long_definitions() + &above;
        let aliases = self.text.aliases.take().unwrap_or_default();
        if aliases.maps.is_empty() && aliases.sets.is_empty() {
            return above + &self.text.out;
        }
        let body = std::mem::take(&mut self.text.out);
        for (attrs, name) in [(&aliases.maps, "map"), (&aliases.sets, "set")] {
            for (n, &attr) in attrs.iter().enumerate() {
                self.text.push("#");
                self.text.push(&alias_name(name, n));
                self.text.push(" = ");
                self.text.attr(attr);
                self.text.push("\n");
            }
        }
        self.text.out + &above + &body
    }

    pub(super) fn number_ops(&mut self, ops: &[Op]) {
        let ir = self.ir;
        self.name_locations(ops);
        self.numbers.number_ops(ir, ops, &|op| ir.ordered_regions(op));
    }

    /// Prints the ops of a file. MLIR wraps them in a module, unless the file is a single module.
    pub(super) fn top_level(&mut self, region: Region) {
        let ir = self.ir;
        let ops: Vec<Op> = ir.items(region).filter(|it| ir.op(*it).kind.is_op()).collect();
        self.number_ops(&ops);
        if let [only] = ops[..]
            && ir.op(only).kind == OpKind::BuiltinModule
        {
            self.op(only);
        } else {
            self.text.push(if self.is_custom { "module {\n" } else { "\"builtin.module\"() ({\n" });
            if ops.is_empty() && !self.is_custom {
                self.text.push("^bb0:\n");
            }
            self.depth = 1;
            for &op in &ops {
                self.op(op);
            }
            self.depth = 0;
            self.text.push(if self.is_custom { "}\n" } else { "}) : () -> ()\n" });
        }
        self.resources(region);
    }

    /// Prints an op on its own lines.
    pub(super) fn op(&mut self, op: Op) {
        if self.text.is_cut() {
            return;
        }
        self.indent(self.depth);
        if let Some(left) = self.numbers.result_list(op) {
            self.text.push(left);
            self.text.push(" = ");
        }
        if !(self.is_custom && self.try_custom(op)) {
            self.generic_op(op);
        }
        self.op_location(op);
        self.text.push("\n");
    }

    fn generic_op(&mut self, op: Op) {
        let ir = self.ir;
        let data = ir.op(op);
        if let Some(shown) = &mut self.omitted_regions {
            // Regions that the attempt with the custom syntax recorded.
            shown.clear();
        }
        push_quoted(&mut self.text.out, ir.interner.str(data.name));
        let numbers = &self.numbers;
        self.text.push("(");
        self.text.list(&data.operands, |it, operand| {
            it.push(operand.value.and_then(|it| numbers.value(it)).unwrap_or("%?"));
        });
        self.text.push(")");
        let extra = ir.extra(op);
        if !extra.successors.is_empty() {
            self.text.push("[");
            self.text.list(&extra.successors, |it, successor| {
                let _ = match successor.block.and_then(|it| numbers.label(it)) {
                    Some(name) => write!(it.out, "^{name}"),
                    None => write!(it.out, "^?"),
                };
            });
            self.text.push("]");
        }
        let (inherent, discardable) = split_attrs(ir, op, self.tool);
        if !inherent.is_empty() {
            self.text.push(" <{");
            self.text.list(inherent, |it, (name, value)| match value {
                Inherent::Attr(attr) if name == SYMBOL_ATTRIBUTE => {
                    it.push("sym_name = ");
                    it.attr_without_name(attr, NumberTypes::All);
                }
                Inherent::Attr(attr) => it.entry(name, attr),
                Inherent::Default(text) => {
                    let _ = write!(it.out, "{name} = {text}");
                }
            });
            self.text.push("}>");
        }
        self.regions(op);
        if !discardable.is_empty() {
            self.text.push(" ");
            self.text.dict(&discardable);
        }
        let inputs: Vec<Type> = data
            .operands
            .iter()
            .map(|it| it.value.map_or(it.ty, |value| ir.value(value).ty))
            .collect();
        let results: Vec<Type> = data.results.iter().map(|it| ir.value(*it).ty).collect();
        self.text.push(" : ");
        self.text.function_type(&inputs, &results);
    }

    /// Prints the regions of an op in generic form.
    fn regions(&mut self, op: Op) {
        let ir = self.ir;
        let mut regions: Vec<Option<Region>> =
            ir.ordered_regions(op).into_iter().map(Some).collect();
        // The custom form may have omitted regions that the generic form prints.
        let data = ir.op(op);
        if data.form == Form::Custom {
            regions.resize(regions.len().max(data.kind.spec().regions.least), None);
        }
        if regions.is_empty() {
            return;
        }
        self.text.push(" (");
        for (i, region) in regions.iter().enumerate() {
            self.text.push(if i > 0 { ", {" } else { "{" });
            if self.omitted_regions.is_some() {
                self.show_region(op, *region);
                continue;
            }
            self.text.push("\n");
            if let Some(region) = region {
                self.region(op, *region);
            }
            self.indent(self.depth);
            self.text.push("}");
        }
        self.text.push(")");
    }

    /// Records a region instead of printing it, and closes it.
    fn show_region(&mut self, parent: Op, region: Option<Region>) {
        let first = region.and_then(|it| self.ir.blocks(it).first().copied());
        let has_label = first.is_some_and(|it| self.has_first_label(parent, it));
        if let (Some(shown), Some(region)) = (&mut self.omitted_regions, region) {
            shown.push(OmittedRegion { region, has_label, omitted_terminator: None });
            self.text.push(REGION_PLACEHOLDER);
        }
        self.text.push("}");
    }

    /// Returns true if the first block of a region has a label. A region without blocks is only
    /// possible in generic form.
    fn has_first_label(&self, parent: Op, block: Block) -> bool {
        let ir = self.ir;
        let data = ir.block(block);
        !data.args.is_empty()
            || !data.preds.is_empty()
            || ir.block_ops(block).next().is_none()
                && ir.missing_terminator(parent, data.region).is_none()
                && (data.label.is_some() || ir.op(parent).form == Form::Custom)
    }

    fn region(&mut self, parent: Op, region: Region) {
        let ir = self.ir;
        let terminator = ir.missing_terminator(parent, region);
        self.depth += 1;
        for (n, &block) in ir.blocks(region).iter().enumerate() {
            self.block(block, n > 0 || self.has_first_label(parent, block), None);
        }
        if let Some(terminator) = terminator {
            self.indent(self.depth);
            push_quoted(&mut self.text.out, terminator.spec().name);
            self.text.push("()");
            if terminator.spec().regions.least > 0 {
                self.text.push(" ({\n");
                self.indent(self.depth);
                self.text.push("^bb0:\n");
                self.indent(self.depth);
                self.text.push("})");
            }
            self.text.push(" : () -> ()\n");
        }
        self.depth -= 1;
    }

    /// Prints a block: its label if `has_label`, and its ops except `without`.
    pub(super) fn block(&mut self, block: Block, has_label: bool, without: Option<Op>) {
        if has_label {
            self.label(block);
        }
        for op in self.ir.block_ops(block).filter(|it| Some(*it) != without) {
            self.op(op);
        }
    }

    /// Prints the label of a block on its own line.
    pub(super) fn label(&mut self, block: Block) {
        let args = &self.ir.block(block).args;
        self.indent(self.depth.saturating_sub(1));
        let _ = match self.numbers.label(block) {
            Some(name) => write!(self.text.out, "^{name}"),
            None => write!(self.text.out, "^bb0"),
        };
        if !args.is_empty() {
            let (ir, numbers) = (self.ir, &self.numbers);
            let has_locations = self.locations.is_some();
            self.text.push("(");
            self.text.list(args, |it, &value| {
                it.push(numbers.value(value).unwrap_or("%?"));
                it.push(": ");
                it.ty(ir.value(value).ty);
                if let Some(location) = ir.argument_location(value).filter(|_| has_locations) {
                    it.push(" ");
                    it.attr(location);
                }
            });
            self.text.push(")");
        }
        self.text.push(":");
        self.predecessors(block);
        self.text.push("\n");
    }

    /// Prints `// 2 preds: ^bb0, ^bb1` if the names are those of MLIR.
    fn predecessors(&mut self, block: Block) {
        if !self.has_names {
            return;
        }
        let ir = self.ir;
        let blocks = ir.block(block).preds.iter().map(|it| ir.block_of(it.0));
        let mut numbers: Vec<u32> = blocks.filter_map(|it| self.numbers.block(it)).collect();
        numbers.sort_unstable();
        let names: Vec<String> = numbers.iter().map(|it| format!("^bb{it}")).collect();
        // An entry block never has predecessors.
        let is_entry = block == ir.entry_block(ir.block(block).region);
        let _ = match names.len() {
            0 if is_entry => Ok(()),
            0 => write!(self.text.out, "  // no predecessors"),
            1 => write!(self.text.out, "  // pred: {}", names[0]),
            n => write!(self.text.out, "  // {n} preds: {}", names.join(", ")),
        };
    }
}

/// An inherent attribute with its name.
type NamedInherent = (&'static str, Inherent);

enum Inherent {
    Attr(Attr),
    Default(&'static str),
}

/// Returns the inherent attributes and their defaults, sorted by name, and the other attributes.
fn split_attrs(ir: &Ir, op: Op, tool: Tool) -> (Vec<NamedInherent>, Vec<(Name, Attr)>) {
    let spec = ir.op(op).kind.spec();
    let attrs = &ir.extra(op).attrs;
    let mut inherent = Vec::new();
    for known in spec.inherent_attrs() {
        let default = known.printed_default(tool);
        match attrs.iter().find(|it| ir.interner.str(it.0) == known.name) {
            Some(&(_, attr)) => inherent.push((known.name, Inherent::Attr(attr))),
            None => inherent.extend(default.map(|it| (known.name, Inherent::Default(it)))),
        }
    }
    let is_inherent =
        |name: Name| spec.attr(ir.interner.str(name)).is_some_and(|it| it.is_inherent);
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
        expected.assert_eq(&crate::print::generic(source.ir()));
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

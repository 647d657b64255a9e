//! Lowers an item to the similar op that it replaces: the op remains, and only the differences are
//! updated.

use smallvec::SmallVec;

use super::{LoweringInput, LoweringWork, OwnTextMap};
use crate::grammar::{ParsedArgument, ParsedItem, ParsedOperand};
use crate::skeleton::{ItemShape, SkeletonItem};
use crate::{Attr, Block, Form, Ir, Name, Op, OpKind, Operand, Region, Type, Value};

/// The parts of an op on which the ops inside it may depend.
#[derive(PartialEq, Eq)]
struct Signature {
    form: Form,
    results: SmallVec<[Type; 2]>,
    function_type: Option<Attr>,
    n_arguments: SmallVec<[usize; 2]>,
}

impl Ir {
    /// Parses an item and updates a similar op ([`Ir::is_similar`]). The op keeps its id and its
    /// regions. Its results keep their ids as far as there are as many.
    pub(crate) fn relower(
        &mut self,
        run: LoweringInput<'_>,
        index: u32,
        op: Op,
        work: &mut LoweringWork,
    ) {
        if self.op(op).kind == OpKind::Label {
            self.relower_label(run, index, op, work);
            return;
        }
        let item = run.item(index);
        let mut parsed = work.parsed.take().unwrap_or_default();
        self.parse(run, item, &mut parsed);
        let signature = self.signature(op);
        self.unlink(op);
        self.names.suspects.remove(&op);
        let old: SmallVec<[Value; 1]> = self.op(op).results.clone();
        let same = {
            let names = &self.op(op).result_names;
            names.len() == parsed.results.len()
                && names
                    .iter()
                    .zip(&parsed.results)
                    .all(|(a, b)| a.name == b.name && a.count == b.count)
        };
        if !same {
            self.remove_result_defs(op, &mut work.uses_to_resolve);
        }
        let typed = |ir: &Ir, it: Value| (ir.value(it).ty, ir.value(it).is_guessed);
        let types: SmallVec<[(Type, bool); 1]> = old.iter().map(|&it| typed(self, it)).collect();
        self.fill(op, item, &mut parsed, &old);
        for (&value, ty) in old.iter().zip(types) {
            if typed(self, value) != ty {
                work.retyped.push(value);
            }
        }
        let n_kept = self.op(op).results.len();
        for &value in old.iter().skip(n_kept) {
            self.drop_value(value, &mut work.uses_to_resolve);
        }
        self.keep_regions(op, item, &mut parsed, work);
        if self.signature(op) != signature {
            self.names.touched.signature_changed.push(op);
        }
        work.parsed = Some(parsed);
        work.new_or_changed.push(op);
        if !same {
            work.values_to_define.extend(self.first_results(op));
        }
    }

    /// Like [`Ir::relower`] for a label. Its block remains.
    fn relower_label(
        &mut self,
        run: LoweringInput<'_>,
        index: u32,
        op: Op,
        work: &mut LoweringWork,
    ) {
        let item = run.item(index);
        let mut parsed = work.parsed.take().unwrap_or_default();
        self.parse(run, item, &mut parsed);
        self.unlink(op);
        self.names.suspects.remove(&op);
        for use_ in self.remove_label(op) {
            self.unlink_successor(use_);
            work.successors_to_resolve.push(use_);
        }
        self.fill(op, item, &mut parsed, &[]);
        let args = self.relower_arguments(self.label_block(op), item, &parsed.arguments, work);
        self.ops[op.index()].results = args.into_iter().collect();
        work.successors_to_resolve.extend(self.add_label(op));
        work.parsed = Some(parsed);
        work.new_or_changed.push(op);
    }

    /// Returns the signature of an op; `None` if it has no regions.
    fn signature(&self, op: Op) -> Option<Signature> {
        let data = self.op(op);
        if data.regions.is_empty() {
            return None;
        }
        let entry = |it: &(u32, Region)| self.region(it.1).entry;
        Some(Signature {
            form: data.form,
            results: data.results.iter().map(|&it| self.value(it).ty).collect(),
            function_type: self.attr(op, "function_type"),
            n_arguments: data.regions.iter().map(|it| self.block(entry(it)).args.len()).collect(),
        })
    }

    /// Returns true if [`Ir::relower`] can update `op` from an item. Both must be of the same
    /// kind of item. If they have regions, both must have the same number of regions and the same
    /// name, and the syntax of both must be known, or of neither; in the latter case, the same
    /// names must be possible region arguments.
    pub(crate) fn is_similar(&mut self, run: LoweringInput<'_>, index: u32, op: Op) -> bool {
        let item = run.item(index);
        let data = self.op(op);
        let is_op = match item.shape {
            ItemShape::Op => data.kind.is_op(),
            ItemShape::TypeAlias => data.kind == OpKind::TypeAlias,
            ItemShape::AttrAlias => data.kind == OpKind::AttrAlias,
            ItemShape::Label => return data.kind == OpKind::Label,
            ItemShape::Resources | ItemShape::Junk => false,
        };
        if !is_op || item.regions.len() != data.regions.len() {
            return false;
        }
        if item.regions.is_empty() {
            return true;
        }
        let (name, is_opaque) = (data.name, data.form == Form::Opaque);
        let may_be = |it: &&Operand| it.may_be_argument && it.number == 0;
        let before: Vec<Name> = data.operands.iter().filter(may_be).map(|it| it.name).collect();
        let mut parsed = ParsedItem::default();
        self.parse(run, item, &mut parsed);
        let may_be = |it: &&ParsedOperand| it.may_be_argument && it.number == 0;
        (parsed.form == Form::Opaque) == is_opaque
            && parsed.name == Some(name)
            && (!is_opaque || parsed.operands.iter().filter(may_be).map(|it| it.name).eq(before))
    }

    /// Updates the offsets and arguments of the regions of an op whose header was parsed again.
    fn keep_regions(
        &mut self,
        op: Op,
        item: &SkeletonItem,
        parsed: &mut ParsedItem,
        work: &mut LoweringWork,
    ) {
        let own = OwnTextMap { item };
        let arguments = std::mem::take(&mut parsed.region_arguments);
        for (n, inner) in item.regions.iter().enumerate() {
            let region = self.op(op).regions[n].1;
            self.ops[op.index()].regions[n].0 = own.at(inner.open);
            let new = arguments.get(n).map_or(&[][..], Vec::as_slice);
            if new.iter().any(|it| it.attrs.is_some()) {
                let attrs = new.iter().map(|it| it.attrs).collect();
                self.ops[op.index()].extra.get_or_insert_default().argument_attrs = attrs;
            }
            let entry = self.region(region).entry;
            let old = self.blocks[entry.index()].args.clone();
            if self.op(op).form == Form::Opaque {
                let operands = self.op(op).operands.clone();
                let may_be = operands.iter().filter(|it| it.may_be_argument && it.number == 0);
                for (value, operand) in old.iter().zip(may_be) {
                    let data = &mut self.values[value.index()];
                    (data.ty, data.span) = (operand.ty, operand.span);
                }
                continue;
            }
            self.relower_arguments(entry, item, new, work);
        }
        parsed.region_arguments = arguments;
    }

    /// Updates the arguments of a block. Arguments keep their ids up to the first one with another
    /// name.
    fn relower_arguments(
        &mut self,
        block: Block,
        item: &SkeletonItem,
        new: &[ParsedArgument],
        work: &mut LoweringWork,
    ) -> SmallVec<[Value; 2]> {
        let own = OwnTextMap { item };
        let old = self.blocks[block.index()].args.clone();
        let named = |ir: &Ir, it: &Value| ir.value(*it).name;
        let pairs = old.iter().zip(new);
        let n_same =
            pairs.take_while(|(a, b)| named(self, a) == b.name.unwrap_or(Name::EMPTY)).count();
        for (&value, argument) in old.iter().zip(&new[..n_same]) {
            let span = own.span(argument.span);
            let data = &mut self.values[value.index()];
            if data.ty != argument.ty {
                work.retyped.push(value);
            }
            (data.ty, data.span) = (argument.ty, span);
        }
        for &value in &old[n_same..] {
            if named(self, &value) != Name::EMPTY {
                self.remove_def(value, &mut work.uses_to_resolve);
            }
            self.drop_value(value, &mut work.uses_to_resolve);
        }
        let args = self.new_arguments(block, item, new, &old[..n_same]);
        let fresh = args[n_same..].iter().filter(|it| named(self, it) != Name::EMPTY);
        work.values_to_define.extend(fresh);
        self.blocks[block.index()].args.clone_from(&args);
        args
    }
}

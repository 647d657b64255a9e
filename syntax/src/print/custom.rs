//! Prints ops in their custom forms, like `mlir-opt`, along the syntax in their rows.
//!
//! An op that its custom syntax cannot express is printed in the generic form instead. Each element
//! reports if the op fits. At the end, all operands, results, successors and regions must be
//! printed.

use super::printer::{
    OmittedRegion, PrintProgress, PrintResult, Printer, REGION_PLACEHOLDER, SYMBOL_ATTRIBUTE,
    Unfit, fits,
};
use crate::{Block, Ir, Op, OpKind, Region, Traits, Value, namespace};

impl Printer<'_> {
    /// Prints an op in its custom form, after its indentation. Returns false, and prints nothing,
    /// if the syntax cannot express the op.
    pub(crate) fn try_custom(&mut self, op: Op) -> bool {
        let ir = self.ir;
        let data = ir.op(op);
        let spec = data.kind.spec();
        if !spec.has_custom_form()
            || data.form == crate::Form::Opaque
            || self.text.long_names.is_some() && self.writes_name(op)
        {
            return false;
        }
        let len = self.text.out.len();
        let inner = PrintProgress {
            op,
            n_operands: 0,
            n_results: 0,
            n_successors: 0,
            n_regions: 0,
            has_arguments: false,
        };
        let outer = self.progress.replace(inner);
        let dialect = self.default_dialect;
        self.op_name(spec.name);
        self.default_dialect = namespace::inner_dialect(dialect, spec.name);
        let is_written = self.write_syntax(spec.syntax).is_ok();
        self.default_dialect = dialect;
        let place = std::mem::replace(&mut self.progress, outer);
        let is_whole = place.is_some_and(|it| {
            it.n_operands == data.operands.len()
                && it.n_results == data.results.len()
                && it.n_successors == ir.extra(op).successors.len()
                && it.n_regions == data.regions.len()
        });
        if !is_written || !is_whole {
            self.text.out.truncate(len);
            return false;
        }
        true
    }

    /// Returns true if the syntax would print the name of a long attribute where only the attribute
    /// itself may be allowed. Names of types are allowed everywhere.
    fn writes_name(&mut self, op: Op) -> bool {
        let (ir, tool) = (self.ir, self.tool);
        let syntax = ir.op(op).kind.spec().syntax;
        ir.extra(op).attrs.iter().any(|&(name, attr)| {
            let name = ir.interner.str(name);
            name != SYMBOL_ATTRIBUTE
                && self.text.is_named(attr)
                && syntax.iter().any(|it| it.attributes(tool).contains(&name))
        })
    }

    /// Prints the name of an op, without its prefix if that is the default dialect.
    fn op_name(&mut self, name: &'static str) {
        let short = name.split_once('.').filter(|(dialect, name)| {
            self.default_dialect == Some(dialect) && namespace::is_unprefixed_op(dialect, name)
        });
        self.text.push(short.map_or(name, |it| it.1));
    }

    /// Returns the region with this index, in the order of the generic form.
    pub(crate) fn region_at(&self, at: usize) -> PrintResult<Region> {
        self.ir.ordered_regions(self.op_id()).get(at).copied().ok_or(Unfit)
    }

    /// Returns the arguments of a region's entry block, and marks them as printed by the header.
    pub(crate) fn header_arguments(&mut self, region: Region) -> PrintResult<Vec<Value>> {
        self.progress()?.has_arguments = true;
        let entry = self.ir.entry_block(region);
        Ok(self.ir.block(entry).args.to_vec())
    }

    /// Skips the next region, which the syntax does not print.
    pub(crate) fn skip_region(&mut self) {
        if let Some(place) = &mut self.progress {
            place.n_regions += 1;
            place.has_arguments = false;
        }
    }

    /// Prints ` {..}`, the next region.
    pub(crate) fn write_next_region(&mut self) -> PrintResult {
        let at = self.progress()?.n_regions;
        let region = self.region_at(at)?;
        self.write_region(region)
    }

    /// Prints ` {..}`, a region, without its implicit terminator.
    pub(crate) fn write_region(&mut self, region: Region) -> PrintResult {
        self.write_region_with_end(region, false)
    }

    /// Prints ` {..}`, a region, with or without its implicit terminator.
    pub(crate) fn write_region_with_end(&mut self, region: Region, says_end: bool) -> PrintResult {
        let place = self.progress()?;
        place.n_regions += 1;
        let op = place.op;
        let has_arguments = std::mem::take(&mut place.has_arguments);
        let ir = self.ir;
        let blocks = ir.blocks(region);
        let first = blocks.first().copied().ok_or(Unfit)?;
        // The custom form cannot distinguish a region without blocks from one with an empty block.
        let has_block = ir.op(op).form == crate::Form::Custom
            || ir.items(region).next().is_some()
            || !ir.block(first).args.is_empty();
        fits(has_block)?;
        // It cannot express an empty first block before a second block.
        fits(blocks.len() == 1 || ir.last_op(first).is_some())?;
        // It cannot express branches to the first block, which are invalid anyway.
        fits(ir.block(first).preds.is_empty())?;
        // If the terminator is implicit, the custom form cannot express that it is missing.
        let has_end = ir.op(op).form == crate::Form::Custom
            || ir.op(op).kind.implicit_terminator().is_none()
            || blocks.len() > 1
            || ir.last_op(first).is_some_and(|it| is_terminator(ir, it));
        fits(has_end)?;
        let is_plain = has_arguments || ir.block(first).args.is_empty();
        let hidden = if says_end { None } else { self.hidden_terminator(op, &blocks) };
        if let Some(shown) = &mut self.omitted_regions {
            shown.push(OmittedRegion { region, has_label: !is_plain, omitted_terminator: hidden });
            self.word("{");
            self.text.push(REGION_PLACEHOLDER);
            self.text.push("}");
            return Ok(());
        }
        self.word("{\n");
        self.depth += 1;
        for (n, &block) in blocks.iter().enumerate() {
            let has_label = n > 0 || !is_plain;
            self.block(block, has_label, hidden);
        }
        // `mlir-opt` prints this terminator even if the text omits it.
        let missing = ir.missing_terminator(op, region);
        if let Some(end) = missing.filter(|it| says_end || it.has(Traits::ALWAYS_PRINTED)) {
            self.indent(self.depth);
            self.text.push(end.spec().name);
            self.text.push("\n");
        }
        self.depth -= 1;
        self.indent(self.depth);
        self.text.push("}");
        Ok(())
    }

    /// Returns true if a region is one block without arguments and ops.
    fn is_empty_block(&self, op: Op, region: Region) -> bool {
        let ir = self.ir;
        let mut items = ir.items(region);
        match items.next() {
            None => ir.op(op).form == crate::Form::Custom,
            Some(first) => {
                let data = ir.op(first);
                data.kind == OpKind::Label && data.results.is_empty() && items.next().is_none()
            }
        }
    }

    /// Returns the terminator of a region with one block, if parsing the text without it adds an
    /// equal one.
    fn hidden_terminator(&self, op: Op, blocks: &[Block]) -> Option<Op> {
        let ir = self.ir;
        let [only] = blocks else { return None };
        let terminator = ir.op(op).kind.implicit_terminator()?;
        // `mlir-opt` prints it nevertheless.
        if terminator.has(Traits::ALWAYS_PRINTED) {
            return None;
        }
        let last = ir.last_op(*only)?;
        let data = ir.op(last);
        if ir.prev(last).is_some_and(|it| is_terminator(ir, it)) {
            return None;
        }
        let says_nothing = data.kind == terminator
            && data.operands.is_empty()
            && data.results.is_empty()
            && ir.extra(last).attrs.is_empty()
            && data.regions.iter().all(|&(_, it)| self.is_empty_block(last, it));
        (says_nothing && !ir.is_broken(last)).then_some(last)
    }
}

fn is_terminator(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind.has(Traits::TERMINATOR)
}

//! Equal blocks become one.

use noisy_syntax::{Block, Ir, Op, Region, Value};
use rustc_hash::FxHashMap;

use super::Rewriter;

/// Merges blocks of a region that do the same and end the same: who branched to the later one branches to the earlier one. Blocks whose
/// values others use, that have arguments, or that hold regions stay.
pub(super) fn merge(rewriter: &mut Rewriter<'_>, region: Region) {
    loop {
        let blocks = rewriter.ir.blocks(region);
        let mut first: FxHashMap<Vec<u64>, Block> = FxHashMap::default();
        let mut pair = None;
        for &block in blocks.iter().skip(1) {
            let Some(key) = signature(rewriter.ir, block) else { continue };
            match first.get(&key) {
                Some(&same) => {
                    pair = Some((same, block));
                    break;
                }
                None => {
                    first.insert(key, block);
                }
            }
        }
        let Some((kept, gone)) = pair else { return };
        let preds: Vec<(Op, u32)> = rewriter.ir.block(gone).preds.to_vec();
        for (branch, successor) in preds {
            rewriter.set_successor(branch, successor as usize, kept, &[]);
        }
        rewriter.erase_block(gone);
    }
}

/// What a block does, as numbers: equal for blocks that do the same. `None` for blocks that are left alone.
fn signature(ir: &Ir, block: Block) -> Option<Vec<u64>> {
    if !ir.block(block).args.is_empty() || ir.block(block).preds.is_empty() {
        return None;
    }
    let mut local: FxHashMap<Value, u64> = FxHashMap::default();
    let mut out = Vec::new();
    for op in ir.block_ops(block) {
        let data = ir.op(op);
        if !data.regions.is_empty() {
            return None;
        }
        out.extend([u64::from(data.name.index() as u32), data.operands.len() as u64]);
        for operand in &data.operands {
            let value = operand.value?;
            let number = local.get(&value).map(|it| it << 1 | 1);
            out.push(number.unwrap_or((value.index() as u64) << 1));
        }
        let rest = ir.extra(op);
        out.push(rest.attrs.len() as u64);
        for &(name, attr) in &rest.attrs {
            out.extend([name.index() as u64, attr.index() as u64]);
        }
        for successor in &rest.successors {
            out.extend([successor.block?.index() as u64, u64::from(successor.operands.start)]);
        }
        out.push(data.results.len() as u64);
        for &result in &data.results {
            if ir.value(result).uses.iter().any(|it| ir.block_of(it.0) != block) {
                return None;
            }
            let number = local.len() as u64;
            local.insert(result, number);
            out.push(ir.value(result).ty.index() as u64);
        }
    }
    Some(out)
}

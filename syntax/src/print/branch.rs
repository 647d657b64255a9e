//! Writers of successors and of the headers of `cf` branches; their readers are in `grammar/branch.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::Tool;

impl Printer<'_> {
    pub(super) fn write_successor(&mut self) -> Fits {
        let ir = self.ir;
        let (block, range) = self.take_successor()?;
        let values = self.take_operands(range.len())?;
        fits(range.end as usize == ir.op(self.op_id()).operands.len() - self.n_left())?;
        self.blank();
        self.block_name(block)?;
        if !values.is_empty() {
            self.text.push("(");
            self.values_types(&values)?;
            self.text.push(")");
        }
        Ok(())
    }

    pub(super) fn write_switch(&mut self) -> Fits {
        let ir = self.ir;
        let n = ir.extra(self.op_id()).successors.len();
        let cases = match self.op_attr("case_values") {
            None => Vec::new(),
            Some(cases) => ir.interner.element_ints(cases, n.saturating_sub(1)).ok_or(Unfit)?,
        };
        fits(n == cases.len() + 1)?;
        self.text.push("\n");
        for at in 0..n {
            self.line_start(1);
            match at.checked_sub(1) {
                None => self.text.push("default:"),
                Some(at) => self.text.push(&format!("{}:", cases[at])),
            }
            self.write_successor()?;
            self.text.push(if at + 1 < n { ",\n" } else { "\n" });
        }
        self.line_start(0);
        Ok(())
    }

    pub(super) fn write_weights(&mut self) -> Fits {
        if self.tool != Tool::Mlir19 && self.op_attr("branch_weights").is_some() {
            let weights = self.ints("branch_weights")?;
            self.word("weights(");
            self.text.ints(&weights);
            self.text.push(")");
        }
        Ok(())
    }
}

//! Writers of successors and of the headers of `cf` branches; their readers are in `grammar/branch.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::{Tool, TypeData};

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
            Some(cases) => {
                let cases = ir.interner.integers(cases).ok_or(Unfit)?;
                // One stands for all.
                let is_one = cases.len() == 1;
                let cases = cases.iter().cycle().take(if is_one {
                    n.saturating_sub(1)
                } else {
                    cases.len()
                });
                cases.map(|&it| self.unsigned_case(it).ok_or(Unfit)).collect::<Result<_, _>>()?
            }
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

    /// A case as an unsigned number of the width of the flag, as MLIR writes it; `None` beyond 64 bits.
    fn unsigned_case(&self, case: i128) -> Option<u64> {
        let flag = self.ir.op(self.op_id()).operands.first()?.value?;
        let bits = match self.ir.interner.type_data(self.ir.value(flag).ty) {
            TypeData::Int { width: width @ 1..=64, .. } => {
                case.cast_unsigned() & (u128::MAX >> (128 - width))
            }
            _ => case.cast_unsigned(),
        };
        u64::try_from(bits).ok()
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

#[cfg(test)]
mod tests {
    use crate::{Source, print};

    #[test]
    fn cases_are_unsigned() {
        let printed = |ty: &str, cases: &str| {
            let cases: Vec<String> = cases.split(' ').map(|it| format!(", {it}: ^b")).collect();
            let cases = cases.concat();
            let text = format!(
                "func.func @f(%a: {ty}) {{\n  cf.switch %a : {ty}, [default: ^b{cases}]\n^b:\n  return\n}}\n"
            );
            let source = Source::new(&text);
            assert!(source.problems().is_empty(), "{:?}", source.problems());
            let printed = print::custom(source.ir());
            let numbers =
                printed.lines().filter_map(|it| it.trim().split_once(": ^")).map(|it| it.0);
            numbers.skip(1).collect::<Vec<_>>().join(" ")
        };
        // As mlir-opt 19 writes them.
        assert_eq!(printed("i64", "-1 5"), "18446744073709551615 5");
        assert_eq!(printed("i64", "-1 -1"), "18446744073709551615 18446744073709551615");
        assert_eq!(printed("i8", "-1 255 128"), "255 255 128");
        assert_eq!(printed("i128", "-1 7"), "18446744073709551615 7");
    }
}

//! Writers of the headers of `scf` ops; their readers are in `grammar/loops.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::dialect::format::DYNAMIC;
use crate::{Attr, Type, Value};

impl Printer<'_> {
    /// `%x = %y, %z = %w`: arguments and what they are at first, of the same types.
    fn write_assignments(&mut self, arguments: &[Value], values: &[Value]) -> Fits {
        fits(arguments.len() == values.len())?;
        for (i, (argument, value)) in arguments.iter().zip(values).enumerate() {
            fits(self.type_of(*argument) == self.type_of(*value))?;
            self.text.push(if i > 0 { ", " } else { "" });
            self.value(*argument)?;
            self.text.push(" = ");
            self.value(*value)?;
        }
        Ok(())
    }

    /// ` iter_args(%x = %y) -> (T)` or nothing; the results have the types of the arguments.
    pub(super) fn write_carried(&mut self, word: &str, arguments: &[Value]) -> Fits {
        let values = self.take_operands(self.n_left())?;
        let results = self.take_results()?;
        let types: Vec<Type> = arguments.iter().map(|it| self.type_of(*it)).collect();
        fits(types == results)?;
        if arguments.is_empty() {
            return fits(values.is_empty());
        }
        self.word(word);
        self.text.push("(");
        self.write_assignments(arguments, &values)?;
        self.text.push(") -> (");
        self.text.types(&types);
        self.text.push(")");
        Ok(())
    }

    pub(super) fn write_scf_for(&mut self) -> Fits {
        if let Some(attr) = self.op_attr("unsignedCmp") {
            fits(attr == Attr::UNIT)?;
            self.word("unsigned");
        }
        let body = self.region_at(0)?;
        let arguments = self.header_arguments(body)?;
        let (variable, carried) = arguments.split_first().ok_or(Unfit)?;
        let ty = self.type_of(*variable);
        self.blank();
        self.value(*variable)?;
        for word in ["=", "to", "step"] {
            self.word(word);
            self.operand(ty)?;
        }
        self.write_carried("iter_args", carried)?;
        if ty != Type::INDEX {
            self.word(": ");
            self.text.ty(ty);
        }
        Ok(())
    }

    pub(super) fn write_scf_while(&mut self) -> Fits {
        let before = self.region_at(0)?;
        let arguments = self.header_arguments(before)?;
        let values = self.take_operands(self.n_left())?;
        if arguments.is_empty() {
            fits(values.is_empty())?;
        } else {
            self.word("(");
            self.write_assignments(&arguments, &values)?;
            self.text.push(")");
        }
        self.word(": ");
        let inputs: Vec<Type> = values.iter().map(|it| self.type_of(*it)).collect();
        let results = self.take_results()?;
        self.text.function_type(&inputs, &results);
        Ok(())
    }

    /// ` (%i, %j)`
    pub(super) fn write_list(&mut self, before: &str, values: &[Value]) -> Fits {
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.word(before);
        self.word("(");
        self.values(values)?;
        self.text.push(")");
        Ok(())
    }

    pub(super) fn write_scf_parallel(&mut self) -> Fits {
        let body = self.region_at(0)?;
        let variables = self.header_arguments(body)?;
        let [lower, upper, step, inits] = self.segment_sizes()?;
        fits([lower, upper, step].iter().all(|it| *it == variables.len()))?;
        self.write_list("", &variables)?;
        for word in ["=", "to", "step"] {
            let values = self.take_operands(variables.len())?;
            self.write_list(word, &values)?;
        }
        let inits = self.take_operands(inits)?;
        let types: Vec<Type> = inits.iter().map(|it| self.type_of(*it)).collect();
        fits(types == self.take_results()?)?;
        if !inits.is_empty() {
            self.word("init (");
            self.values(&inits)?;
            self.text.push(") -> ");
            self.text.result_types(&types);
        }
        Ok(())
    }

    pub(super) fn write_scf_reduce(&mut self) -> Fits {
        let values = self.take_operands(self.n_left())?;
        if !values.is_empty() {
            self.text.push("(");
            self.values_types(&values)?;
            self.text.push(")");
        }
        let mut at = 0;
        while let Ok(region) = self.region_at(at) {
            self.text.push(if at > 0 { "," } else { "" });
            self.braces(region)?;
            at += 1;
        }
        Ok(())
    }

    /// `%use` for each [`DYNAMIC`], and the integers, in brackets.
    pub(super) fn write_mixed(&mut self, open: &str, values: &[i64], close: &str) -> Fits {
        self.text.push(open);
        for (i, value) in values.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            if *value == DYNAMIC {
                let operand = self.take_operand()?;
                fits(self.type_of(operand) == Type::INDEX)?;
                self.value(operand)?;
            } else {
                self.text.push(&value.to_string());
            }
        }
        self.text.push(close);
        Ok(())
    }

    pub(super) fn write_scf_forall(&mut self) -> Fits {
        let body = self.region_at(0)?;
        let arguments = self.header_arguments(body)?;
        let [lower, upper, step] =
            ["staticLowerBound", "staticUpperBound", "staticStep"].map(|it| self.ints(it));
        let (lower, upper, step) = (lower?, upper?, step?);
        let n = upper.len();
        fits(lower.len() == n && step.len() == n && arguments.len() >= n)?;
        let (variables, outputs) = arguments.split_at(n);
        self.write_list("", variables)?;
        if lower.iter().all(|it| *it == 0) && step.iter().all(|it| *it == 1) {
            self.word("in ");
            self.write_mixed("(", &upper, ")")?;
        } else {
            for (word, values) in [("= ", &lower), ("to ", &upper), ("step ", &step)] {
                self.word(word);
                self.write_mixed("(", values, ")")?;
            }
        }
        self.write_carried("shared_outs", outputs)
    }

    pub(super) fn write_index_switch(&mut self) -> Fits {
        for (at, case) in self.ints("cases")?.into_iter().enumerate() {
            self.text.push("\n");
            self.line_start(0);
            self.text.push(&format!("case {case}"));
            let region = self.region_at(at + 1)?;
            // As `mlir-opt` does, which leaves out the default's alone.
            self.braces_and_end(region, true)?;
        }
        self.text.push("\n");
        self.line_start(0);
        self.text.push("default");
        let default = self.region_at(0)?;
        self.braces(default)
    }
}

//! Writers of bounds, accesses and applications of `affine`; their readers are in `grammar/affine.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::affine::{Affine, Body, Expr};
use crate::dialect::format::{DYNAMIC, RMW};
use crate::intern::Types;
use crate::{Attr, AttrData, Type, Value};

impl Printer<'_> {
    /// An affine map or set, an attribute of the op.
    fn map(&self, name: &str) -> Fits<(Attr, &Affine)> {
        let attr = self.op_attr(name).ok_or(Unfit)?;
        match self.ir.interner.attr_data(attr) {
            AttrData::Affine(map) => Ok((attr, map)),
            _ => Err(Unfit),
        }
    }

    /// `(%d0, %d1)[%s0]`
    fn write_dims_and_symbols(&mut self, n_dims: u32, values: &[Value]) -> Fits {
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        let (dims, symbols) = values.split_at_checked(n_dims as usize).ok_or(Unfit)?;
        self.text.push("(");
        self.values(dims)?;
        self.text.push(")");
        if !symbols.is_empty() {
            self.text.push("[");
            self.values(symbols)?;
            self.text.push("]");
        }
        Ok(())
    }

    pub(super) fn write_affine_apply(&mut self, name: &str) -> Fits {
        let (attr, map) = self.map(name)?;
        let (n_dims, n_inputs) = (map.n_dims, map.n_inputs());
        fits(map.is_set() == (name == "condition"))?;
        let values = self.take_operands(self.n_left())?;
        fits(values.len() == n_inputs)?;
        self.attr_word(attr, Types::All);
        self.write_dims_and_symbols(n_dims, &values)
    }

    /// Expressions over the operands of a map: `%i + 1, symbol(%n)`.
    fn write_exprs(&mut self, n_dims: u32, exprs: &[Expr], values: &[Value]) -> Fits {
        let names: Vec<String> = values
            .iter()
            .map(|it| self.value_name(*it).map(ToOwned::to_owned))
            .collect::<Fits<_>>()?;
        let leaf = |out: &mut String, leaf: &Expr| {
            let (at, is_symbol) = match leaf {
                Expr::Dim(at) => (*at, false),
                Expr::Symbol(at) => (n_dims + at, true),
                _ => return Ok(()),
            };
            // The numbers of leaves are below the number of operands, which was compared.
            let name = names.get(at as usize).ok_or(std::fmt::Error)?;
            out.push_str(&if is_symbol { format!("symbol({name})") } else { name.clone() });
            Ok(())
        };
        for (i, expr) in exprs.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            expr.write(&mut self.text.out, &leaf).map_err(|_| Unfit)?;
        }
        Ok(())
    }

    pub(super) fn write_affine_access(&mut self, name: &str) -> Fits {
        self.operand(Type::UNKNOWN)?;
        let (_, map) = self.map(name)?;
        let Body::Map(exprs) = &map.body else { return Err(Unfit) };
        let (n_dims, n_inputs, exprs) = (map.n_dims, map.n_inputs(), exprs.clone());
        let values = self.take_operands(n_inputs)?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.text.push("[");
        self.write_exprs(n_dims, &exprs, &values)?;
        self.text.push("]");
        Ok(())
    }

    pub(super) fn write_accessed_types(&mut self, maps: &[&str]) -> Fits {
        let mut at = 0;
        for (i, name) in maps.iter().enumerate() {
            if i > 0 {
                self.text.push(",");
            }
            self.blank();
            self.text.ty(self.operand_type(at)?);
            at += 1 + self.map(name)?.1.n_inputs();
        }
        Ok(())
    }

    pub(super) fn write_stride(&mut self) -> Fits {
        if self.n_left() == 0 {
            return Ok(());
        }
        self.text.push(",");
        self.operand(Type::INDEX)?;
        self.text.push(",");
        self.operand(Type::INDEX)
    }

    pub(super) fn write_prefetch_kind(&mut self) -> Fits {
        let is = |name: &str| match self.op_attr(name).map(|it| self.ir.interner.attr_data(it)) {
            Some(AttrData::Bool(value)) => Ok(*value),
            _ => Err(Unfit),
        };
        let kind = if is("isWrite")? { "write" } else { "read" };
        let cache = if is("isDataCache")? { "data" } else { "instr" };
        let text = format!("{kind}, locality<{}>, {cache}", self.int("localityHint")?);
        self.word(&text);
        Ok(())
    }

    fn write_bound(&mut self, name: &str, many: &str, n: usize) -> Fits {
        let values = self.take_operands(n)?;
        let (attr, map) = self.map(name)?;
        let map = map.clone();
        fits(!map.is_set() && map.n_inputs() == n)?;
        match &map.body {
            Body::Map(exprs) => match exprs.as_slice() {
                [] => return Err(Unfit),
                [Expr::Const(value)] if n == 0 => {
                    self.word(&value.to_string());
                    return Ok(());
                }
                [Expr::Symbol(0)] if map.n_dims == 0 && n == 1 => {
                    self.blank();
                    return self.values(&values);
                }
                [_] => {}
                _ => self.word(many),
            },
            Body::Set(_) => return Err(Unfit),
        }
        self.attr_word(attr, Types::All);
        self.write_dims_and_symbols(map.n_dims, &values)
    }

    pub(super) fn write_affine_for(&mut self) -> Fits {
        let body = self.region_at(0)?;
        let arguments = self.header_arguments(body)?;
        let (variable, carried) = arguments.split_first().ok_or(Unfit)?;
        fits(self.type_of(*variable) == Type::INDEX)?;
        let [n_lower, n_upper, _] = self.segment_sizes()?;
        self.blank();
        self.value(*variable)?;
        self.word("=");
        self.write_bound("lowerBoundMap", "max", n_lower)?;
        self.word("to");
        self.write_bound("upperBoundMap", "min", n_upper)?;
        let step = self.int("step")?;
        fits(step > 0)?;
        if step != 1 {
            self.word(&format!("step {step}"));
        }
        self.write_carried("iter_args", carried)
    }

    /// `(a, max(b, c))`: the results of a map in groups.
    fn write_bounds(&mut self, map: &Affine, groups: &[i64], many: &str) -> Fits {
        let values = self.take_operands(map.n_inputs())?;
        fits(values.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        let Body::Map(exprs) = &map.body else { return Err(Unfit) };
        let mut exprs = exprs.as_slice();
        self.word("(");
        for (i, &n) in groups.iter().enumerate() {
            let n = usize::try_from(n).map_err(|_| Unfit)?;
            let (group, rest) = exprs.split_at_checked(n).ok_or(Unfit)?;
            exprs = rest;
            self.text.push(if i > 0 { ", " } else { "" });
            if n != 1 {
                self.text.push(many);
                self.text.push("(");
            }
            self.write_exprs(map.n_dims, group, &values)?;
            self.text.push(if n == 1 { "" } else { ")" });
        }
        self.text.push(")");
        fits(exprs.is_empty())
    }

    pub(super) fn write_affine_parallel(&mut self) -> Fits {
        let ir = self.ir;
        let body = self.region_at(0)?;
        let variables = self.header_arguments(body)?;
        self.write_list("", &variables)?;
        for (word, many, map, groups) in [
            ("=", "max", "lowerBoundsMap", "lowerBoundsGroups"),
            ("to", "min", "upperBoundsMap", "upperBoundsGroups"),
        ] {
            let groups = self.op_attr(groups).ok_or(Unfit)?;
            let groups = ir.interner.element_ints(groups, variables.len()).ok_or(Unfit)?;
            let map = self.map(map)?.1.clone();
            self.word(word);
            self.write_bounds(&map, &groups, many)?;
        }
        let steps = self.ints("steps")?;
        fits(steps.len() == variables.len())?;
        if steps.iter().any(|it| *it != 1) {
            self.word("step ");
            self.write_mixed("(", &steps, ")")?;
        }
        let reductions = self.ints("reductions")?;
        if !reductions.is_empty() {
            self.word("reduce (");
            for (i, kind) in reductions.iter().enumerate() {
                let kind = usize::try_from(*kind).ok().and_then(|it| RMW.get(it)).ok_or(Unfit)?;
                self.text.push(if i > 0 { ", " } else { "" });
                self.text.push(&format!("\"{kind}\""));
            }
            self.text.push(")");
        }
        self.write_arrow_types()
    }

    pub(super) fn write_delinearize(&mut self) -> Fits {
        let basis = match self.op_attr("static_basis") {
            Some(_) => self.ints("static_basis")?,
            None => vec![DYNAMIC; self.n_left()],
        };
        self.word("into ");
        self.write_mixed("(", &basis, ")")?;
        self.other_attrs("");
        self.word(": ");
        let types = self.take_results()?;
        fits(!types.is_empty())?;
        self.text.types(&types);
        Ok(())
    }

    pub(super) fn write_linearize(&mut self) -> Fits {
        if let Some(attr) = self.op_attr("disjoint") {
            fits(attr == Attr::UNIT)?;
            self.word("disjoint");
        }
        let [n, _] = self.segment_sizes()?;
        let indices = self.take_operands(n)?;
        fits(indices.iter().all(|it| self.type_of(*it) == Type::INDEX))?;
        self.word("[");
        self.values(&indices)?;
        self.text.push("]");
        self.word("by ");
        let basis = self.ints("static_basis")?;
        self.write_mixed("(", &basis, ")")?;
        self.other_attrs("");
        self.word(": ");
        let ty = self.take_result()?;
        self.text.ty(ty);
        Ok(())
    }
}

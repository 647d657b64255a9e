//! Writers of the signature of `func.func` and of its body; their readers are in `grammar/func.rs`.

use super::printer::{Fits, Printer, Unfit, fits};
use crate::{Attr, AttrData, Type, TypeData};

impl Printer<'_> {
    pub(super) fn write_func_signature(&mut self) -> Fits {
        let ir = self.ir;
        let ty = self.op_attr("function_type").ok_or(Unfit)?;
        let AttrData::Type(ty) = ir.interner.attr_data(ty) else { return Err(Unfit) };
        let TypeData::Function { inputs, results } = ir.interner.type_data(*ty) else {
            return Err(Unfit);
        };
        let dicts = self.dicts("arg_attrs", inputs.len())?;
        let arguments = match self.body() {
            Some(body) => Some(self.header_arguments(body)?),
            None => None,
        };
        if let Some(arguments) = &arguments {
            let types: Vec<Type> = arguments.iter().map(|it| self.type_of(*it)).collect();
            fits(types[..] == **inputs)?;
        }
        self.text.push("(");
        for (i, ty) in inputs.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            if let Some(arguments) = &arguments {
                self.value(arguments[i])?;
                self.text.push(": ");
            }
            self.text.ty(*ty);
            self.write_dict(dicts[i]);
            if let Some(arguments) = &arguments {
                self.argument_location(arguments[i]);
            }
        }
        self.text.push(")");
        let dicts = self.dicts("res_attrs", results.len())?;
        if results.is_empty() {
            return Ok(());
        }
        self.text.push(" -> ");
        if dicts.iter().all(Option::is_none) {
            self.text.result_types(results);
            return Ok(());
        }
        self.text.push("(");
        for (i, ty) in results.iter().enumerate() {
            self.text.push(if i > 0 { ", " } else { "" });
            self.text.ty(*ty);
            self.write_dict(dicts[i]);
        }
        self.text.push(")");
        Ok(())
    }

    /// The body of the function, if it is no declaration.
    fn body(&self) -> Option<crate::Region> {
        let body = self.region_at(0).ok()?;
        let is_empty = self.ir.items(body).next().is_none()
            && self.ir.blocks(body).iter().all(|it| self.ir.block(*it).args.is_empty());
        (!is_empty).then_some(body)
    }

    /// The dictionaries of an array attribute of the op, one for each of `n`; empty ones are none.
    fn dicts(&self, name: &str, n: usize) -> Fits<Vec<Option<Attr>>> {
        let Some(attr) = self.op_attr(name) else { return Ok(vec![None; n]) };
        let AttrData::Array(dicts) = self.ir.interner.attr_data(attr) else { return Err(Unfit) };
        fits(dicts.len() == n)?;
        let dict = |it: &Attr| match self.ir.interner.attr_data(*it) {
            AttrData::Dict(entries) => Ok((!entries.is_empty()).then_some(*it)),
            _ => Err(Unfit),
        };
        dicts.iter().map(dict).collect()
    }

    fn write_dict(&mut self, dict: Option<Attr>) {
        if let Some(dict) = dict {
            self.text.push(" ");
            self.text.attr(dict);
        }
    }

    pub(super) fn write_function_body(&mut self) -> Fits {
        match self.body() {
            Some(body) => self.braces(body),
            None => {
                if self.region_at(0).is_ok() {
                    self.skip_region();
                }
                Ok(())
            }
        }
    }
}

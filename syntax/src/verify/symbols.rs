//! Symbols: one definition each, and calls of functions that are there.

use super::{Verifier, clash, is_understood};
use crate::{AttrData, Ir, Name, Op, OpKind, Region, Traits, Type, TypeData};

/// What a symbol means to who calls it: its first definition in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Callee {
    op: Op,
    /// Whether it is a function that was understood; and its type.
    is_func: bool,
    is_understood: bool,
    ty: Option<Type>,
}

impl Callee {
    pub(super) fn of(ir: &Ir, region: Region, name: Name) -> Option<Callee> {
        let &op = ir.symbol_defs(region, name).first()?;
        Some(Callee {
            op,
            is_func: ir.op(op).kind == OpKind::FuncFunc,
            is_understood: is_understood(ir, op),
            ty: function_type(ir, op),
        })
    }
}

/// The type of a function.
fn function_type(ir: &Ir, func: Op) -> Option<Type> {
    match ir.interner.attr_data(ir.attr(func, "function_type")?) {
        AttrData::Type(ty) => Some(*ty),
        _ => None,
    }
}

impl Verifier<'_> {
    pub(super) fn symbol_rules(&mut self, op: Op) {
        match self.ir.op(op).kind {
            OpKind::FuncFunc => self.declaration(op),
            OpKind::FuncCall => self.call(op),
            _ => {}
        }
        self.defined_once(op);
    }

    /// Whether an op has symbols of its own; the top of a chunk is a module.
    fn is_table(&self, op: Op) -> bool {
        let kind = self.ir.op(op).kind;
        kind == OpKind::Chunk || kind.has(Traits::SYMBOL_TABLE)
    }

    /// The region whose symbols an op sees.
    fn table(&self, op: Op) -> Option<Region> {
        let mut region = self.ir.op(op).parent;
        loop {
            let parent = self.ir.region(region).parent?;
            if self.is_table(parent) {
                return Some(region);
            }
            if self.ir.op(parent).kind == OpKind::Unknown {
                return None;
            }
            region = self.ir.op(parent).parent;
        }
    }

    fn defined_once(&mut self, op: Op) {
        let data = self.ir.op(op);
        if !data.kind.has(Traits::SYMBOL) {
            return;
        }
        let Some((name, span)) = self.ir.rest(op).symbol else { return };
        if !self.ir.region(data.parent).parent.is_some_and(|it| self.is_table(it)) {
            return;
        }
        let first = self.ir.symbol_defs(data.parent, name).first();
        if first.is_some_and(|&it| it != op && self.ir.op(it).kind.has(Traits::SYMBOL)) {
            let message = format!("redefinition of symbol named '{}'", self.ir.interner.str(name));
            self.tell_at(span, "redefined-symbol", message);
        }
    }

    /// The type of a function.
    pub(super) fn function_type(&self, func: Op) -> Option<Type> {
        function_type(self.ir, func)
    }

    fn declaration(&mut self, op: Op) {
        let data = self.ir.op(op);
        let is_declaration = data.regions.is_empty();
        let visibility = self.ir.attr(op, "sym_visibility");
        let is_private = visibility.is_some_and(|it| match self.ir.interner.attr_data(it) {
            AttrData::String(text, _) => self.ir.interner.str(*text) != "public",
            _ => true,
        });
        if is_declaration && !is_private && data.form == crate::Form::Custom {
            self.tell(op, "public-declaration", "symbol declaration cannot have public visibility");
        }
    }

    fn call(&mut self, op: Op) {
        let Some(callee) = self.ir.attr(op, "callee") else { return };
        let AttrData::Symbol(path) = self.ir.interner.attr_data(callee) else { return };
        let [name] = path[..] else { return };
        let Some(region) = self.table(op) else { return };
        let Some(func) = Callee::of(self.ir, region, name) else {
            let span =
                self.ir.rest(op).symbol_uses.first().map_or(self.ir.op(op).name_span, |it| it.2);
            let message =
                format!("'{}' does not reference a valid function", self.ir.interner.str(name));
            self.tell_at(span, UNKNOWN_FUNCTION, message);
            return;
        };
        if !func.is_func || !func.is_understood {
            return;
        }
        let Some(ty) = func.ty else { return };
        let TypeData::Function { inputs, results } = self.ir.interner.type_data(ty) else { return };
        let (inputs, results) = (inputs.clone(), results.clone());
        let data = self.ir.op(op);
        if data.operands.len() != inputs.len() {
            let message = format!(
                "passes {} operands, but '{}' takes {}",
                data.operands.len(),
                self.ir.interner.str(name),
                inputs.len()
            );
            self.tell(op, "call-operands", message);
            return;
        }
        for (at, &wanted) in inputs.iter().enumerate() {
            let given = self.operand_type(op, at);
            if clash(given, wanted) {
                let message =
                    format!("expects '{}', but got '{}'", self.show(wanted), self.show(given));
                self.tell_at(self.ir.op(op).operands[at].span, "call-operands", message);
                return;
            }
        }
        let given: Vec<Type> = data.results.iter().map(|it| self.value_type(*it)).collect();
        if given.is_empty() {
            return;
        }
        let differ =
            given.len() != results.len() || given.iter().zip(&results).any(|(a, b)| clash(*a, *b));
        if differ {
            let message =
                format!("the results differ from those of '{}'", self.ir.interner.str(name));
            self.tell(op, "call-results", message);
        }
    }
}

/// The code of a call of a function that is not there; a broken function may hide it.
pub(crate) const UNKNOWN_FUNCTION: &str = "unknown-function";

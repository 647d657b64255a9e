//! Symbols: one definition each, and calls of functions that are there.

use rustc_hash::FxHashMap;

use super::{Verifier, clash, is_in_known_regions, is_understood};
use crate::{AttrData, Name, Op, OpKind, Region, Traits, Type, TypeData};

impl Verifier<'_> {
    pub(super) fn symbol_rules(&mut self, op: Op) {
        match self.ir.op(op).kind {
            OpKind::FuncFunc => self.declaration(op),
            OpKind::FuncCall if is_in_known_regions(self.ir, op) => self.call(op),
            _ => {}
        }
        self.defined_once(op);
    }

    /// The region whose symbols an op sees, and defines.
    fn table(&self, op: Op) -> Option<Region> {
        let mut region = self.ir.op(op).parent;
        loop {
            let parent = self.ir.region(region).parent?;
            let kind = self.ir.op(parent).kind;
            if kind == OpKind::Chunk || kind.has(Traits::SYMBOL_TABLE) {
                return Some(region);
            }
            if kind == OpKind::Unknown {
                return None;
            }
            region = self.ir.op(parent).parent;
        }
    }

    fn symbols(&mut self, region: Region) -> &FxHashMap<Name, Op> {
        let ir = self.ir;
        self.symbols.entry(region).or_insert_with(|| {
            let mut out = FxHashMap::default();
            for op in ir.items(region) {
                if let Some((name, _)) = ir.rest(op).symbol {
                    out.entry(name).or_insert(op);
                }
            }
            out
        })
    }

    fn defined_once(&mut self, op: Op) {
        let data = self.ir.op(op);
        if !data.kind.has(Traits::SYMBOL) {
            return;
        }
        let Some((name, span)) = self.ir.rest(op).symbol else { return };
        let region = data.parent;
        let is_table = self.ir.region(region).parent.is_some_and(|it| {
            let kind = self.ir.op(it).kind;
            kind == OpKind::Chunk || kind.has(Traits::SYMBOL_TABLE)
        });
        if !is_table {
            return;
        }
        let first = self.symbols(region).get(&name).copied();
        if first.is_some_and(|it| it != op && self.ir.op(it).kind.has(Traits::SYMBOL)) {
            let message = format!("redefinition of symbol named '{}'", self.ir.interner.str(name));
            self.tell_at(span, "redefined-symbol", message);
        }
    }

    /// The type of a function.
    pub(super) fn function_type(&self, func: Op) -> Option<Type> {
        match self.ir.interner.attr_data(self.ir.attr(func, "function_type")?) {
            AttrData::Type(ty) => Some(*ty),
            _ => None,
        }
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
        let Some(func) = self.symbols(region).get(&name).copied() else {
            let span =
                self.ir.rest(op).symbol_uses.first().map_or(self.ir.op(op).name_span, |it| it.2);
            let message =
                format!("'{}' does not reference a valid function", self.ir.interner.str(name));
            self.tell_at(span, "unknown-function", message);
            return;
        };
        if self.ir.op(func).kind != OpKind::FuncFunc || !is_understood(self.ir, func) {
            return;
        }
        let Some(ty) = self.function_type(func) else { return };
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

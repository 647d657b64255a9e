//! Rules about symbols: each is defined once, and calls refer to existing functions.

use std::fmt;

use super::{Verifier, is_understood};
use crate::{
    Attr, AttrData, Code, Form, Ir, Name, Op, OpKind, Region, Span, Traits, Type, TypeData,
};

/// The first definition of a symbol in a region: the data that rules about its users read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SymbolDefinition {
    op: Op,
    kind: OpKind,
    /// True if it was parsed without a problem.
    is_understood: bool,
    ty: Option<Type>,
}

impl SymbolDefinition {
    pub(super) fn of(ir: &Ir, region: Region, name: Name) -> Option<SymbolDefinition> {
        let &op = ir.symbol_defs(region, name).first()?;
        Some(SymbolDefinition {
            op,
            kind: ir.op(op).kind,
            is_understood: is_understood(ir, op),
            ty: function_type(ir, op).or_else(|| global_type(ir, op)),
        })
    }

    /// Returns true if it is a known op of another kind. An unknown op may have any kind.
    fn is_other_than(&self, kind: OpKind) -> bool {
        self.kind.has(Traits::SYMBOL) && self.kind != kind
    }
}

/// The type of a function.
fn function_type(ir: &Ir, func: Op) -> Option<Type> {
    match ir.interner.attr_data(ir.attr(func, "function_type")?) {
        AttrData::Type(ty) => Some(*ty),
        _ => None,
    }
}

/// The type of a `memref.global`.
fn global_type(ir: &Ir, op: Op) -> Option<Type> {
    match ir
        .interner
        .attr_data(ir.attr(op, "type").filter(|_| ir.op(op).kind == OpKind::MemrefGlobal)?)
    {
        AttrData::Type(ty) => Some(*ty),
        _ => None,
    }
}

impl Verifier<'_> {
    /// The region of the nearest symbol table; `None` if an enclosing op is unknown.
    fn symbol_table_region(&self, op: Op) -> Option<Region> {
        let mut region = self.ir.op(op).parent;
        loop {
            let parent = self.ir.region(region).parent?;
            if self.ir.is_symbol_table(parent) {
                return Some(region);
            }
            if self.ir.op(parent).kind == OpKind::Unknown {
                return None;
            }
            region = self.ir.op(parent).parent;
        }
    }

    pub(super) fn check_symbol_definition(&mut self, op: Op) {
        let data = self.ir.op(op);
        if !data.kind.has(Traits::SYMBOL) {
            return;
        }
        let Some((name, span)) = self.ir.extra(op).symbol else { return };
        let Some(parent) = self.ir.region(data.parent).parent else { return };
        if !self.ir.is_symbol_table(parent) {
            if self.ir.op(parent).kind != OpKind::Unknown {
                let message = "symbol's parent must have the SymbolTable trait";
                self.report(op, Code::MisplacedSymbol, message);
            }
            return;
        }
        let first = self.ir.symbol_defs(data.parent, name).first();
        if first.is_some_and(|&it| it != op && self.ir.op(it).kind.has(Traits::SYMBOL)) {
            let message = format!("redefinition of symbol named '{}'", self.ir.interner.str(name));
            self.report_at(span, Code::RedefinedSymbol, message);
        }
    }

    /// The type of a function.
    pub(super) fn function_type(&self, func: Op) -> Option<Type> {
        function_type(self.ir, func)
    }

    /// Verifies that attributes of arguments and results have dialect names, and that a declaration
    /// is private.
    pub(crate) fn check_function(&mut self, op: Op) {
        for (attrs, what) in [("arg_attrs", "arguments"), ("res_attrs", "results")] {
            let Some(attr) = self.ir.attr(op, attrs) else { continue };
            let AttrData::Array(list) = self.ir.interner.attr_data(attr) else { continue };
            let plain = |it: &Attr| match self.ir.interner.attr_data(*it) {
                AttrData::Dict(dict) => {
                    dict.iter().any(|it| !self.ir.interner.str(it.0).contains('.'))
                }
                _ => false,
            };
            if list.iter().any(plain) {
                let message = format!("{what} may only have dialect attributes");
                self.report(op, Code::AttributeName, message);
                return;
            }
            let n = self.function_type(op).and_then(|it| match self.ir.interner.type_data(it) {
                TypeData::Function { inputs, .. } if attrs == "arg_attrs" => Some(inputs.len()),
                TypeData::Function { results, .. } => Some(results.len()),
                _ => None,
            });
            if let Some(n) = n
                && n != list.len()
            {
                let message = format!("has attributes of {} {what}, but {n} {what}", list.len());
                self.report(op, Code::AttributeCount, message);
                return;
            }
        }
        let data = self.ir.op(op);
        let is_empty =
            |it: &(u32, Region)| data.form == Form::Generic && self.ir.items(it.1).next().is_none();
        let is_declaration = data.regions.iter().all(is_empty);
        let visibility = self.ir.attr(op, "sym_visibility");
        let is_public = visibility.is_none_or(|it| match self.ir.interner.attr_data(it) {
            AttrData::String(text, _) => self.ir.interner.str(*text) == "public",
            _ => false,
        });
        if is_declaration && is_public {
            self.report(
                op,
                Code::PublicDeclaration,
                "symbol declaration cannot have public visibility",
            );
        }
    }

    /// Resolves the function to which an attribute refers, and returns its name and type. Reports
    /// an undefined function.
    fn resolve_callee(&mut self, op: Op, attr: &str) -> Option<(Name, Type)> {
        let symbol = self.ir.attr(op, attr)?;
        let AttrData::Symbol(path) = self.ir.interner.attr_data(symbol) else { return None };
        let [name] = path[..] else { return None };
        let region = self.symbol_table_region(op)?;
        match SymbolDefinition::of(self.ir, region, name) {
            Some(func) if func.kind == OpKind::FuncFunc => {
                func.ty.filter(|_| func.is_understood).map(|ty| (name, ty))
            }
            // An op of another dialect may define this symbol, so nothing is known about it.
            Some(func) if !func.kind.has(Traits::SYMBOL) => None,
            _ => {
                let message =
                    format!("'{}' does not reference a valid function", self.ir.interner.str(name));
                self.report_at(self.symbol_span(op), Code::UnknownFunction, message);
                None
            }
        }
    }

    /// The span of the first symbol that an op refers to.
    fn symbol_span(&self, op: Op) -> Span {
        let uses = &self.ir.extra(op).symbol_uses;
        uses.first().map_or(self.ir.op(op).name_span, |it| it.2)
    }

    /// Verifies that `memref.get_global` refers to a global of its type.
    pub(crate) fn check_global_reference(&mut self, op: Op) {
        let Some(symbol) = self.ir.attr(op, "name") else { return };
        let AttrData::Symbol(path) = self.ir.interner.attr_data(symbol) else { return };
        let ([name], Some(region)) = (&path[..], self.symbol_table_region(op)) else { return };
        let named = SymbolDefinition::of(self.ir, region, *name);
        if named.is_none_or(|it| it.is_other_than(OpKind::MemrefGlobal)) {
            let name = self.ir.interner.str(*name);
            let message = format!("'{name}' does not reference a valid global memref");
            self.report_at(self.symbol_span(op), Code::AttributeValue, message);
            return;
        }
        let global = named.filter(|it| it.is_understood);
        let Some(ty) = global.and_then(|it| it.ty) else { return };
        let Some(&result) = self.ir.op(op).results.first() else { return };
        let given = self.value_type(result);
        if self.is_type_clash(given, ty) {
            let message = format!(
                "the result has type '{}', but the global has type '{}'",
                self.type_text(given),
                self.type_text(ty)
            );
            self.report(op, Code::TypesDiffer, message);
        }
    }

    /// Verifies that `func.constant` has the type of its function.
    pub(crate) fn check_function_constant(&mut self, op: Op) {
        let Some((name, ty)) = self.resolve_callee(op, "value") else { return };
        let Some(&result) = self.ir.op(op).results.first() else { return };
        let given = self.value_type(result);
        if self.is_type_clash(given, ty) {
            let message = format!(
                "refers to '{}' as '{}', but it is '{}'",
                self.ir.interner.str(name),
                self.type_text(given),
                self.type_text(ty)
            );
            self.report(op, Code::FunctionType, message);
        }
    }

    pub(crate) fn check_call(&mut self, op: Op) {
        let Some((name, ty)) = self.resolve_callee(op, "callee") else { return };
        let name = self.ir.interner.str(name);
        self.check_call_types(op, 0, format_args!("'{name}'"), ty);
    }

    /// Verifies that the operands and results of `func.call_indirect` have the types of the callee,
    /// which is the first operand. Only the generic form can violate this.
    pub(crate) fn check_call_indirect(&mut self, op: Op) {
        self.check_call_types(op, 1, format_args!("the callee"), self.operand_type(op, 0));
    }

    /// Verifies that the operands from `first` on and the results have the types of a function
    /// type.
    fn check_call_types(&mut self, op: Op, first: usize, name: fmt::Arguments<'_>, ty: Type) {
        let TypeData::Function { inputs, results } = self.ir.interner.type_data(ty) else { return };
        let data = self.ir.op(op);
        let n = data.operands.len().saturating_sub(first);
        if n != inputs.len() {
            let message = format!("passes {n} operands, but {name} takes {}", inputs.len());
            self.report(op, Code::CallOperands, message);
            return;
        }
        for (at, &wanted) in inputs.iter().enumerate() {
            let given = self.operand_type(op, first + at);
            if self.is_type_clash(given, wanted) {
                let message = format!(
                    "expects '{}', but got '{}'",
                    self.type_text(wanted),
                    self.type_text(given)
                );
                self.report_at(data.operands[first + at].span, Code::CallOperands, message);
                return;
            }
        }
        if data.results.len() != results.len() {
            let message =
                format!("has {} results, but {name} gives {}", data.results.len(), results.len());
            self.report(op, Code::CallResults, message);
            return;
        }
        for (&value, &wanted) in data.results.iter().zip(results) {
            let given = self.value_type(value);
            if self.is_type_clash(given, wanted) {
                let message = format!(
                    "gives '{}', but the result of {name} is '{}'",
                    self.type_text(given),
                    self.type_text(wanted)
                );
                self.report(op, Code::CallResults, message);
                return;
            }
        }
    }
}

//! Advice on the block and the results of HEIR's `secret.generic`.

use std::ops::Range;

use super::{Adviser, words};
use crate::{Code, Op, Region, Type, Value};

/// Maximum number of ops that are searched for names.
const MAX_ITEMS: usize = 256;
/// Maximum number of users of an argument that are changed when its type changes.
const MAX_USES: usize = 16;

impl Adviser<'_> {
    /// The type inside a secret; any other type is returned unchanged.
    pub(super) fn secret_content_type(&self, ty: Type) -> Type {
        self.ir.interner.secret_element(ty).unwrap_or(ty)
    }

    /// The block argument of the enclosing generic that corresponds to a secret operand.
    pub(super) fn block_argument_for(&self, value: Value) -> Option<Value> {
        let mut around = self.ir.parent_op(self.op)?;
        while !self.ir.is_secret_generic(around) {
            around = self.ir.parent_op(around)?;
        }
        let data = self.ir.op(around);
        let at = data.operands.iter().position(|it| it.value == Some(value))?;
        let region = data.regions.first()?.1;
        self.ir.block(self.ir.entry_block(region)).args.get(at).copied()
    }

    /// Advises on the arguments of the block of a `secret.generic`.
    pub(super) fn advise_on_entry_arguments(&mut self) {
        if !self.ir.is_secret_generic(self.op) {
            return;
        }
        let data = self.ir.op(self.op);
        let Some(&(_, region)) = data.regions.first() else { return };
        let entry = self.ir.block(self.ir.entry_block(region));
        let (label, arguments) = (entry.label, entry.args.to_vec());
        if arguments.len() != data.operands.len() {
            return self.advise_on_argument_count(region, label, &arguments);
        }
        let number = self.problem.message.strip_prefix("argument ");
        let at = number.and_then(|it| it.split(' ').next()?.parse().ok());
        let Some((at, label)) = at.filter(|&it: &usize| it < arguments.len()).zip(label) else {
            return;
        };
        let (argument, operand) = (arguments[at], data.operands[at]);
        let Some(value) = operand.value else { return };
        let (name, own) = (self.ir.value_text(argument), self.type_of(argument));
        let (given, wanted) = (self.type_of(value), self.secret_content_type(self.type_of(value)));
        let (found, inside) = (self.type_text(own), self.type_text(wanted));
        let passed = self.ir.value_text(value);
        self.set_message(format!(
            "{name} has type {found}, but {passed} passes {inside} into the block"
        ));
        let place = self.ir.absolute(label, self.ir.value(argument).span);
        self.add_related(place, format!("{name} has type {found}"));
        let place = self.ir.absolute(self.op, operand.span);
        self.add_related(place, format!("{passed} has type {}", self.type_text(given)));
        self.set_help(format!("Write the type {inside}: the block computes on the values inside"));
        let Some(text) = self.ir.interner.insertable_type_text(wanted) else { return };
        let Some(own) = self.ir.interner.insertable_type_text(own) else { return };
        let Some(place) = self.argument_type_range(label, argument, &own) else { return };
        self.propose_replacement(format!("Write the type {inside}"), place.clone(), text.clone());
        let mut edits = vec![(place, text.clone())];
        for &(user, _) in self.ir.value(argument).uses.iter().take(MAX_USES) {
            let range = self.ir.head_range(user);
            let header = self.source.slice(range.start..range.end.min(range.start + 4096));
            if let Some(from) = header.rfind(&own) {
                let start = range.start + from;
                edits.push((start..start + own.len(), text.clone()));
            }
        }
        edits.sort_by_key(|it| it.0.start);
        edits.dedup_by(|b, a| a.0 == b.0);
        if edits.len() > 1 {
            self.propose(format!("Write the type {inside}, also where {name} is used"), edits);
        }
    }

    /// The range of the type that follows the name of an argument.
    fn argument_type_range(&self, label: Op, argument: Value, own: &str) -> Option<Range<usize>> {
        let name = self.ir.absolute(label, self.ir.value(argument).span);
        let rest = self.source.slice(name.end..self.ir.range(label).end);
        let start = name.end + rest.find(own)?;
        Some(start..start + own.len())
    }

    fn advise_on_argument_count(&mut self, region: Region, label: Option<Op>, arguments: &[Value]) {
        let operands = self.ir.op(self.op).operands.clone();
        self.set_message(format!(
            "the block of `secret.generic` has {} for {}",
            words::count_text(arguments.len(), "argument"),
            words::count_text(operands.len(), "operand")
        ));
        if let Some(label) = label {
            self.add_related(self.ir.range(label), "the arguments of the block");
        }
        if arguments.len() > operands.len() {
            let extra = arguments[operands.len()];
            let (name, ty) = (self.ir.value_text(extra), self.type_of(extra));
            self.set_help(format!(
                "Pass an operand for {name}, of type `!secret.secret<{}>`, or remove the argument",
                self.type_text(ty)
            ));
            let Some(last) = operands.last() else { return };
            let text = self.source.slice(self.ir.head_range(self.op));
            let end = self.ir.absolute(self.op, last.span).end - self.ir.range(self.op).start;
            let Some(close) = text.get(end..).and_then(|it| it.find(')')) else { return };
            let at = self.ir.range(self.op).start + end + close;
            let mut values = self.visible_values();
            values.sort_by_key(|&it| !self.ir.value(it).uses.is_empty());
            for value in values {
                let outer = self.type_of(value);
                if outer != ty && self.secret_content_type(outer) == ty {
                    let name = self.ir.value_text(value);
                    let Some(ty) = self.ir.interner.insertable_type_text(outer) else { continue };
                    self.propose_insertion(format!("Pass {name}"), at, format!(", {name}: {ty}"));
                }
            }
            return;
        }
        let missing = operands.iter().skip(arguments.len()).filter_map(|it| it.value);
        let types: Option<Vec<String>> = missing
            .map(|it| {
                self.ir.interner.insertable_type_text(self.secret_content_type(self.type_of(it)))
            })
            .collect();
        let Some(types) = types else { return };
        self.set_help(format!(
            "Add an argument of type {} to the block",
            types.join(" and one of ")
        ));
        let n = arguments.len();
        let is_free = |it: &String| self.is_unused_name_in(region, it);
        // Undefined names that are used in the block come first.
        let items = self.ir.items(region).take(MAX_ITEMS);
        let operands = items.flat_map(|it| self.ir.op(it).operands.iter());
        let missing = operands.filter(|it| it.value.is_none() && it.name != crate::Name::EMPTY);
        let mut used: Vec<String> =
            missing.map(|it| self.ir.interner.str(it.name).to_owned()).collect();
        used.dedup();
        let mut names = used.into_iter().chain((n..).map(|it| format!("arg{it}"))).filter(is_free);
        let new: Vec<String> =
            types.iter().map(|ty| format!("%{}: {ty}", names.next().unwrap_or_default())).collect();
        let new = new.join(", ");
        let title = format!("Add the argument {new}");
        match label {
            Some(label) => {
                let range = self.ir.range(label);
                let text = self.source.slice(range.clone());
                match (text.rfind(')'), text.rfind(':')) {
                    (Some(close), _) if n > 0 => {
                        self.propose_insertion(title, range.start + close, format!(", {new}"));
                    }
                    (Some(close), _) => self.propose_insertion(title, range.start + close, new),
                    (None, Some(colon)) => {
                        self.propose_insertion(title, range.start + colon, format!("({new})"));
                    }
                    (None, None) => {}
                }
            }
            None => {
                let at = self.ir.region_start(region);
                let indentation = self.source.indentation(self.ir.range(self.op).start);
                self.propose_insertion(title, at, format!("\n{indentation}^body({new}):"));
            }
        }
    }

    /// Proposes the secret type of a yielded value as the type of a result of the generic.
    pub(super) fn propose_result_type(&mut self, generic: Op, n: usize, value: Value) {
        let Some(&result) = self.ir.op(generic).results.get(n) else { return };
        let Some(old) = self.ir.interner.insertable_type_text(self.type_of(result)) else { return };
        let Some(inside) = self.ir.interner.insertable_type_text(self.type_of(value)) else {
            return;
        };
        let new = format!("!secret.secret<{inside}>");
        let Some(&(_, region)) = self.ir.op(generic).regions.first() else { return };
        let start = self.ir.region_start(region) + self.ir.region_len(region);
        let text = self.source.slice(start..self.ir.range(generic).end);
        let arrow = text.find("->").unwrap_or(text.len());
        let mut places = text[arrow..].match_indices(&old).map(|it| start + arrow + it.0);
        if let Some(at) = places.nth(if self.ir.op(generic).results.len() > 1 { n } else { 0 }) {
            self.propose_replacement(
                format!("Write the result type {new}"),
                at..at + old.len(),
                new,
            );
        }
    }

    /// Advises on an undefined name in a generic with fewer arguments than operands. Returns true
    /// if it gave advice.
    pub(super) fn advise_on_missing_argument(&mut self, name: &str, wanted: Type) -> bool {
        let around = self.ir.parent_op(self.op).filter(|&it| self.ir.is_secret_generic(it));
        let Some(around) = around else { return false };
        let data = self.ir.op(around);
        let Some(&(_, region)) = data.regions.first() else { return false };
        let entry = self.ir.block(self.ir.entry_block(region));
        let Some(label) = entry.label else { return false };
        let n = entry.args.len();
        let Some(operand) = data.operands.get(n) else { return false };
        let Some(value) = operand.value else { return false };
        let inside = self.secret_content_type(self.type_of(value));
        let fits = wanted == Type::UNKNOWN || self.ir.interner.is_same_type(inside, wanted);
        let Some(text) = self.ir.interner.insertable_type_text(inside).filter(|_| fits) else {
            return false;
        };
        let passed = self.ir.value_text(value);
        let place = self.ir.absolute(around, operand.span);
        self.add_related(place, format!("{passed} has no argument in the block"));
        self.set_help(format!("Add %{name} to the arguments of the block, for {passed}"));
        let range = self.ir.range(label);
        let Some(close) = self.source.slice(range.clone()).rfind(')') else { return true };
        let lead = if n > 0 { ", " } else { "" };
        self.propose_insertion(
            format!("Add the argument %{name}: {text}"),
            range.start + close,
            format!("{lead}%{name}: {text}"),
        );
        true
    }

    /// Advises on a result of a generic that is not a secret. Returns true if it gave advice.
    pub(super) fn advise_on_plain_result(&mut self) -> bool {
        if !self.ir.is_secret_generic(self.op) || self.problem.code != Code::ResultType {
            return false;
        }
        let results = self.ir.op(self.op).results.clone();
        let is_plain =
            |it: &Value| self.secret_content_type(self.type_of(*it)) == self.type_of(*it);
        let Some(result) = results.into_iter().find(is_plain) else { return false };
        let own = self.type_of(result);
        let (name, shown) = (self.ir.value_text(result), self.type_text(own));
        let secret = format!("!secret.secret<{shown}>");
        self.set_message(format!("{name} has type {shown}, but `secret.generic` returns secrets"));
        self.set_help(format!("Write `{secret}`"));
        let Some(text) = self.ir.interner.insertable_type_text(own) else { return true };
        let types = self.problem_text();
        if let Some(at) = types.find(&text) {
            let start = self.range.start + at;
            self.propose_replacement(format!("Write {secret}"), start..start + text.len(), secret);
        }
        true
    }
}

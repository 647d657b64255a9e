//! Advice on type mismatches, and on literals that do not fit their types.

use std::ops::Range;

use super::Adviser;
use super::convert::ScalarKind;
use crate::{Def, Op, OpKind, TokenKind, Type, Value};

/// Maximum number of other values that are proposed.
const MAX_VALUES: usize = 2;

impl Adviser<'_> {
    pub(super) fn advise_on_type_clash(&mut self) {
        let Some((n, Some(value))) = self.problem_operand() else { return };
        let wanted = self.ir.op(self.op).operands[n].ty;
        let found = self.type_of(value);
        let written = self.problem_text();
        let (found_text, wanted_text) = (self.type_text(found), self.type_text(wanted));
        let op = self.ir.op_name(self.op).to_owned();
        self.set_message(format!(
            "{written} has type {found_text}, but `{op}` expects {wanted_text} here"
        ));
        self.add_related_definition(value);
        let imposed = self.type_ranges_in_header(&wanted_text).into_iter().next();
        if let Some(range) = imposed.clone() {
            self.add_related(range, format!("expected because of this type, {wanted_text}"));
        }
        if self.advise_on_swapped_types() {
            return;
        }
        let conversions = self.conversion_ops(found, wanted);
        self.set_help(match (conversions.first(), &imposed) {
            (Some((by, _)), _) => {
                format!("Convert {written} by `{by}`, or use a value of type {wanted_text}")
            }
            (None, Some(_)) => format!(
                "Write the type {found_text} in `{op}`, or use a value of type {wanted_text}"
            ),
            (None, None) => format!("Use a value of type {wanted_text}"),
        });
        let place = self.range.clone();
        if let Some(inside) =
            self.block_argument_for(value).filter(|&it| self.is_of_type(it, wanted))
        {
            let name = self.ir.value_text(inside);
            self.set_help(format!("Use {name}, which is {written} inside the `secret.generic`"));
            self.propose_replacement(format!("Use {name}"), place, name);
            return self.mark_as_sure();
        }
        self.propose_converted_value(&place, value, wanted);
        self.propose_constant_type(value, &wanted_text);
        if imposed.is_some()
            && let Some(text) = self.ir.interner.insertable_type_text(found)
        {
            let places = self.type_ranges_in_header(&wanted_text);
            if let Some(one) = places.first() {
                self.propose_replacement(
                    format!("Write the type {found_text}"),
                    one.clone(),
                    text.clone(),
                );
            }
            if places.len() > 1 {
                let edits = places.into_iter().map(|it| (it, text.clone())).collect();
                self.propose(format!("Write the type {found_text} throughout"), edits);
            }
        }
        if let Some(text) = self.ir.interner.insertable_type_text(wanted) {
            self.propose_conversion(&place, value, wanted, &text);
        }
        self.propose_equivalent_op(found);
        self.propose_other_values(&place, wanted, value);
    }

    /// Proposes the result of an existing op that converts the value to the expected type.
    fn propose_converted_value(&mut self, place: &Range<usize>, value: Value, wanted: Type) {
        let conversions = self.conversion_ops(self.type_of(value), wanted);
        for other in self.values_of_type(wanted) {
            let Def::Result(def, _) = self.ir.value(other).def else { continue };
            let name = self.ir.op_name(def);
            let is_conversion = conversions.iter().any(|it| it.0 == name);
            let is_of_value = self.ir.op(def).operands.iter().any(|it| it.value == Some(value));
            if is_conversion && is_of_value && self.ir.is_before(def, self.op) {
                let (name, by) = (self.ir.value_text(other), name.to_owned());
                self.set_help(format!("Use {name}, which `{by}` converts"));
                return self.propose_replacement(format!("Use {name}"), place.clone(), name);
            }
        }
    }

    /// Proposes the expected type for a constant without a stated type.
    fn propose_constant_type(&mut self, value: Value, wanted: &str) {
        let Def::Result(def, _) = self.ir.value(value).def else { return };
        let range = self.ir.range(def);
        let is_constant = self.ir.op(def).kind == OpKind::ArithConstant && range.len() < 256;
        if is_constant && !self.source.slice(range.clone()).contains(':') {
            let name = self.ir.value_text(value);
            self.set_help(format!("Write the type of the constant {name}: `: {wanted}`"));
            self.propose_insertion(
                format!("Write the type {wanted} of {name}"),
                range.end,
                format!(" : {wanted}"),
            );
        }
    }

    /// Advises on `noisy.decode %a : i5 -> !noisy.i32`: the types are in the wrong order. Returns
    /// true if it gave advice.
    fn advise_on_swapped_types(&mut self) -> bool {
        if !matches!(self.ir.op_name(self.op), "noisy.decode" | "noisy.encode")
            && !self
                .ir
                .op(self.op)
                .kind
                .spec()
                .syntax
                .iter()
                .any(|it| matches!(it, crate::dialect::Element::Word("to")))
        {
            return false;
        }
        let window = self.window();
        let Some(colon) = window.tokens.iter().position(|it| it.kind == TokenKind::Colon) else {
            return false;
        };
        let types: Vec<_> = window.tokens[colon + 1..].iter().take(3).copied().collect();
        let [a, word, b] = types[..] else { return false };
        let Some((n, Some(value))) = self.problem_operand() else { return false };
        let is_between = word.kind == TokenKind::Arrow || window.str(word) == "to";
        if n != 0 || !is_between || window.str(b) != self.type_text(self.type_of(value)) {
            return false;
        }
        let (first, second) = (window.str(a).to_owned(), window.str(b).to_owned());
        let op = self.ir.op_name(self.op).to_owned();
        self.set_message(format!(
            "the types of `{op}` are swapped: {} has type {second}",
            self.problem_text()
        ));
        let word = window.str(word).to_owned();
        self.set_help(format!("Write `: {second} {word} {first}`"));
        self.propose("Swap the types", vec![(window.range(a), second), (window.range(b), first)]);
        self.mark_as_sure();
        true
    }

    fn add_related_definition(&mut self, value: Value) {
        let ty = self.type_text(self.type_of(value));
        let name = self.ir.value_text(value);
        if let Some(range) = self.definition_range(value) {
            self.add_related(range, format!("{name} is defined here, with type {ty}"));
        }
    }

    /// Proposes other values of the expected type.
    pub(super) fn propose_other_values(&mut self, place: &Range<usize>, ty: Type, value: Value) {
        let others = self.values_of_type(ty);
        for it in others.into_iter().filter(|&it| it != value).take(MAX_VALUES) {
            let name = self.ir.value_text(it);
            self.propose_replacement(format!("Use {name}"), place.clone(), name);
        }
    }

    /// The index of the operand in a message with `operand #1`.
    fn numbered_operand(&self) -> Option<usize> {
        let (_, rest) = self.problem.message.split_once("operand #")?;
        let n = rest.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok()?;
        (n < self.ir.op(self.op).operands.len()).then_some(n)
    }

    pub(super) fn advise_on_operand_type(&mut self) {
        let here = self.problem_operand().map(|it| it.0);
        let Some(n) = here.or_else(|| self.numbered_operand()) else {
            // The operands have different types.
            return self.advise_on_different_types();
        };
        let data = self.ir.op(self.op);
        let operand = data.operands[n];
        let place = self.ir.absolute(self.op, operand.span);
        let written = self.source.slice(place.clone());
        let op = self.ir.op_name(self.op).to_owned();
        let Some(value) = operand.value else { return };
        let found = match self.type_of(value) {
            Type::UNKNOWN => operand.ty,
            it => it,
        };
        let found_text = self.type_text(found);
        self.add_related_definition(value);
        if data.kind == OpKind::FuncReturn {
            return self.advise_on_returned_value(n, value, &place);
        }
        let wanted = plain_words(&self.problem.message);
        let number = format!("operand #{n}");
        let wanted = wanted.replacen(&number, &format!("operand {written} of `{op}`"), 1);
        self.set_message(wanted);
        self.set_help(format!("Convert {written}, or use an op for {found_text}"));
        if let Some(other) = self.propose_equivalent_op(found) {
            self.set_help(format!("Use `{other}`, the op for {found_text}"));
            if self.scalar_kind(found) == ScalarKind::Noisy {
                self.mark_as_sure();
            }
        }
        if op == "noisy.encode" {
            self.advise_on_encode_operand(value, found, &place);
        }
        for ty in [Type::INDEX, Type::I1] {
            let name = self.type_text(ty);
            if self.problem.message.contains(&name) {
                self.propose_conversion(&place, value, ty, &name);
                self.propose_other_values(&place, ty, value);
            }
        }
        if self.problem.message.contains("noisy") {
            let text = "!noisy.i32";
            if let Some(ty) = self.noisy_type() {
                self.propose_conversion(&place, value, ty, text);
                self.propose_other_values(&place, ty, value);
            }
        }
    }

    fn noisy_type(&self) -> Option<Type> {
        let all = self.visible_values();
        all.into_iter()
            .map(|it| self.type_of(it))
            .find(|&it| self.scalar_kind(it) == ScalarKind::Noisy)
    }

    /// Advises on `noisy.encode` of an integer of more than 5 bits.
    fn advise_on_encode_operand(&mut self, value: Value, found: Type, place: &Range<usize>) {
        let start = self.ir.range(self.op).start;
        let (own, name) = (self.type_text(found), self.ir.value_text(value));
        let by = match self.scalar_kind(found) {
            ScalarKind::Int(_) => "arith.trunci",
            ScalarKind::Index => "arith.index_cast",
            ScalarKind::Float(_) => "arith.fptosi",
            _ => return self.set_help("Only integers of 1 to 5 bits can be encoded"),
        };
        self.set_help(format!(
            "Integers of 1 to 5 bits can be encoded: convert {name} to i5 by `{by}` first, if its value fits"
        ));
        if !self.source.is_first_on_line(start) {
            return;
        }
        let indentation = self.source.indentation(start);
        let fresh = self.unused_name(self.bare_name(value));
        let line = format!("%{fresh} = {by} {name} : {own} to i5\n{indentation}");
        let mut edits = vec![(start..start, line), (place.clone(), format!("%{fresh}"))];
        edits.extend(
            self.type_ranges_in_header(&own).into_iter().take(1).map(|it| (it, "i5".to_owned())),
        );
        self.propose(format!("Convert {name} to i5 by {by}"), edits);
    }

    /// Advises on a `return` whose type differs from the result type of the function.
    fn advise_on_returned_value(&mut self, n: usize, value: Value, place: &Range<usize>) {
        let Some(function) = self.function() else { return };
        let Some((_, results)) = self.signature(function) else { return };
        let Some(&wanted) = results.get(n) else { return };
        let name = self.symbol(function).map_or(String::new(), |it| format!("@{}", it.1));
        let written = self.ir.value_text(value);
        let (found, text) = (self.type_text(self.type_of(value)), self.type_text(wanted));
        self.set_message(format!(
            "`return` gives {written} of type {found}, but {name} returns {text}"
        ));
        let declared = self.result_types_range(function);
        if let Some(range) = declared.clone() {
            self.add_related(range, format!("{name} is declared to return {text} here"));
        }
        self.set_help(format!(
            "Return a value of type {text}, or change the type that {name} returns"
        ));
        let own = self.type_ranges_in_header(&found).into_iter().nth(0);
        let mut others = Vec::new();
        for it in self.values_of_type(wanted).into_iter().take(MAX_VALUES) {
            let other = self.ir.value_text(it);
            let mut edits = vec![(place.clone(), other.clone())];
            edits.extend(own.clone().map(|it| (it, text.clone())));
            others.push((format!("Return {other}"), edits));
        }
        // If the returned result has no other use, returning another value would make its op
        // unused.
        let is_dropped = self.ir.value(value).uses.len() == 1
            && matches!(self.ir.value(value).def, Def::Result(..));
        if !is_dropped {
            for (title, edits) in others.drain(..) {
                self.propose(title, edits);
            }
        }
        self.propose_conversion(place, value, wanted, &text);
        if results.len() == 1
            && let Some(range) = declared
        {
            self.propose_replacement(format!("Let {name} return {found}"), range, found);
        }
        for (title, edits) in others {
            self.propose(title, edits);
        }
    }

    /// The range of the result types in the header of a function.
    pub(super) fn result_types_range(&self, function: Op) -> Option<Range<usize>> {
        let range = self.ir.head_range(function);
        let text = self.source.slice(range.start..range.end.min(range.start + 4096));
        let arrow = text.rfind("->")?;
        let from = arrow + 2 + text[arrow + 2..].len() - text[arrow + 2..].trim_start().len();
        let rest = text[from..].trim_end().trim_end_matches('{').trim_end();
        let rest = rest.split(" attributes").next().unwrap_or(rest).trim_end();
        (!rest.is_empty()).then(|| range.start + from..range.start + from + rest.len())
    }

    /// Advises on operands that must have one type.
    fn advise_on_different_types(&mut self) {
        let operands = &self.ir.op(self.op).operands;
        let values: Vec<Value> = operands.iter().filter_map(|it| it.value).collect();
        for it in values.iter().take(3) {
            self.add_related_definition(*it);
        }
        let message = plain_words(&self.problem.message);
        self.set_message(message);
        if let [a, b, ..] = values[..] {
            let (from, to) = (self.type_of(b), self.type_of(a));
            let names = (self.ir.value_text(a), self.ir.value_text(b));
            self.set_help(format!("Convert {} or {}: both must have one type", names.0, names.1));
            let place = self.ir.absolute(self.op, operands[1].span);
            if let Some(text) = self.ir.interner.insertable_type_text(to) {
                self.propose_conversion(&place, b, to, &text);
            }
            let place = self.ir.absolute(self.op, operands[0].span);
            if let Some(text) = self.ir.interner.insertable_type_text(from) {
                self.propose_conversion(&place, a, from, &text);
            }
        }
    }

    pub(super) fn advise_on_result_type(&mut self) {
        if self.advise_on_plain_result() {
            return;
        }
        let message = plain_words(&self.problem.message);
        self.set_message(message);
        for operand in self.ir.op(self.op).operands.clone().into_iter().take(2) {
            if let Some(value) = operand.value {
                self.add_related_definition(value);
            }
        }
        let results = self.ir.op(self.op).results.clone();
        for value in results.into_iter().take(1) {
            let own = self.type_text(self.type_of(value));
            self.set_help(format!(
                "Write a type other than {own} for the result of `{}`",
                self.ir.op_name(self.op)
            ));
            let place = self.type_ranges_in_header(&own).pop();
            let mut types = self.likely_types();
            types.extend(["i5", "i1", "!noisy.i32", "f64"].map(str::to_owned));
            // Types that are quoted in the message come first.
            let quoted = self.problem.message.split('\'').skip(1).step_by(2).map(str::to_owned);
            let mut all: Vec<String> = quoted.collect();
            if self.ir.op_name(self.op) == "noisy.decode" {
                all.insert(0, "i5".to_owned());
            }
            all.extend(types);
            if let Some(place) = place {
                for ty in all.into_iter().filter(|it| *it != own).take(10) {
                    self.propose_replacement(format!("Write the type {ty}"), place.clone(), ty);
                }
            }
        }
        let found = self.ir.op(self.op).operands.first().and_then(|it| it.value);
        if let Some(value) = found {
            self.propose_equivalent_op(self.type_of(value));
        }
    }

    /// Advises on a cast in the wrong direction or between the wrong types.
    pub(super) fn advise_on_cast(&mut self) {
        let data = self.ir.op(self.op);
        let Some(value) = data.operands.first().and_then(|it| it.value) else { return };
        let from = self.type_of(value);
        let Some(&result) = data.results.first() else { return };
        let to = self.type_of(result);
        self.add_related_definition(value);
        let name = self.ir.value_text(value);
        let message = format!(
            "{} (operand {name} of `{}`)",
            plain_words(&self.problem.message),
            self.ir.op_name(self.op)
        );
        self.set_message(message);
        let range = self.ir.name_range(self.op);
        let own = self.ir.op_name(self.op).to_owned();
        let others = self.conversion_ops(from, to);
        let names: Vec<String> = others.iter().map(|it| format!("`{}`", it.0)).collect();
        if names.is_empty() {
            return self.set_help("Write other types, or remove the cast");
        }
        self.set_help(format!("Use {}", super::words::alternatives(&names)));
        for (op, _) in others.into_iter().filter(|it| it.0 != own) {
            self.propose_replacement(format!("Replace by {op}"), range.clone(), op);
        }
    }

    pub(super) fn advise_on_literal_type(&mut self) {
        let (start, line) = self.line_at(self.range.start);
        let offset = self.range.start - start;
        let literal: String =
            if self.range.is_empty() { String::new() } else { self.problem_text() };
        let types: Vec<String> = Self::types_after(&line, offset);
        let ty = types.first().cloned().unwrap_or_default();
        let width: Option<u32> = ty.strip_prefix('i').and_then(|it| it.parse().ok());
        let number: Option<i128> = literal.trim().parse().ok();
        let place = line
            .get(offset..)
            .and_then(|it| it.find(&format!(": {ty}")))
            .filter(|_| !ty.is_empty())
            .map(|it| {
                let at = start + offset + it + 2;
                at..at + ty.len()
            });
        if self.problem.message.contains("out of range")
            && let (Some(width), Some(number)) = (width, number)
        {
            let (low, high) = literal_range(width);
            self.set_message(format!(
                "{number} is out of range for {ty}, which holds {low} to {high}"
            ));
            let needed = (1..=128).find(|&it| {
                let (low, high) = literal_range(it);
                low <= number && number <= high
            });
            let wider = [8, 16, 32, 64].into_iter().find(|it| Some(*it) >= needed).unwrap_or(128);
            self.set_help(format!(
                "Write a number from {low} to {high}, or a wider type such as i{wider}"
            ));
            let limit = if number < 0 { low } else { high };
            self.propose_replacement(
                format!("Write {limit}, the limit of {ty}"),
                self.range.clone(),
                limit.to_string(),
            );
            if let Some(place) = place {
                self.propose_replacement(
                    format!("Write the type i{wider}"),
                    place,
                    format!("i{wider}"),
                );
            }
            return;
        }
        let is_float = |it: &str| it.starts_with('f') || it == "bf16";
        if !literal.is_empty() {
            let (message, text) = (self.problem.message.clone(), literal.clone());
            if !message.contains(&text) {
                self.set_message(format!("{message}: `{text}`"));
            }
        }
        if is_float(&ty) && number.is_some() {
            self.set_help(format!("Floats have a decimal point: write `{literal}.0`"));
            self.propose_insertion(format!("Write {literal}.0"), self.range.end, ".0");
            self.mark_as_sure();
        } else if self.problem.message.contains("floating point value")
            || literal.contains('.') && width.is_some()
        {
            self.set_help("Write a float type such as f32, or an integer".to_owned());
            if let Some(place) = place.clone() {
                self.propose_replacement("Write the type f32", place, "f32");
            }
            if let Some((whole, _)) = literal.split_once('.') {
                self.propose_replacement(format!("Write {whole}"), self.range.clone(), whole);
            }
        } else if let Some((list, shape)) = self.stated_shapes() {
            self.set_help(format!(
                "Write {list} as the shape of the type, or as many elements as {shape}"
            ));
            let dims: Vec<&str> = list.trim_matches(['[', ']']).split(", ").collect();
            if let Some(at) = self.shaped_type_range() {
                let text = self.source.slice(at.clone());
                if let Some((head, rest)) = text.split_once('<') {
                    let element = rest.rsplit('x').next().unwrap_or("i32>");
                    let new = format!("{head}<{}x{element}", dims.join("x"));
                    self.propose_replacement(format!("Write the type {new}"), at, new);
                }
            }
        } else if number.is_some() || matches!(literal.as_str(), "true" | "false") {
            self.set_help("Write a type that the value fits");
            if let Some(place) = place {
                for it in ["i32", "f32", "i1", "index"] {
                    self.propose_replacement(format!("Write the type {it}"), place.clone(), it);
                }
            }
        }
    }

    /// The types after a literal: the words that follow `:`.
    fn types_after(line: &str, offset: usize) -> Vec<String> {
        let rest = line.get(offset..).unwrap_or("");
        let parts = rest.split(": ").skip(1);
        parts
            .map(|it| {
                it.chars()
                    .take_while(|it| it.is_alphanumeric() || matches!(it, '!' | '.' | '_'))
                    .collect()
            })
            .collect()
    }

    /// The shapes of a literal and of its type, as stated in the message.
    fn stated_shapes(&self) -> Option<(String, String)> {
        let mut parts = self.problem.message.split(['(', ')']).skip(1).step_by(2);
        Some((parts.next()?.to_owned(), parts.next()?.to_owned()))
    }

    /// The range of the shaped type on the line of the problem.
    fn shaped_type_range(&self) -> Option<Range<usize>> {
        let (start, line) = self.line_at(self.range.start);
        let offset = ["tensor<", "vector<"].iter().filter_map(|it| line.rfind(it)).max()?;
        let end = line[offset..].find('>')? + offset + 1;
        Some(start + offset..start + end)
    }
}

/// The range of literals of a signless integer type.
fn literal_range(width: u32) -> (i128, i128) {
    if width == 0 || width >= 127 {
        return (i128::MIN, i128::MAX);
    }
    (-(1 << (width - 1)), (1 << width) - 1)
}

/// Replaces MLIR's names of type constraints in a message by plain words.
fn plain_words(message: &str) -> String {
    message
        .replace("signless-integer-like", "an integer or index")
        .replace("signless-fixed-width-integer-like", "an integer of fixed width")
        .replace("floating-point-like", "a float")
        .replace("bool-like", "i1, or a vector or tensor of it")
}

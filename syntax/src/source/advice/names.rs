//! Advice on names of values, symbols and aliases: undefined, defined twice, or not visible.

use std::ops::Range;

use super::nearest;
use super::{Adviser, words};
use crate::{Def, Name, Op, OpKind, Type, Value};

/// Maximum number of similar names that are proposed.
const MAX_CHOICES: usize = 3;
/// Maximum number of symbols that are compared with one name.
const MAX_SYMBOLS: usize = 256;
/// Maximum number of ops that are searched for a result without a name.
const MAX_ITEMS: usize = 64;
/// Maximum number of regions that are searched for a definition.
const MAX_REGIONS: usize = 64;

impl Adviser<'_> {
    /// Appends similar names to the message, and proposes each as a replacement of `place`.
    pub(super) fn suggest_names(&mut self, near: &[String], place: &Range<usize>) {
        let near = &near[..near.len().min(MAX_CHOICES)];
        if near.is_empty() {
            return;
        }
        let message = self.out.message.split("; did you mean").next().unwrap_or("").to_owned();
        let quoted: Vec<String> = near.iter().map(|it| quoted(it)).collect();
        self.set_message(format!("{message}; did you mean {}?", words::alternatives(&quoted)));
        for it in near {
            self.propose_replacement(format!("Replace by {it}"), place.clone(), it.clone());
            if near.len() == 1 {
                self.mark_as_sure();
            }
        }
    }

    pub(super) fn advise_on_undefined_value(&mut self) {
        let written = self.problem_text();
        let name = written.trim_start_matches('%').split('#').next().unwrap_or("").to_owned();
        let place = self.range.start..self.range.start + 1 + name.len();
        let values = self.visible_values();
        let wanted = self.stated_operand_type();
        let mut near: Vec<String> = {
            let names: Vec<&str> = values.iter().map(|&it| self.bare_name(it)).collect();
            nearest(&name, names).iter().map(|it| format!("%{it}")).collect()
        };
        // If there are several, prefer those with the right type.
        if near.len() > 1 && wanted != Type::UNKNOWN {
            let fits = |it: &String| {
                values.iter().any(|&v| self.bare_name(v) == &it[1..] && self.is_of_type(v, wanted))
            };
            if near.iter().any(fits) {
                near = near.iter().filter(|it| fits(it)).cloned().collect();
            }
        }
        if let Some((value, around)) = self.definition_out_of_scope(&name) {
            if let Some(range) = self.definition_range(value) {
                self.add_related(range, format!("%{name} is defined here, inside `{around}`"));
            }
            self.set_help(format!(
                "%{name} is visible inside `{around}` only: yield it from there, or define it before"
            ));
            self.suggest_names(&near, &place);
            return self.propose_enclosing_result(value, &place);
        }
        if let Some(first) = near.first().cloned() {
            let value = values.iter().copied().find(|&it| self.bare_name(it) == &first[1..]);
            if let Some(range) = value.and_then(|it| self.definition_range(it)) {
                self.add_related(range, format!("{first} is defined here"));
            }
            self.set_help("Correct the name, or define the value before this op");
            return self.suggest_names(&near, &place);
        }
        if self.advise_on_unnamed_result(&name, wanted) {
            return;
        }
        if self.advise_on_missing_argument(&name, wanted) {
            return;
        }
        let mut typed = self.values_of_type(wanted);
        typed.truncate(3);
        if wanted != Type::UNKNOWN && !typed.is_empty() {
            let ty = self.type_text(wanted);
            let mut names: Vec<String> = typed.iter().map(|&it| self.ir.value_text(it)).collect();
            names.dedup();
            self.set_help(format!(
                "Define %{name} before this op. Values of type {ty} here: {}",
                names.join(", ")
            ));
            for it in names {
                self.propose_replacement(format!("Use {it} of type {ty}"), self.range.clone(), it);
            }
        } else {
            self.set_help(format!("Define %{name} before this op, or pass it in as an argument"));
        }
    }

    /// Proposes the result of the op that encloses a value, if it has the type of the value.
    fn propose_enclosing_result(&mut self, value: Value, place: &Range<usize>) {
        let Some(site) = self.ir.definition_site(value) else { return };
        let Some(around) = self.ir.region(self.ir.op(site).parent).parent else { return };
        for result in self.ir.op(around).results.clone() {
            if self.is_of_type(result, self.type_of(value)) {
                let name = self.ir.value_text(result);
                self.propose_replacement(format!("Use {name}, the result"), place.clone(), name);
            }
        }
    }

    /// Advises on a preceding op of the same region with an unnamed result, if there is exactly one
    /// of the right type. Returns true if it gave advice.
    fn advise_on_unnamed_result(&mut self, name: &str, wanted: Type) -> bool {
        let before = std::iter::successors(self.ir.prev(self.op), |&it| self.ir.prev(it));
        let is_unnamed = |it: &Op| match self.ir.op(*it).results[..] {
            [one] => self.ir.value(one).name == Name::EMPTY && self.is_of_type(one, wanted),
            _ => false,
        };
        let mut found = before.take(MAX_ITEMS).filter(is_unnamed);
        let (Some(op), None) = (found.next(), found.next()) else { return false };
        let range = self.ir.range(op);
        let op = self.ir.op_name(op).to_owned();
        self.set_help(format!("The result of `{op}` has no name: write `%{name} =` before it"));
        self.add_related(range.clone(), "the result of this op has no name");
        self.propose_insertion(
            format!("Name the result of {op} %{name}"),
            range.start,
            format!("%{name} = "),
        );
        self.mark_as_sure();
        true
    }

    /// The type that the op states for the operand at the problem.
    fn stated_operand_type(&self) -> Type {
        self.problem_operand().map_or(Type::UNKNOWN, |(n, _)| self.ir.op(self.op).operands[n].ty)
    }

    /// A value of this name in another region of the same function that is not visible at the op,
    /// and the name of the op that contains the region.
    fn definition_out_of_scope(&self, name: &str) -> Option<(Value, String)> {
        let name = self.ir.interner.find_name(name)?;
        let own = self.function();
        let regions: Vec<_> = self.ir.regions_defining(name).into_iter().collect();
        // The order of the regions depends on earlier edits. If there are too many, none is chosen.
        if regions.len() > MAX_REGIONS {
            return None;
        }
        let of = |region| {
            let parent = self.ir.region(region).parent?;
            let is_in_function =
                own.is_some_and(|it| it != parent && self.ir.is_within(parent, it));
            let value = *self.ir.defs(region, name).first().filter(|_| is_in_function)?;
            Some((self.definition_range(value)?.start, value, parent))
        };
        let first = regions.into_iter().filter_map(of).min_by_key(|it| it.0)?;
        Some((first.1, self.ir.op_name(first.2).to_owned()))
    }

    pub(super) fn advise_on_undefined_alias(&mut self) {
        let written = self.problem_text();
        let names: Vec<String> = self.ir.alias_names(self.op, 256);
        let same_kind = names
            .iter()
            .map(String::as_str)
            .filter(|it| it[..1] == written[..1.min(written.len())]);
        let mut near: Vec<String> =
            nearest(&written, same_kind).into_iter().map(str::to_owned).collect();
        let is_type = written.starts_with('!');
        self.set_message(self.problem.message.replacen(&written, &format!("`{written}`"), 1));
        if near.is_empty() && is_type {
            near = Self::similar_types(&written);
        }
        if !near.is_empty() {
            self.set_help("Correct the name, or define the alias at the top of the file");
            let place = self.range.clone();
            return self.suggest_names(&near, &place);
        }
        let example = if is_type { "i32" } else { "affine_map<(d0) -> (d0)>" };
        self.set_help(format!(
            "Define the alias at the top of the file, such as `{written} = {example}`, or write its value"
        ));
    }

    pub(super) fn advise_on_unknown_symbol(&mut self) {
        let written = self.problem_text();
        let Some(name) = written.strip_prefix('@') else { return };
        let is_call = self.problem.code == crate::Code::UnknownFunction;
        let is_kind = |it: &Op| {
            let kind = self.ir.op(*it).kind;
            if is_call { kind == OpKind::FuncFunc } else { kind == OpKind::MemrefGlobal }
        };
        let Some(table) = self.ir.symbol_table_around(self.op) else { return };
        let ops = self.ir.op(table).regions.iter().flat_map(|it| self.ir.items(it.1));
        let symbols: Vec<(Op, String)> = ops
            .take(MAX_SYMBOLS)
            .filter(is_kind)
            .filter_map(|it| Some((it, self.symbol(it)?.1.to_owned())))
            .collect();
        let near: Vec<String> = nearest(name, symbols.iter().map(|it| it.1.as_str()))
            .into_iter()
            .map(|it| format!("@{it}"))
            .collect();
        let found = self.ir.interner.find_name(name);
        let found = found.and_then(|it| self.ir.resolve_symbol(self.op, it));
        if let Some((range, _)) = found.and_then(|it| self.symbol(it)) {
            self.add_related(range, format!("@{name} is defined here"));
            let kind = if is_call { "function" } else { "`memref.global`" };
            self.set_message(format!("@{name} is not a {kind}"));
            self.set_help(format!("Name a {}", kind.trim_matches('`')));
            return;
        }
        let what = if is_call { "function" } else { "global" };
        self.set_message(format!("no {what} @{name} in this file"));
        if let Some(first) = near.first().cloned() {
            let found = symbols.iter().find(|it| it.1 == first[1..]).map(|it| it.0);
            if let Some((range, _)) = found.and_then(|it| self.symbol(it)) {
                self.add_related(range, format!("{first} is defined here"));
            }
            self.set_help(format!("Correct the name, or define @{name}"));
            let place = self.range.clone();
            return self.suggest_names(&near, &place);
        }
        self.set_help(format!("Define or declare @{name}, or correct the name"));
        if is_call {
            self.propose_declaration(name);
            for (_, it) in symbols.iter().take(MAX_CHOICES) {
                self.propose_replacement(
                    format!("Call @{it}"),
                    self.range.clone(),
                    format!("@{it}"),
                );
            }
        }
    }

    /// Proposes a declaration of the undefined callee.
    fn propose_declaration(&mut self, name: &str) {
        let Some(function) = self.function() else { return };
        let data = self.ir.op(self.op);
        let show = |ty: Type| self.ir.interner.insertable_type_text(ty);
        let inputs: Option<Vec<String>> = data.operands.iter().map(|it| show(it.ty)).collect();
        let results: Option<Vec<String>> =
            data.results.iter().map(|&it| show(self.ir.value(it).ty)).collect();
        let (Some(inputs), Some(results)) = (inputs, results) else { return };
        let results = match &results[..] {
            [] => String::new(),
            [one] => format!(" -> {one}"),
            more => format!(" -> ({})", more.join(", ")),
        };
        let range = self.ir.range(function);
        let indentation = self.indentation(function);
        let line = format!("func.func private @{name}({}){results}", inputs.join(", "));
        self.propose_insertion(
            format!("Declare @{name} with the type of this call"),
            range.start,
            format!("{line}\n{indentation}"),
        );
    }

    pub(super) fn advise_on_redefined_value(&mut self) {
        let written = self.problem_text();
        let name =
            written.trim_start_matches('%').split([':', '#']).next().unwrap_or("").to_owned();
        let Some(id) = self.ir.interner.find_name(&name) else { return };
        let region = self.ir.op(self.op).parent;
        let first = self.first_definition(id);
        if let Some(range) =
            first.and_then(|it| self.definition_range(it)).filter(|it| *it != self.range)
        {
            self.add_related(range, format!("%{name} is first defined here"));
        }
        let fresh = self.unused_name(&name);
        self.set_help(format!("Rename one of them, such as %{fresh}"));
        let mut edits =
            vec![(self.range.start + 1..self.range.start + 1 + name.len(), fresh.clone())];
        // Uses after the second definition are assumed to refer to it.
        let own_end = self.ir.range(self.op).start;
        if let Some(value) = first {
            for &(user, n) in self.ir.value(value).uses.iter().take(4096) {
                let operand = &self.ir.op(user).operands[n as usize];
                let at = self.ir.absolute(user, operand.span);
                let is_behind = at.start > self.range.end
                    && user != self.op
                    && self.ir.range(user).start > own_end
                    && self.ir.encloses(region, user);
                if is_behind && operand.name == id {
                    edits.push((at.start + 1..at.start + 1 + name.len(), fresh.clone()));
                }
            }
        }
        edits.sort_by_key(|it| it.0.start);
        edits.dedup_by(|b, a| a.0 == b.0);
        self.propose(format!("Rename this value and its later uses to %{fresh}"), edits);
    }

    /// The first definition of a name that is visible at the op, other than the one at the problem.
    fn first_definition(&self, name: Name) -> Option<Value> {
        let region = self.ir.op(self.op).parent;
        let is_other = |it: &Value| self.definition_range(*it).is_none_or(|it| it != self.range);
        let mut at = Some(region);
        while let Some(region) = at {
            if let Some(value) = self.ir.visible_value(region, name).filter(is_other) {
                return Some(value);
            }
            at = self.ir.region(region).parent.map(|it| self.ir.op(it).parent);
        }
        // A block argument of the op's own regions.
        let regions = &self.ir.op(self.op).regions;
        regions.iter().find_map(|it| self.ir.defs(it.1, name).first().copied())
    }

    pub(super) fn advise_on_redefined_symbol(&mut self) {
        let Some((range, name)) = self.symbol(self.op) else { return };
        let name = name.to_owned();
        let region = self.ir.op(self.op).parent;
        let first = self
            .ir
            .interner
            .find_name(&name)
            .and_then(|it| self.ir.symbol_defs(region, it).first().copied());
        self.set_message(format!("redefinition of symbol @{name}"));
        if let Some((first, _)) = first.and_then(|it| self.symbol(it)) {
            self.add_related(first, format!("@{name} is first defined here"));
        }
        let is_free = |it: &String| {
            let id = self.ir.interner.find_name(it);
            id.is_none_or(|it| self.ir.symbol_defs(region, it).is_empty())
        };
        let Some(fresh) = (1..1000).map(|n| format!("{name}_{n}")).find(is_free) else { return };
        self.set_help(format!("Rename one of them, such as @{fresh}"));
        if self.source.slice(range.clone()) == format!("@{name}") {
            self.propose_replacement(
                format!("Rename this symbol to @{fresh}"),
                range,
                format!("@{fresh}"),
            );
        }
    }

    pub(super) fn advise_on_redefined_alias(&mut self) {
        let written = self.problem_text();
        self.set_message(format!("redefinition of alias `{written}`"));
        let found = {
            let name = self.ir.interner.find_name(&written);
            name.and_then(|it| self.ir.find_alias(self.op, it))
        };
        if let Some(first) = found.filter(|&it| it != self.op) {
            let range = self.ir.name_range(first);
            self.add_related(range, format!("{written} is first defined here"));
        }
        self.set_help("Rename one of them, or remove one if both are the same");
        let names = self.ir.alias_names(self.op, 256);
        let fresh = (1..1000).map(|n| format!("{written}_{n}")).find(|it| !names.contains(it));
        if let Some(fresh) = fresh.filter(|_| !names.is_empty()) {
            self.propose_replacement(
                format!("Rename this alias to {fresh}"),
                self.range.clone(),
                fresh,
            );
        }
    }

    /// Advises on an undeclared identifier in an affine map.
    pub(super) fn advise_on_undeclared_identifier(&mut self) {
        let written = self.problem_text();
        let window = self.window();
        let at = window.token_index_after(self.range.start);
        let before = &window.tokens[..at.min(window.tokens.len())];
        let start =
            before.iter().rposition(|it| window.str(*it).starts_with("affine_")).unwrap_or(0);
        let mut names: Vec<String> = Vec::new();
        for it in before[start..].iter().filter(|it| it.kind == crate::TokenKind::Bare) {
            let name = window.str(*it).to_owned();
            if !name.starts_with("affine_") && !names.contains(&name) {
                names.push(name);
            }
        }
        self.set_help(format!("Declare `{written}` in the list of dimensions or symbols, or use one that is declared: {}", names.join(", ")));
        for it in names.into_iter().take(MAX_CHOICES) {
            self.propose_replacement(format!("Replace by {it}"), self.range.clone(), it);
        }
        let close = before[start..].iter().find(|it| it.kind == crate::TokenKind::RParen).copied();
        if let Some(close) = close {
            let at = window.range(close).start;
            self.propose_insertion(
                format!("Declare {written} as a dimension"),
                at,
                format!(", {written}"),
            );
        }
    }

    pub(super) fn advise_on_dominance(&mut self) {
        let written = self.problem_text();
        if self.advise_on_digits_and_letters() {
            return;
        }
        let Some((_, Some(value))) = self.problem_operand() else { return };
        let definition = self.definition_range(value);
        if let Some(range) = definition.clone() {
            self.add_related(range, format!("{written} is defined here"));
        }
        let Def::Result(def, _) = self.ir.value(value).def else {
            self.set_message(format!(
                "operand {written} does not dominate this use: it is an argument of another block"
            ));
            self.set_help("Pass the value as a block argument");
            return;
        };
        if def == self.op {
            self.set_message(format!(
                "operand {written} does not dominate this use: it is the result of this op"
            ));
            self.set_help("Use another value as the operand");
            for it in self
                .values_of_type(self.type_of(value))
                .into_iter()
                .filter(|&it| it != value)
                .take(3)
            {
                let name = self.ir.value_text(it);
                self.propose_replacement(format!("Use {name}"), self.range.clone(), name);
            }
            return;
        }
        let is_same_region = self.ir.op(def).parent == self.ir.op(self.op).parent;
        if is_same_region && self.ir.is_before(self.op, def) {
            self.set_message(format!(
                "operand {written} does not dominate this use: it is used before its definition"
            ));
            self.set_help("Move the definition before this op");
            self.propose_moving_up(def);
        } else {
            self.set_help("Define the value in a block on every path to this op, or pass it as a block argument");
        }
    }

    /// Proposes to move an op, if it occupies whole lines, before the op with the problem.
    fn propose_moving_up(&mut self, def: Op) {
        let range = self.ir.range(def);
        let line = self.source.line_start(range.start);
        let (_, rest) = self.line_at(range.end);
        let behind = rest.get(range.end.saturating_sub(self.source.line_start(range.end))..);
        let is_alone = behind.is_some_and(|it| it.trim().is_empty());
        if !self.source.is_first_on_line(range.start) || !is_alone || range.len() > 1 << 16 {
            return;
        }
        let here = self.ir.range(self.op).start;
        if !self.source.is_first_on_line(here) {
            return;
        }
        let text = self.source.slice(range.clone());
        let indentation = self.source.indentation(here);
        let end = (range.end + 1).min(self.source.text().len_bytes());
        self.propose(
            "Move the definition before this op",
            vec![(here..here, format!("{text}\n{indentation}")), (line..end, String::new())],
        );
    }

    pub(super) fn advise_on_isolated(&mut self) {
        let written = self.problem_text();
        if let Some((_, Some(value))) = self.problem_operand()
            && let Some(range) = self.definition_range(value)
        {
            self.add_related(range, format!("{written} is defined here, outside"));
        }
        self.set_message(format!(
            "{written} is defined outside of the isolated region that uses it"
        ));
        self.set_help("Pass the value as an argument, or define it inside");
    }

    pub(super) fn advise_on_result_number(&mut self) {
        let written = self.problem_text();
        let Some((name, _)) = written.split_once('#') else { return };
        let id = self.ir.interner.find_name(name.trim_start_matches('%'));
        let Some(value) = id.and_then(|it| self.ir.visible_value(self.ir.op(self.op).parent, it))
        else {
            return;
        };
        if let Some(range) = self.definition_range(value) {
            self.add_related(range, format!("{name} is defined here"));
        }
        let Def::Result(def, _) = self.ir.value(value).def else { return };
        let n = self.ir.op(def).results.len();
        if n == 1 {
            self.set_help(format!("{name} has one result: write it without a number"));
            self.propose_replacement(format!("Replace by {name}"), self.range.clone(), name);
            self.mark_as_sure();
        } else {
            self.set_help(format!(
                "{name} has {n} results: {name}#0 to {name}#{}",
                n.saturating_sub(1)
            ));
            for it in (0..n).rev().take(MAX_CHOICES) {
                self.propose_replacement(
                    format!("Replace by {name}#{it}"),
                    self.range.clone(),
                    format!("{name}#{it}"),
                );
            }
        }
    }
}

/// The text of a name in a message. Values and symbols are recognized by their sigils; other names
/// are quoted.
fn quoted(name: &str) -> String {
    if name.starts_with(['%', '@']) { name.to_owned() } else { format!("`{name}`") }
}

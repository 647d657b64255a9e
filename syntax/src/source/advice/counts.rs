//! Advice on wrong numbers of operands, results and indices.

use std::ops::Range;

use super::{Adviser, words};
use crate::{Region, TokenKind, Type};

impl Adviser<'_> {
    pub(super) fn advise_on_result_count(&mut self) {
        let names = self.ir.op(self.op).result_names.clone();
        // The message contains `defines 1 results`. If an op defines none, it does not.
        let number = self.problem.message.split("defines ").nth(1);
        let number = number.and_then(|it| it.split(' ').next()?.parse::<usize>().ok());
        let n = number.unwrap_or(0);
        let op = self.ir.op_name(self.op).to_owned();
        let start = self.ir.start(self.op);
        let places: Vec<Range<usize>> =
            names.iter().map(|it| self.ir.absolute_at(self.op, start, it.span)).collect();
        let name_start = self.ir.name_range(self.op).start;
        let Some(first) = places.first() else { return };
        let window = self.window();
        let name_at = window.token_index_after(name_start);
        let is_next_line = window.token(name_at).is_some_and(|it| it.is_at_line_start);
        if n == 0 && is_next_line {
            let name = self.source.slice(first.clone());
            self.set_message(format!(
                "an op is missing after `{name} =`: the next line, `{op}`, has no result"
            ));
            self.set_help("Write the op that defines this name, or remove the name");
            let end = self.source.slice(first.start..name_start);
            if let Some(equal) = end.find('=') {
                self.add_related(
                    first.start + equal..first.start + equal + 1,
                    "nothing follows this `=`",
                );
            }
            return;
        }
        if n == 0 {
            let name = self.source.slice(first.clone());
            self.set_message(format!("`{op}` has no result to name {name}"));
            self.set_help(format!("Write `{op}` without `{name} =`"));
            self.propose_replacement(format!("Remove `{name} =`"), first.start..name_start, "");
            return self.mark_as_sure();
        }
        let given: usize = names.iter().map(|it| it.count as usize).sum();
        self.set_message(format!(
            "`{op}` has {}, but {} are named",
            words::count_text(n, "result"),
            given
        ));
        self.set_help(format!("Write {}", words::count_text(n, "name")));
        if names.len() > n && names.iter().all(|it| it.count == 1) {
            let range = places[n - 1].end..places[names.len() - 1].end;
            let text = self.source.slice(range.clone());
            self.propose_replacement(
                format!("Remove `{}`", text.trim_start_matches(',').trim()),
                range,
                "",
            );
        } else if let [only] = &names[..] {
            let whole = first.start..first.start + 1 + self.ir.interner.str(only.name).len();
            let name = self.source.slice(whole);
            let text = if n == 1 { name.clone() } else { format!("{name}:{n}") };
            let equal = self.source.slice(first.start..name_start).find('=').unwrap_or(0);
            self.propose_replacement(
                format!("Name them {text}"),
                first.start..first.start + equal,
                format!("{text} "),
            );
        }
    }

    pub(super) fn advise_on_index_count(&mut self) {
        let window = self.window();
        let rank = self.problem.message.rsplit(' ').next().and_then(|it| it.parse::<usize>().ok());
        let open = window.tokens.iter().position(|it| it.kind == TokenKind::LSquare);
        let close = window.tokens.iter().position(|it| it.kind == TokenKind::RSquare);
        let memref = self
            .ir
            .op(self.op)
            .operands
            .iter()
            .filter_map(|it| it.value)
            .find(|&it| self.type_text(self.type_of(it)).starts_with("memref"));
        if let Some(value) = memref {
            let (name, ty) = (self.ir.value_text(value), self.type_text(self.type_of(value)));
            if let Some(range) = self.definition_range(value) {
                self.add_related(range, format!("{name} is defined here, with type {ty}"));
            }
        }
        let (Some(rank), Some(open), Some(close)) = (rank, open, close) else { return };
        self.set_help(format!(
            "Write {} between the brackets",
            words::count_text(rank, "index").replace("indexs", "indices")
        ));
        let mut depth = 0usize;
        let mut commas = Vec::new();
        for it in &window.tokens[open + 1..close.max(open + 1)] {
            match it.kind {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => depth = depth.saturating_sub(1),
                TokenKind::Comma if depth == 0 => commas.push(*it),
                _ => {}
            }
        }
        let n = commas.len() + usize::from(close > open + 1);
        let end = window.range(window.tokens[close]).start;
        if n > rank && rank > 0 {
            let from = window.range(commas[rank - 1]).start;
            self.propose_replacement("Remove the last indices", from..end, "");
        } else if n < rank {
            for it in self.values_of_type(Type::INDEX).into_iter().take(3) {
                let name = self.ir.value_text(it);
                let list = vec![name.clone(); rank - n].join(", ");
                let lead = if n > 0 { ", " } else { "" };
                self.propose_insertion(
                    format!("Insert the index {name}"),
                    end,
                    format!("{lead}{list}"),
                );
            }
            let zeros = vec!["0"; rank - n].join(", ");
            let lead = if n > 0 { ", " } else { "" };
            self.propose_insertion("Insert the index 0", end, format!("{lead}{zeros}"));
        }
    }

    /// Advises on `memref.alloc() : memref<?xf32>`: sizes are missing.
    pub(super) fn advise_on_dynamic_sizes(&mut self) {
        let window = self.window();
        let open = window.tokens.iter().find(|it| it.kind == TokenKind::LParen).copied();
        let results = self.ir.op(self.op).results.clone();
        let ty = results.first().map_or(String::new(), |&it| self.type_text(self.type_of(it)));
        let n = ty.matches('?').count();
        let given = self.ir.op(self.op).operands.len();
        self.set_message(format!(
            "`{}` has {} for the {} of {ty}",
            self.ir.op_name(self.op),
            words::count_text(given, "size"),
            words::count_text(n, "dynamic dimension")
        ));
        self.set_help(
            "Write a size of type index between the parentheses for each `?` of the type",
        );
        if given > n {
            return self.propose_removing_operands(0, n);
        }
        let Some(open) = open else { return };
        let at = window.range(open).end;
        let lead =
            if given > 0 { self.operand_ranges().last().map_or(at, |it| it.end) } else { at };
        let indices = self.values_of_type(Type::INDEX);
        for it in indices.into_iter().take(3) {
            let name = self.ir.value_text(it);
            let list = vec![name.clone(); n - given].join(", ");
            let list = if given > 0 { format!(", {list}") } else { list };
            self.propose_insertion(format!("Insert the size {name}"), lead, list);
        }
        let start = self.ir.range(self.op).start;
        if self.source.is_first_on_line(start) && given == 0 {
            let indentation = self.source.indentation(start);
            let name = if self.is_unused_name("size") {
                "size".to_owned()
            } else {
                self.unused_name("size")
            };
            let list = vec![format!("%{name}"); n].join(", ");
            self.propose(
                "Define a size of 1",
                vec![
                    (start..start, format!("%{name} = arith.constant 1 : index\n{indentation}")),
                    (at..at, list),
                ],
            );
            let fixed = ty.replace('?', "1");
            if let Some(place) = self.type_ranges_in_header(&ty).pop() {
                self.propose_replacement(format!("Write the type {fixed}"), place, fixed);
            }
        }
    }

    pub(super) fn advise_on_generic_types(&mut self) {
        let operands = self.ir.op(self.op).operands.clone();
        let types: Vec<Type> = operands
            .iter()
            .map(|it| it.value.map_or(Type::UNKNOWN, |it| self.type_of(it)))
            .collect();
        self.set_help(format!(
            "Write a type for each of the {}",
            words::count_text(types.len(), "operand")
        ));
        let Some(text) = self.types_text(&types) else { return };
        let window = self.window();
        let colon = window.tokens.iter().rposition(|it| it.kind == TokenKind::Colon);
        let Some(open) = colon.and_then(|it| window.token(it + 1)) else { return };
        let close = window
            .tokens
            .iter()
            .position(|it| it.start > open.start && it.kind == TokenKind::Arrow);
        let Some(close) = close.and_then(|it| window.token(it - 1)) else { return };
        let range = window.range(open).start..window.range(close).end;
        self.propose_replacement(format!("Write the types ({text})"), range, format!("({text})"));
        self.mark_as_sure();
    }

    pub(super) fn advise_on_wrong_count(&mut self) {
        let name = self.ir.op_name(self.op).to_owned();
        match name.as_str() {
            "func.return" => return self.advise_on_return_count(),
            "affine.yield" | "scf.yield" => return self.advise_on_yield_count(),
            _ => {}
        }
        if self.problem.message.contains("operand types") {
            // `"noisy.add"(%a, %b) : (i32) -> i32`.
            return self.advise_on_generic_types();
        }
        let spec = self.ir.op(self.op).kind.spec();
        match self.example_syntax() {
            Some(form) => self.set_help(format!("The form of the op is `{form}`")),
            None => self.set_help(format!("See the operands that `{name}` takes")),
        }
        if name.starts_with("memref.alloc") {
            return self.advise_on_dynamic_sizes();
        }
        let n = self.ir.op(self.op).operands.len();
        if spec.operands.least == spec.operands.most && n > spec.operands.most {
            self.propose_removing_operands(0, spec.operands.most);
        }
        if n < spec.operands.least {
            self.propose_inserting_operands(spec.operands.least - n);
        }
    }

    pub(super) fn propose_inserting_operands(&mut self, n: usize) {
        let places = self.operand_ranges();
        let Some(last) = places.last().cloned() else { return };
        for value in self.visible_values().into_iter().take(4) {
            let name = self.ir.value_text(value);
            let text = format!(", {name}").repeat(n);
            self.propose_insertion(format!("Insert {name}"), last.end, text);
        }
    }

    pub(super) fn is_unused_name(&self, name: &str) -> bool {
        self.is_unused_name_in(self.ir.op(self.op).parent, name)
    }

    /// Returns true if no value with this name is visible in a region.
    pub(super) fn is_unused_name_in(&self, region: Region, name: &str) -> bool {
        let id = self.ir.interner.find_name(name);
        id.is_none_or(|it| self.ir.visible_value(region, it).is_none())
    }
}

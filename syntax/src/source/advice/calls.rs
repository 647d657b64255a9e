//! Advice on the operands of calls, branches, returns and yields.

use std::ops::Range;

use super::{Adviser, words};
use crate::{Op, TokenKind, Type};

impl Adviser<'_> {
    /// Advises on `call @f(%a) : i32 -> i32`: the types of the operands need parentheses.
    pub(super) fn advise_on_plain_function_type(&mut self) {
        let written = self.problem_text();
        self.set_message(format!(
            "expected a function type in `{}`, found `{written}`",
            self.ir.op_name(self.op)
        ));
        self.set_help("Write the types of the operands in parentheses");
        let (start, end) = (self.range.start, self.range.end);
        self.propose(
            "Insert parentheses",
            vec![(start..start, "(".to_owned()), (end..end, ")".to_owned())],
        );
        self.mark_as_sure();
    }

    /// Advises on an index that is neither an affine dimension nor a symbol.
    pub(super) fn advise_on_affine_operand(&mut self) {
        let name = self.ir.op_name(self.op).to_owned();
        let Some(short) = name.strip_prefix("affine.").filter(|it| matches!(*it, "load" | "store"))
        else {
            return;
        };
        self.set_help(format!(
            "Use `memref.{short}`, which takes any index, or compute the index with `affine.apply`"
        ));
        let range = self.ir.name_range(self.op);
        self.propose_replacement(
            format!("Replace by memref.{short}"),
            range,
            format!("memref.{short}"),
        );
    }

    /// The ranges of the operands of the op in the file.
    pub(super) fn operand_ranges(&self) -> Vec<Range<usize>> {
        let start = self.ir.start(self.op);
        let operands = &self.ir.op(self.op).operands;
        operands.iter().map(|it| self.ir.absolute_at(self.op, start, it.span)).collect()
    }

    /// Proposes to keep only `keep` of the operands from `first` on, and to remove the others
    /// together with their types.
    pub(super) fn propose_removing_operands(&mut self, first: usize, keep: usize) {
        let places = self.operand_ranges();
        let Some(extra) = places.get(first + keep..).filter(|it| !it.is_empty()) else { return };
        let end = extra[extra.len() - 1].end;
        let from = match (first + keep).checked_sub(1).map(|it| places[it].end) {
            Some(it) if keep > 0 => it,
            _ if first == 0 && self.ir.op(self.op).regions.is_empty() => {
                let name = self.ir.name_range(self.op).end;
                let between = self.source.slice(name..extra[0].start);
                if between.trim().is_empty() { name } else { extra[0].start }
            }
            _ => extra[0].start,
        };
        let names: Vec<String> = extra.iter().map(|it| self.source.slice(it.clone())).collect();
        let title = format!("Remove {}", names.join(", "));
        let mut edits = vec![(from..end, String::new())];
        let n = extra.len();
        edits.extend(self.type_removal_edit(end, n, keep));
        self.propose(title, edits);
    }

    /// The edit that removes the last `n` types of the first list of types after `from`, which has
    /// `n + keep` types.
    fn type_removal_edit(
        &self,
        from: usize,
        n: usize,
        keep: usize,
    ) -> Option<(Range<usize>, String)> {
        let window = self.window();
        let at = window.token_index_after(from);
        let colon =
            (at..window.tokens.len()).find(|&it| window.tokens[it].kind == TokenKind::Colon)?;
        let types = Self::type_ranges(&window, colon + 1);
        if types.len() != n + keep {
            return None;
        }
        let last = types.last()?.end;
        Some(match keep.checked_sub(1) {
            Some(it) => (types[it].end..last, String::new()),
            None if window.tokens.get(colon + 1).is_some_and(|it| it.kind == TokenKind::LParen) => {
                (types[0].start..last, String::new())
            }
            None => {
                let start = window.range(window.tokens[colon]).start;
                let text = &window.text[..start - window.start];
                (window.start + text.trim_end().len()..last, String::new())
            }
        })
    }

    /// The ranges of the types of a list, which may be in parentheses.
    fn type_ranges(window: &super::scope::TextWindow, from: usize) -> Vec<Range<usize>> {
        use TokenKind as K;
        let mut at = from;
        let is_wrapped = window.tokens.get(at).is_some_and(|it| it.kind == K::LParen);
        at += usize::from(is_wrapped);
        let (mut out, mut start, mut depth) = (Vec::new(), None, 0usize);
        let mut end = 0;
        while let Some(it) = window.token(at) {
            let range = window.range(it);
            let is_end = it.is_at_line_start && !is_wrapped
                || depth == 0 && matches!(it.kind, K::Arrow | K::RParen | K::Region | K::LBrace);
            if is_end {
                break;
            }
            match it.kind {
                K::Less | K::LParen | K::LSquare => depth += 1,
                K::Greater | K::RParen | K::RSquare => depth = depth.saturating_sub(1),
                _ => {}
            }
            if it.kind == K::Comma && depth == 0 {
                out.extend(start.take().map(|it| it..end));
            } else {
                start.get_or_insert(range.start);
                end = range.end;
            }
            at += 1;
        }
        out.extend(start.map(|it| it..end));
        out
    }

    /// For each type, a value of that type: the nearest one, or a later one if `skip` is not 0.
    /// `None` if there is none.
    pub(super) fn values_of_types(&self, types: &[Type], skip: usize) -> Option<Vec<String>> {
        let one = |ty: &Type| {
            let all = self.values_of_type(*ty);
            all.get(skip).or(all.first().filter(|_| skip == 0)).map(|&it| self.ir.value_text(it))
        };
        types.iter().map(one).collect()
    }

    pub(super) fn types_text(&self, types: &[Type]) -> Option<String> {
        let texts: Option<Vec<String>> =
            types.iter().map(|&it| self.ir.interner.insertable_type_text(it)).collect();
        Some(texts?.join(", "))
    }

    pub(super) fn advise_on_return_count(&mut self) {
        let Some(function) = self.function() else { return };
        let Some((_, results)) = self.signature(function) else { return };
        let name = self.symbol(function).map_or(String::new(), |it| format!("@{}", it.1));
        let n = self.ir.op(self.op).operands.len();
        let wanted = self.shown(&results);
        let returns = match &wanted[..] {
            [] => "no value".to_owned(),
            [one] => one.clone(),
            more => format!("{} values: {}", more.len(), more.join(", ")),
        };
        self.set_message(format!(
            "`return` gives {}, but {name} returns {returns}",
            words::count_text(n, "value")
        ));
        match self.result_types_range(function) {
            Some(range) => {
                self.add_related(range, format!("{name} is declared to return {returns} here"));
            }
            None => {
                if let Some((range, _)) = self.symbol(function) {
                    self.add_related(range, format!("{name} is declared here without results"));
                }
            }
        }
        self.set_help(format!("Return {returns}, or change the type of {name}"));
        if results.is_empty() {
            // A missing result type is more likely than an extra operand.
            self.propose_result_types(function);
            return self.propose_removing_operands(0, 0);
        }
        if n > results.len() {
            self.propose_removing_operands(0, results.len());
        } else {
            self.propose_more_operands(&results);
        }
        self.propose_result_types(function);
    }

    /// Proposes a `return` or yield with additional operands.
    fn propose_more_operands(&mut self, wanted: &[Type]) {
        let own = self.ir.op(self.op).operands.clone();
        let range = self.ir.range(self.op);
        let written = self.source.slice(self.ir.name_range(self.op));
        let Some(types) = self.types_text(wanted) else { return };
        for skip in 0..3 {
            let Some(more) = self.values_of_types(&wanted[own.len()..], skip) else { return };
            let mut names: Vec<String> =
                self.operand_ranges().into_iter().map(|it| self.source.slice(it)).collect();
            let title = format!("{written} {}", more.join(", "));
            names.extend(more);
            let text = format!("{written} {} : {types}", names.join(", "));
            self.propose_replacement(format!("Write `{title}`"), range.clone(), text);
        }
    }

    /// Proposes to change the result types of the function to the types of the operands of its
    /// `return`.
    fn propose_result_types(&mut self, function: Op) {
        let operands = self.ir.op(self.op).operands.clone();
        let types: Vec<Type> = operands.iter().map(|it| it.ty).collect();
        let Some(text) = self.types_text(&types) else { return };
        let text = if types.len() == 1 { text } else { format!("({text})") };
        match self.result_types_range(function) {
            Some(range) => {
                self.propose_replacement(format!("Let the function return {text}"), range, text);
            }
            None => {
                let head = self.ir.head_range(function);
                let header = self.source.slice(head.start..head.end.min(head.start + 4096));
                if let Some(close) = header.rfind(')') {
                    let at = head.start + close + 1;
                    self.propose_insertion(
                        format!("Let the function return {text}"),
                        at,
                        format!(" -> {text}"),
                    );
                }
            }
        }
    }

    pub(super) fn advise_on_yield_count(&mut self) {
        let Some(parent) = self.ir.parent_op(self.op) else { return };
        let wanted = self.result_types(parent);
        let n = self.ir.op(self.op).operands.len();
        let (own, around) =
            (self.ir.op_name(self.op).to_owned(), self.ir.op_name(parent).to_owned());
        self.set_message(format!(
            "`{own}` gives {}, but `{around}` has {}",
            words::count_text(n, "value"),
            words::count_text(wanted.len(), "result")
        ));
        let range = self.ir.name_range(parent);
        self.add_related(
            range,
            format!("`{around}` has {}", words::count_text(wanted.len(), "result")),
        );
        self.set_help("Yield a value for each result");
        if n > wanted.len() {
            self.propose_removing_operands(0, wanted.len());
        } else {
            self.propose_more_operands(&wanted);
        }
    }

    pub(super) fn advise_on_call(&mut self) {
        let Some(callee) = self.callee() else { return };
        let Some((inputs, results)) = self.signature(callee) else { return };
        let Some((range, name)) = self.symbol(callee) else { return };
        let name = format!("@{name}");
        let ir = self.ir;
        let show = |types: &[Type]| {
            let all: Vec<String> =
                types.iter().map(|&it| ir.interner.short_type_text(it)).collect();
            all.join(", ")
        };
        let ty = format!("({}) -> ({})", show(&inputs), show(&results));
        self.add_related(range, format!("{name} is declared here: {ty}"));
        let here = self.problem_operand();
        if let Some((n, Some(value))) = here {
            let operand_count = self.ir.op(self.op).operands.len();
            let first = operand_count.saturating_sub(inputs.len());
            let Some(&wanted) = inputs.get(n.saturating_sub(first)) else { return };
            let (text, found) = (self.type_text(wanted), self.type_text(self.type_of(value)));
            let written = self.problem_text();
            self.set_message(format!(
                "argument {} of {name} is {text}, but {written} has type {found}",
                n - first
            ));
            self.set_help(format!("Pass a value of type {text}, or convert {written}"));
            self.propose_arguments(n, wanted, &text);
            let place = self.range.clone();
            self.propose_conversion(&place, value, wanted, &text);
            return;
        }
        let operands = self.ir.op(self.op).operands.len();
        if operands != inputs.len() {
            self.set_message(format!(
                "the call passes {}, but {name} takes {}",
                words::count_text(operands, "operand"),
                inputs.len()
            ));
            self.set_help(format!(
                "Pass {}",
                if inputs.is_empty() {
                    "nothing".to_owned()
                } else {
                    format!("values of type {}", show(&inputs))
                }
            ));
            if operands > inputs.len() {
                self.propose_removing_operands(0, inputs.len());
            } else {
                self.propose_more_arguments(&inputs, &results, &name);
            }
            return;
        }
        let message = format!("{} (in the call of {name})", self.problem.message);
        self.set_message(message);
        self.set_help(format!("Write the type of {name} after the call: {ty}"));
        let list = |types: &[Type]| self.types_text(types);
        if let (Some(inputs), Some(given)) = (list(&inputs), list(&results)) {
            let given = if results.len() == 1 { given } else { format!("({given})") };
            let window = self.window();
            if let Some(colon) = window.tokens.iter().rposition(|it| it.kind == TokenKind::Colon) {
                let at = window.range(window.tokens[colon]).start;
                let end = self.ir.range(self.op).end;
                self.propose_replacement(
                    format!("Write the type of {name}"),
                    at..end,
                    format!(": ({inputs}) -> {given}"),
                );
            }
        }
    }

    /// Proposes other operands of the wanted type, and changes the type in the call.
    fn propose_arguments(&mut self, n: usize, wanted: Type, text: &str) {
        let window = self.window();
        let colon = window.tokens.iter().rposition(|it| it.kind == TokenKind::Colon);
        let types = colon.map(|it| Self::type_ranges(&window, it + 1)).unwrap_or_default();
        for it in self.values_of_type(wanted).into_iter().take(2) {
            let name = self.ir.value_text(it);
            let mut edits = vec![(self.range.clone(), name.clone())];
            edits.extend(types.get(n).map(|it| (it.clone(), text.to_owned())));
            self.propose(format!("Pass {name}"), edits);
        }
        if let Some(value) = self.problem_operand().and_then(|it| it.1)
            && let Some(place) = types.get(n)
        {
            let Some((op, word)) =
                self.conversion_ops(self.type_of(value), wanted).first().copied()
            else {
                return;
            };
            let start = self.ir.range(self.op).start;
            let own = self.type_text(self.type_of(value));
            let fresh = self.unused_name(self.bare_name(value));
            let indentation = self.source.indentation(start);
            let written = self.ir.value_text(value);
            let line = format!("%{fresh} = {op} {written} : {own} {word} {text}\n{indentation}");
            self.propose(
                format!("Convert {written} to {text} by {op}"),
                vec![
                    (start..start, line),
                    (self.range.clone(), format!("%{fresh}")),
                    (place.clone(), text.to_owned()),
                ],
            );
        }
    }

    fn propose_more_arguments(&mut self, inputs: &[Type], results: &[Type], name: &str) {
        let places = self.operand_ranges();
        let own: Vec<String> = places.iter().map(|it| self.source.slice(it.clone())).collect();
        let range = self.ir.range(self.op);
        let op = self.source.slice(self.ir.name_range(self.op));
        let name_start = self.ir.name_range(self.op).start;
        let (Some(types), Some(given)) = (self.types_text(inputs), self.types_text(results)) else {
            return;
        };
        let given = if results.len() == 1 { given } else { format!("({given})") };
        for skip in 0..2 {
            let Some(more) = self.values_of_types(&inputs[own.len()..], skip) else { return };
            let mut all = own.clone();
            all.extend(more.iter().cloned());
            let text = format!("{op} {name}({}) : ({types}) -> {given}", all.join(", "));
            self.propose_replacement(
                format!("Pass {} too", more.join(", ")),
                name_start..range.end,
                text,
            );
        }
    }

    /// The callee of the op.
    fn callee(&self) -> Option<Op> {
        let uses = &self.ir.extra(self.op).symbol_uses;
        uses.first().and_then(|it| self.ir.resolve_symbol(self.op, it.1))
    }

    pub(super) fn advise_on_successor_operands(&mut self) {
        let successors = self.ir.extra(self.op).successors.clone();
        let start = self.ir.start(self.op);
        let found = successors.iter().find(|it| {
            let own = self.ir.absolute_at(self.op, start, it.span);
            let is_operand = |n: u32| {
                let operand = &self.ir.op(self.op).operands[n as usize];
                self.ir.absolute_at(self.op, start, operand.span) == self.range
            };
            own == self.range || it.operands.clone().any(is_operand)
        });
        let Some(successor) = found.or(successors.first()) else { return };
        let Some(block) = successor.block else { return };
        let args = self.ir.block(block).args.clone();
        let types: Vec<Type> = args.iter().map(|&it| self.type_of(it)).collect();
        let name = format!("^{}", self.ir.interner.str(successor.name));
        if let Some(label) = self.ir.block(block).label {
            let range = self.ir.name_range(label);
            let list = self.shown(&types);
            let list = if list.is_empty() {
                "no arguments".to_owned()
            } else {
                format!("({})", list.join(", "))
            };
            self.add_related(range, format!("{name} takes {list}"));
        }
        let op = self.ir.op_name(self.op).to_owned();
        let n = successor.operands.len();
        if let Some((at, Some(value))) = self.problem_operand() {
            let index = at - successor.operands.start as usize;
            let Some(&wanted) = types.get(index) else { return };
            let (text, found) = (self.type_text(wanted), self.type_text(self.type_of(value)));
            let written = self.problem_text();
            self.set_message(format!(
                "argument {index} of {name} is {text}, but {written} has type {found}"
            ));
            self.set_help(format!("Pass a value of type {text}, or convert {written}"));
            self.propose_arguments(usize::MAX, wanted, &text);
            let place = self.range.clone();
            self.propose_conversion(&place, value, wanted, &text);
            self.propose_other_values(&place, wanted, value);
            return;
        }
        self.set_message(format!(
            "`{op}` passes {} to {name}, which takes {}",
            words::count_text(n, "operand"),
            words::count_text(types.len(), "argument")
        ));
        self.set_help(format!("Pass a value for each argument of {name}"));
        let span = self.ir.absolute_at(self.op, start, successor.span);
        // The list of operands in parentheses after the name.
        let window = self.window();
        let behind = window.token_index_after(span.end);
        let is_list = window.token(behind).is_some_and(|it| it.kind == TokenKind::LParen && n > 0);
        let end = if is_list {
            window.tokens[behind..]
                .iter()
                .find(|it| it.kind == TokenKind::RParen)
                .map_or(span.end, |it| window.range(*it).end)
        } else {
            span.end
        };
        if types.is_empty() {
            return self.propose_replacement("Pass nothing", span.end..end, "");
        }
        let Some(text) = self.types_text(&types) else { return };
        for skip in 0..3 {
            let Some(names) = self.values_of_types(&types, skip) else { return };
            let list = names.join(", ");
            self.propose_replacement(
                format!("Pass {list}"),
                span.end..end,
                format!("({list} : {text})"),
            );
        }
    }
}

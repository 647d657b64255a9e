//! Advice on the terminators of blocks and regions, and on the values that they pass on.

use super::{Adviser, words};
use crate::verify::END_OF_REGION;
use crate::{Code, Op, OpKind, Traits, Type};

impl Adviser<'_> {
    /// The op at the end of the regions of an op.
    fn end_of(&self, parent: Op) -> Option<&'static str> {
        let kind = self.ir.op(parent).kind;
        Some(match self.ir.op_name(parent).split('.').next()? {
            _ if kind == OpKind::FuncFunc => "return",
            "secret" => "secret.yield",
            "scf" => "scf.yield",
            "affine" => "affine.yield",
            _ => kind.implicit_terminator()?.spec().name,
        })
    }

    /// The types of the results of an op, as its regions give them.
    fn results_inside(&self, op: Op) -> Vec<Type> {
        let mut types = self.result_types(op);
        if self.ir.is_secret_generic(op) {
            for it in &mut types {
                *it = self.secret_content_type(*it);
            }
        }
        types
    }

    pub(super) fn advise_on_missing_terminator(&mut self) {
        let data = self.ir.op(self.op);
        let is_empty = self.problem.code == Code::EmptyBlock;
        let label = self.ir.labels(data.parent).find(|&it| self.ir.name_range(it) == self.range);
        let region = match (is_empty, label) {
            (true, None) => data.regions.first().map_or(data.parent, |it| it.1),
            _ => data.parent,
        };
        let Some(parent) = self.ir.region(region).parent else { return };
        let Some(end) = self.end_of(parent) else { return };
        let wanted = if self.ir.op(parent).kind == OpKind::FuncFunc {
            let Some((_, results)) = self.signature(parent) else { return };
            results
        } else {
            self.results_inside(parent)
        };
        let around = self.symbol_or_op_name(parent);
        let types = self.shown(&wanted);
        let line = match types.len() {
            0 => end.to_owned(),
            _ => format!("{end} %value : {}", types.join(", ")),
        };
        let block = if self.ir.has_labels(region) {
            format!("this block of {around}")
        } else {
            format!("the body of {around}")
        };
        if is_empty {
            self.set_message(format!("{block} is empty: expected at least a terminator"));
        } else {
            self.set_message(format!(
                "{block} ends without a terminator: its last op is `{}`",
                self.ir.op_name(self.op)
            ));
        }
        let range = self.ir.name_range(parent);
        self.add_related(range, format!("{around} is declared here"));
        // The last op may be a misspelled terminator.
        let last = self.ir.op_name(self.op).to_owned();
        let short = last.rsplit('.').next().unwrap_or("");
        if matches!(short, "return" | "yield" | "end") && !is_empty && last != end {
            self.set_message(format!("{block} ends with `{last}`, but `{end}` is expected"));
            self.set_help(format!("Write `{end}` instead of `{last}`"));
            return self.propose_replacement(
                format!("Replace by {end}"),
                self.ir.name_range(self.op),
                end,
            );
        }
        self.set_help(format!("Add `{line}` at its end"));
        let (at, indentation) = match label {
            Some(it) => (self.ir.range(it).end, self.indentation(it) + "  "),
            None if is_empty => self.end_of_region(region),
            None => (self.ir.range(self.op).end, self.indentation(self.op)),
        };
        // The block may be meant to continue with the next block.
        let next = self.next_label(label.unwrap_or(self.op));
        if let Some(next) = next {
            let name = self.ir.interner.str(self.ir.op(next).name).to_owned();
            if self.ir.op(next).results.is_empty() {
                self.propose_insertion(
                    format!("Branch to ^{name}"),
                    at,
                    format!("\n{indentation}cf.br ^{name}"),
                );
                self.set_help(format!("Add `cf.br ^{name}` or `{line}` at its end"));
            }
        }
        if wanted.is_empty() {
            self.propose_insertion(format!("Add `{end}`"), at, format!("\n{indentation}{end}"));
            if next.is_none() {
                self.mark_as_sure();
            }
            return;
        }
        let text: Vec<String> =
            wanted.iter().filter_map(|&it| self.ir.interner.insertable_type_text(it)).collect();
        if text.len() != wanted.len() {
            return;
        }
        for names in self.yield_candidates(&wanted, is_empty) {
            let list = names.join(", ");
            let line = format!("\n{indentation}{end} {list} : {}", text.join(", "));
            self.propose_insertion(format!("Add `{end} {list}`"), at, line);
        }
    }

    /// Lists of values that the terminator of a block may pass on, nearest first.
    fn yield_candidates(&self, wanted: &[Type], is_empty: bool) -> Vec<Vec<String>> {
        // The results of the last op and of the preceding ops are visible at the end.
        let mut values = if is_empty { Vec::new() } else { self.ir.op(self.op).results.to_vec() };
        values.retain(|&it| self.ir.value(it).name != crate::Name::EMPTY);
        values.extend(self.visible_values());
        if is_empty {
            let regions = self.ir.op(self.op).regions.clone();
            for (_, region) in regions {
                values.extend(self.ir.block(self.ir.region(region).entry).args.iter());
            }
        }
        let of_type = |ty: Type| -> Vec<String> {
            let fits = values.iter().filter(|&&it| self.is_of_type(it, ty));
            fits.map(|&it| self.ir.value_text(it)).take(3).collect()
        };
        match wanted {
            [one] => of_type(*one).into_iter().map(|it| vec![it]).collect(),
            more => {
                let all: Option<Vec<String>> =
                    more.iter().map(|&it| of_type(it).into_iter().next()).collect();
                all.into_iter().collect()
            }
        }
    }

    fn next_label(&self, op: Op) -> Option<Op> {
        self.ir.next(op).filter(|&it| self.ir.op(it).kind == OpKind::Label)
    }

    pub(super) fn advise_on_terminator_not_last(&mut self) {
        let name = self.ir.op_name(self.op).to_owned();
        let next = self.ir.next(self.op);
        self.set_message(format!(
            "`{name}` must be the last op of its block: the op after it can never run"
        ));
        let Some(next) = next else { return };
        let range = self.ir.name_range(next);
        self.add_related(range, "this op can never run");
        self.set_help("Move it before the terminator, or remove it");
        // Proposes to exchange the two ops.
        let (a, b) = (self.ir.range(self.op), self.ir.range(next));
        let last_is_terminator = self.ir.op(next).kind.has(Traits::TERMINATOR);
        let is_short = b.end - a.start < 1 << 16;
        if is_short && !last_is_terminator && self.ir.next(next).is_none() {
            let (first, second) = (self.source.slice(a.clone()), self.source.slice(b.clone()));
            let title = format!("Move `{}` before `{name}`", self.ir.op_name(next));
            self.propose(title, vec![(a, second), (b, first)]);
        } else if last_is_terminator && is_short {
            let line = self.source.line_start(a.start);
            if self.source.is_first_on_line(a.start) {
                let end = self.source.line_start(b.start);
                if end > line {
                    self.propose_replacement(format!("Remove this `{name}`"), line..end, "");
                }
            }
        }
    }

    pub(super) fn advise_on_wrong_terminator(&mut self) {
        let (at, message) = (self.range.clone(), self.problem.message.clone());
        let mut quoted = message.split('\'').skip(1).step_by(2);
        let (Some(wanted), Some(found)) = (quoted.next(), quoted.next()) else {
            return self.set_help("Write the terminator that the message names");
        };
        let (wanted, found) = (wanted.to_owned(), found.to_owned());
        self.set_help(format!("Write `{wanted}` instead of `{found}`"));
        let regions = self.ir.op(self.op).regions.clone();
        for (_, region) in regions {
            let last = self.ir.items(region).last();
            let Some(last) = last.filter(|&it| self.ir.op_name(it) == found) else { continue };
            let range = self.ir.name_range(last);
            if range != at {
                self.add_related(range.clone(), format!("`{found}` ends this region"));
            }
            self.propose_replacement(format!("Replace by {wanted}"), range, wanted.clone());
        }
    }

    pub(super) fn advise_on_missing_else(&mut self) {
        if self.ir.op(self.op).regions.is_empty() {
            return;
        }
        let wanted = self.result_types(self.op);
        let types = self.shown(&wanted);
        self.set_message(format!(
            "`scf.if` gives {}, so it needs an `else` region",
            words::count_text(wanted.len(), "value")
        ));
        let name = self.ir.op(self.op).result_names.first().copied();
        if let Some(name) = name {
            let range = self.ir.absolute(self.op, name.span);
            self.add_related(
                range,
                format!(
                    "this value has type {} and no value if the condition is false",
                    types.join(", ")
                ),
            );
        }
        self.set_help(format!("Add `else {{ scf.yield %value : {} }}`", types.join(", ")));
        let end = self.ir.range(self.op).end;
        let indentation = self.indentation(self.op);
        for skip in 0..3 {
            let Some(names) = self.values_of_types(&wanted, skip) else { return };
            let list = names.join(", ");
            let text = format!(
                " else {{\n{indentation}  scf.yield {list} : {}\n{indentation}}}",
                types.join(", ")
            );
            self.propose_insertion(format!("Add an `else` that yields {list}"), end, text);
        }
    }

    pub(super) fn advise_on_region_values(&mut self) {
        let is_end =
            self.ir.op(self.op).kind.has(Traits::TERMINATOR) || self.ir.is_secret_yield(self.op);
        let outer = if is_end { self.ir.parent_op(self.op) } else { Some(self.op) };
        let Some(outer) = outer else { return };
        let around = self.ir.op_name(outer).to_owned();
        let is_secret = self.ir.is_secret_generic(outer);
        let wanted = self.results_inside(outer);
        let list = self.shown(&wanted);
        if !is_end {
            // The terminator is implicit.
            if !self.problem.message.starts_with(END_OF_REGION) || wanted.is_empty() {
                let message = format!("{} (in `{around}`)", self.problem.message);
                self.set_message(message);
                return self.set_help("Make the values and the types of the op agree");
            }
            self.set_message(format!(
                "`{around}` gives {}, but its body ends without a yield",
                words::count_text(wanted.len(), "value")
            ));
            let Some(end) = self.end_of(outer) else { return };
            self.set_help(format!(
                "Add `{end} %value : {}` at the end of the body",
                list.join(", ")
            ));
            self.advise_on_misspelled_terminator(outer);
            return self.propose_yield(outer, end, &wanted, &list);
        }
        let own = self.ir.op_name(self.op).to_owned();
        let operands = self.ir.op(self.op).operands.clone();
        let written = self.source.slice(self.ir.name_range(self.op));
        let name = self.ir.op(outer).result_names.first().copied();
        let range = match name {
            Some(it) => self.ir.absolute(outer, it.span),
            None => self.ir.name_range(outer),
        };
        let returned = if list.is_empty() { "nothing".to_owned() } else { list.join(", ") };
        self.add_related(range, format!("`{around}` returns {returned}"));
        if operands.len() != wanted.len() {
            self.set_message(format!(
                "`{own}` gives {}, but `{around}` returns {returned}",
                words::count_text(operands.len(), "value")
            ));
            self.set_help(format!("Yield {returned}"));
            let range = self.ir.range(self.op);
            for names in self.yield_candidates(&wanted, false) {
                let names = names.join(", ");
                self.propose_replacement(
                    format!("Yield {names}"),
                    range.clone(),
                    format!("{written} {names} : {returned}"),
                );
            }
            if wanted.is_empty() {
                self.propose_replacement("Yield nothing", range, written);
            }
            return;
        }
        for (n, operand) in operands.iter().enumerate() {
            let Some(value) = operand.value else { continue };
            if self.is_of_type(value, wanted[n]) {
                continue;
            }
            let (name, found) = (self.ir.value_text(value), self.type_text(self.type_of(value)));
            self.set_message(format!(
                "`{own}` gives {name} of type {found}, but `{around}` returns {}",
                list[n]
            ));
            self.set_help(format!(
                "Yield a value of type {}, or change the result type of `{around}`",
                list[n]
            ));
            let place = self.ir.absolute(self.op, operand.span);
            let own_type = self.type_ranges_in_header(&found).into_iter().nth(0);
            for it in self.values_of_type(wanted[n]).into_iter().take(2) {
                let other = self.ir.value_text(it);
                let mut edits = vec![(place.clone(), other.clone())];
                edits.extend(own_type.clone().map(|it| (it, list[n].clone())));
                self.propose(format!("Yield {other}"), edits);
            }
            self.propose_conversion(&place, value, wanted[n], &list[n].clone());
            if is_secret {
                self.propose_result_type(outer, n, value);
            }
            return;
        }
    }

    /// Advises on a region whose last op has almost the name of a terminator.
    fn advise_on_misspelled_terminator(&mut self, outer: Op) {
        let regions = self.ir.op(outer).regions.clone();
        for (_, region) in regions {
            let Some(last) = self.ir.items(region).last() else { continue };
            let name = self.ir.op_name(last).to_owned();
            let near = super::nearest(&name, ["scf.yield", "affine.yield"]);
            if self.ir.op(last).kind == OpKind::Unknown
                && let [one] = near[..]
            {
                let range = self.ir.name_range(last);
                self.add_related(
                    range.clone(),
                    format!("unknown op `{name}`; did you mean `{one}`?"),
                );
                self.set_help(format!("Write `{one}` instead of `{name}`"));
                self.propose_replacement(format!("Replace by {one}"), range, one);
                return self.mark_as_sure();
            }
        }
    }

    fn propose_yield(&mut self, outer: Op, end: &str, wanted: &[Type], list: &[String]) {
        let regions = self.ir.op(outer).regions.clone();
        let Some(&(_, region)) = regions.iter().find(|it| {
            let last = self.ir.items(it.1).last();
            last.is_none_or(|it| !self.ir.op(it).kind.has(Traits::TERMINATOR))
        }) else {
            return;
        };
        let (at, indentation) = self.end_of_region(region);
        let args = self.ir.block(self.ir.region(region).entry).args.clone();
        let last = self.ir.items(region).last();
        let mut values: Vec<crate::Value> = Vec::new();
        if let Some(last) = last {
            values.extend(self.ir.op(last).results.iter());
            values.extend(self.visible_values_at(last));
        } else {
            values.extend(args.iter());
            values.extend(self.visible_values());
        }
        for skip in 0..2 {
            let one = |&ty: &Type| {
                let mut fits = values.iter().filter(|&&it| self.is_of_type(it, ty));
                fits.nth(skip).map(|&it| self.ir.value_text(it))
            };
            let names: Option<Vec<String>> = wanted.iter().map(one).collect();
            let Some(names) = names else { return };
            let names = names.join(", ");
            let text = format!("\n{indentation}{end} {names} : {}", list.join(", "));
            self.propose_insertion(format!("Add `{end} {names}`"), at, text);
        }
    }

    pub(super) fn advise_on_public_declaration(&mut self) {
        let name = self.symbol_or_op_name(self.op);
        self.set_message(format!("the declaration of {name} has no body, so it must be private"));
        self.set_help(format!("Write `func.func private {name}`, or add a body"));
        let range = self.ir.name_range(self.op);
        let Some((symbol, _)) = self.symbol(self.op) else { return };
        let between = self.source.slice(range.end..symbol.start);
        if let Some(at) = between.find("public") {
            self.propose_replacement(
                "Replace by private",
                range.end + at..range.end + at + 6,
                "private",
            );
        } else {
            self.propose_insertion("Insert `private`", range.end, " private");
        }
        self.mark_as_sure();
    }

    pub(super) fn advise_on_named_block(&mut self) {
        let name = self.problem_text();
        self.set_message(format!(
            "the label `{name}` is not allowed at the start of a body with named arguments"
        ));
        self.set_help("Remove the label: the function header labels the first block");
        if let Some(parent) = self.ir.parent_op(self.op) {
            let range = self.ir.name_range(parent);
            self.add_related(range, "the arguments are named here");
        }
    }

    pub(super) fn advise_on_branch_to_entry(&mut self) {
        let Some(&(_, region)) = self.ir.op(self.op).regions.first() else { return };
        let block = self.ir.entry_block(region);
        let preds = self.ir.block(block).preds.clone();
        if let Some(&(from, _)) = preds.first() {
            let range = self.ir.range(from);
            self.add_related(
                range.start..range.end.min(range.start + 80),
                "this op branches to the first block",
            );
        }
        self.set_message(format!(
            "{}: no op may branch to the first block of its body",
            self.symbol_or_op_name(self.op)
        ));
        self.set_help("Let the first block branch to a new block, and branch to that one");
    }

    pub(super) fn advise_on_misplaced(&mut self) {
        let name = self.ir.op_name(self.op).to_owned();
        let parent = self.ir.parent_op(self.op);
        let Some(parent) = parent.filter(|&it| self.ir.op(it).kind != OpKind::Chunk) else {
            return self.set_help(format!("Move `{name}` into the op that it belongs to"));
        };
        let around = self.symbol_or_op_name(parent);
        let range = self.ir.name_range(parent);
        self.add_related(range, format!("`{name}` is in {around}"));
        if self.ir.op(self.op).kind.has(Traits::TERMINATOR)
            && let Some(end) = self.end_of(parent)
        {
            self.set_help(format!("{around} ends with `{end}`"));
            self.propose_replacement(format!("Replace by {end}"), self.ir.name_range(self.op), end);
        } else {
            self.set_help(format!("Move `{name}` out of {around}"));
        }
    }

    pub(super) fn advise_on_undefined_block(&mut self) {
        let written = self.problem_text();
        let name = written.trim_start_matches('^').to_owned();
        let region = self.ir.op(self.op).parent;
        let near = self.similar_labels(&name, region);
        self.set_message(format!("use of undefined block `{written}`"));
        let labels: Vec<Op> = self.ir.labels(region).take(256).collect();
        let shown = |it: &Op| format!("^{}", self.ir.interner.str(self.ir.op(*it).name));
        if let Some(first) = near.first().cloned() {
            let found = labels.iter().find(|it| shown(it) == first).copied();
            if let Some(it) = found {
                let range = self.ir.name_range(it);
                self.add_related(range, format!("{first} is defined here"));
            }
            self.set_help("Correct the name, or add the block");
            let place = self.range.clone();
            return self.suggest_names(&near, &place);
        }
        let all: Vec<String> = labels.iter().take(8).map(shown).collect();
        self.set_help(if all.is_empty() {
            format!("Add the block `{written}:`, or correct the name")
        } else {
            format!("Add the block `{written}:`, or branch to {}", words::alternatives(&all))
        });
        // Blocks without predecessors come first.
        let mut order: Vec<Op> = labels.clone();
        order.sort_by_key(|&it| !self.ir.block(self.ir.label_block(it)).preds.is_empty());
        for it in order.into_iter().take(3) {
            let name = shown(&it);
            let range = self.ir.name_range(it);
            if self.out.related.is_empty() {
                self.add_related(range, format!("{name} is defined here"));
            }
            self.propose_replacement(format!("Branch to {name}"), self.range.clone(), name);
        }
    }

    pub(super) fn advise_on_redefined_block(&mut self) {
        let name = self.ir.interner.str(self.ir.op(self.op).name).to_owned();
        let region = self.ir.op(self.op).parent;
        self.set_message(format!("redefinition of block `^{name}`"));
        let first = self.ir.find_label(region, self.ir.op(self.op).name);
        if let Some(first) = first.filter(|&it| it != self.op) {
            let range = self.ir.name_range(first);
            self.add_related(range, format!("^{name} is first defined here"));
        }
        let is_free = |it: &String| {
            let id = self.ir.interner.find_name(it);
            id.is_none_or(|it| self.ir.find_label(region, it).is_none())
        };
        let stem = name.trim_end_matches(|it: char| it.is_ascii_digit());
        let n: u32 = name[stem.len()..].parse().unwrap_or(0);
        let fresh = (1..1000).map(|it| format!("{stem}{}", n.saturating_add(it))).find(is_free);
        let Some(fresh) = fresh else { return };
        self.set_help(format!("Rename one of them, such as ^{fresh}"));
        let range = self.ir.name_range(self.op);
        self.propose_replacement(
            format!("Rename this block to ^{fresh}"),
            range,
            format!("^{fresh}"),
        );
    }
}

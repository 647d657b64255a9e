//! The problems of names, derived from the tables on demand.

use smallvec::SmallVec;

use crate::string::unquoted;
use crate::{Code, Form, Ir, Name, Op, OpKind, Problem, Region, Span, Value};

impl Ir {
    /// The problems of an op: those of its syntax and those of the names that it uses. Spans are in
    /// its own text.
    pub(crate) fn problems_of(&self, op: Op) -> Vec<Problem> {
        let data = self.op(op);
        let mut out = self.extra(op).problems.clone();
        let named = |span: Span, code, message| Problem { code, span, message };
        if !self.has_known_names(op) {
            return out;
        }
        let mut missing: SmallVec<[(Name, u32); 4]> = SmallVec::new();
        for operand in &data.operands {
            let key = (operand.name, operand.number);
            if operand.value.is_some() || operand.may_be_argument || missing.contains(&key) {
                continue;
            }
            missing.push(key);
            let name = self.interner.str(operand.name);
            if self.visible_value(data.parent, operand.name).is_some() {
                let message = format!("%{name} has no result number {}", operand.number);
                out.push(named(operand.span, Code::InvalidResultNumber, message));
            } else {
                out.push(named(
                    operand.span,
                    Code::UndefinedValue,
                    format!("use of undefined value %{name}"),
                ));
            }
        }
        for successor in &self.extra(op).successors {
            if successor.block.is_none() {
                let message =
                    format!("use of undefined block ^{}", self.interner.str(successor.name));
                out.push(named(successor.span, Code::UndefinedBlock, message));
            }
        }
        if data.kind == OpKind::Label {
            let first = self.find_label(data.parent, data.name);
            if first != Some(op) {
                let message = format!("redefinition of block ^{}", self.interner.str(data.name));
                out.push(named(data.name_span, Code::RedefinedBlock, message));
            }
        }
        for it in &self.extra(op).alias_uses {
            let is_there = self.find_alias(op, it.name).is_some();
            if !is_there || !it.is_location && self.alias(op, it.name).is_none() {
                let text = self.interner.str(it.name);
                let message = if is_there {
                    format!("use of alias {text} before its definition")
                } else {
                    format!("use of undefined alias {text}")
                };
                out.push(named(it.span, Code::UndefinedAlias, message));
            }
        }
        if self.is_redefinition(op) {
            let message = format!("redefinition of alias {}", self.interner.str(data.name));
            out.push(named(data.name_span, Code::RedefinedAlias, message));
        }
        out
    }

    /// Returns true if undefined names in an op are errors: the syntax of the op and of the ops
    /// around it is known. This includes opaque ops whose operands are known: `secret.generic`, and
    /// some ops without regions ([`Ir::is_opaque_with_known_operands`]).
    pub(crate) fn has_known_names(&self, op: Op) -> bool {
        let mut at = Some(op);
        while let Some(it) = at {
            let data = self.op(it);
            let is_known = || self.is_secret_generic(it) || self.is_opaque_with_known_operands(it);
            if data.form == Form::Opaque && data.kind.is_op() && !is_known() {
                return false;
            }
            at = self.parent_op(it);
        }
        true
    }

    /// Definitions of a name that is already visible: the op whose text contains the definition,
    /// and the problem.
    pub(crate) fn redefinitions(&self) -> Vec<(Op, Problem)> {
        let mut out = Vec::new();
        #[allow(clippy::iter_over_hash_type, reason = "the caller sorts by position")]
        for &name in &self.names.possible_duplicates {
            for region in self.names.regions_of(name) {
                let defs = self.names.defs(region, name);
                let outer = self
                    .region(region)
                    .parent
                    .and_then(|op| Some((op, self.visible_value(self.op(op).parent, name)?)))
                    .filter(|&(op, outer)| self.is_defined_before(outer, op));
                for &value in defs.iter().skip(usize::from(outer.is_none())) {
                    let Some(op) = self.definition_site(value) else { continue };
                    if !self.has_known_names(op) || !outer.is_none_or(|(_, it)| self.is_sure(it)) {
                        continue;
                    }
                    let text = self.interner.str(name);
                    let problem = Problem {
                        code: Code::RedefinedValue,
                        span: self.value(value).span,
                        message: format!("redefinition of value %{text}"),
                    };
                    out.push((op, problem));
                }
            }
        }
        out
    }

    /// Returns true if any region defines a `%value`, a `^label` or a `@symbol` of that name.
    pub(crate) fn is_defined_anywhere(&self, text: &str) -> bool {
        let Some(name) = self.interner.find_name(&unquoted(text.get(1..).unwrap_or(""))) else {
            return false;
        };
        if text.starts_with('^') {
            return self.names.labels.keys().any(|it| it.1 == name);
        }
        if text.starts_with('@') {
            return self.is_symbol_anywhere(name);
        }
        !self.names.regions_of(name).is_empty()
    }

    /// The regions that define a value of that name.
    pub(crate) fn regions_defining(&self, name: Name) -> Vec<Region> {
        self.names.regions_of(name)
    }

    fn is_sure(&self, value: Value) -> bool {
        self.definition_site(value).is_none_or(|op| self.has_known_names(op))
    }

    /// Returns true if an op or one of its names may have a problem.
    pub(crate) fn has_suspects(&self) -> bool {
        !self.names.suspects.is_empty() || !self.names.possible_duplicates.is_empty()
    }

    /// All ops that may have problems, in no particular order.
    pub(crate) fn suspects(&self) -> impl Iterator<Item = Op> + '_ {
        self.names.suspects.iter().copied()
    }
}

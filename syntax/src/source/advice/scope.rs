//! The values, types and text near a problem.

use std::ops::Range;

use super::Adviser;
use crate::lex::lex_part;
use crate::{AttrData, Name, Op, OpKind, Region, Token, TokenKind, Traits, Type, TypeData, Value};

/// Maximum number of items before an op that are searched for values.
const MAX_ITEMS: usize = 256;
/// Maximum number of values that are considered.
const MAX_VALUES: usize = 256;
/// Number of bytes of text that are read before and after a problem.
const WINDOW_LEN: usize = 4096;

/// A part of the text of the file, with its tokens.
pub(super) struct TextWindow {
    pub(super) start: usize,
    pub(super) text: String,
    pub(super) tokens: Vec<Token>,
}

impl TextWindow {
    /// The range of a token in the file.
    pub(super) fn range(&self, token: Token) -> Range<usize> {
        self.start + token.start as usize..self.start + token.end as usize
    }

    pub(super) fn str(&self, token: Token) -> &str {
        &self.text[token.range()]
    }

    /// The index of the first token that ends after an offset in the file.
    pub(super) fn token_index_after(&self, at: usize) -> usize {
        let is_before =
            |it: &Token| self.start + it.end as usize <= at && it.kind != TokenKind::Eof;
        self.tokens.iter().take_while(|it| is_before(it)).count()
    }

    /// The token at an index; `None` at the end of the text.
    pub(super) fn token(&self, at: usize) -> Option<Token> {
        self.tokens.get(at).copied().filter(|it| it.kind != TokenKind::Eof)
    }
}

impl Adviser<'_> {
    /// The text of a range that is clipped to the file and aligned to characters, with its start.
    fn clamped_text(&self, range: Range<usize>) -> (usize, String) {
        let rope = self.source.text();
        let end = range.end.min(rope.len_bytes());
        let start = range.start.min(end);
        let start = rope.char_to_byte(rope.byte_to_char(start));
        let end = rope.char_to_byte(rope.byte_to_char(end));
        (start, self.source.slice(start..end))
    }

    fn window_of(&self, range: Range<usize>) -> TextWindow {
        let (start, text) = self.clamped_text(range);
        let tokens = lex_part(&text, false).tokens;
        TextWindow { start, text, tokens }
    }

    /// The text of the op near the problem. The line after the op is not included.
    pub(super) fn window(&self) -> TextWindow {
        let op = self.ir.range(self.op);
        let start = op.start.max(self.range.start.saturating_sub(WINDOW_LEN)).min(self.range.start);
        let end = op.end.min(self.range.end + WINDOW_LEN).max(self.range.end);
        self.window_of(start..end)
    }

    /// The text of a whole op, if it is short.
    pub(super) fn window_of_op(&self, op: Op) -> Option<TextWindow> {
        let range = self.ir.range(op);
        (range.len() <= WINDOW_LEN).then(|| self.window_of(range))
    }

    /// The offset and the text of the line that contains the byte at `at`.
    pub(super) fn line_at(&self, at: usize) -> (usize, String) {
        let start = self.source.line_start(at);
        let (start, mut text) = self.clamped_text(start..at + WINDOW_LEN);
        if let Some(end) = text.char_indices().find(|it| start + it.0 >= at && it.1 == '\n') {
            text.truncate(end.0);
        }
        (start, text)
    }

    /// The values that the op may use, nearest first: results of the preceding ops and arguments,
    /// also of the enclosing regions up to an isolated one. Not all of them dominate the op.
    pub(super) fn visible_values(&self) -> Vec<Value> {
        self.visible_values_at(self.op)
    }

    pub(super) fn visible_values_at(&self, op: Op) -> Vec<Value> {
        let mut out: Vec<Value> = Vec::new();
        let mut n_items = 0;
        let mut at = op;
        let is_header = self.ir.op(op).kind.has(Traits::ISOLATED);
        if is_header {
            return out;
        }
        loop {
            let mut before = self.ir.prev(at);
            while let Some(it) = before.filter(|_| n_items < MAX_ITEMS) {
                n_items += 1;
                #[cfg(test)]
                crate::work::count_steps(1);
                out.extend(self.ir.op(it).results.iter().rev());
                before = self.ir.prev(it);
            }
            let region = self.ir.op(at).parent;
            let entry = self.ir.region(region).entry;
            out.extend(self.ir.block(entry).args.iter());
            let Some(parent) = self.ir.region(region).parent else { break };
            if self.ir.op(parent).kind.has(Traits::ISOLATED) || out.len() > MAX_VALUES {
                break;
            }
            at = parent;
        }
        out.retain(|&it| self.ir.value(it).name != Name::EMPTY);
        out.truncate(MAX_VALUES);
        out
    }

    /// Like [`Self::visible_values`], only those of a type; unused values come first.
    pub(super) fn values_of_type(&self, ty: Type) -> Vec<Value> {
        let mut all = self.visible_values();
        all.retain(|&it| self.is_of_type(it, ty));
        all.sort_by_key(|&it| !self.ir.value(it).uses.is_empty());
        all
    }

    pub(super) fn is_of_type(&self, value: Value, ty: Type) -> bool {
        let found = self.type_of(value);
        found != Type::UNKNOWN && (found == ty || self.ir.interner.is_same_type(found, ty))
    }

    /// The type of a value; [`Type::UNKNOWN`] if it is guessed.
    pub(super) fn type_of(&self, value: Value) -> Type {
        let data = self.ir.value(value);
        if data.is_guessed { Type::UNKNOWN } else { data.ty }
    }

    /// The name of a value without `%`.
    pub(super) fn bare_name(&self, value: Value) -> &str {
        self.ir.interner.str(self.ir.value(value).name)
    }

    pub(super) fn type_text(&self, ty: Type) -> String {
        self.ir.interner.short_type_text(ty)
    }

    pub(super) fn shown(&self, types: &[Type]) -> Vec<String> {
        types.iter().map(|&it| self.type_text(it)).collect()
    }

    pub(super) fn result_types(&self, op: Op) -> Vec<Type> {
        self.ir.op(op).results.iter().map(|&it| self.type_of(it)).collect()
    }

    /// The range of a value's name at its definition.
    pub(super) fn definition_range(&self, value: Value) -> Option<Range<usize>> {
        let site = self.ir.definition_site(value)?;
        Some(self.ir.absolute(site, self.ir.value(value).span))
    }

    /// The index and the value of the operand at the problem.
    pub(super) fn problem_operand(&self) -> Option<(usize, Option<Value>)> {
        let start = self.ir.start(self.op);
        let operands = &self.ir.op(self.op).operands;
        let is_here = |span| self.ir.absolute_at(self.op, start, span) == self.range;
        let n = operands.iter().position(|it| is_here(it.span))?;
        Some((n, operands[n].value))
    }

    /// The innermost function that contains the op.
    pub(super) fn function(&self) -> Option<Op> {
        let mut at = self.ir.parent_op(self.op);
        while let Some(it) = at {
            if self.ir.op(it).kind == OpKind::FuncFunc {
                return Some(it);
            }
            at = self.ir.parent_op(it);
        }
        None
    }

    /// The types of the arguments and results of a function.
    pub(super) fn signature(&self, function: Op) -> Option<(Vec<Type>, Vec<Type>)> {
        let attr = self.ir.attr(function, "function_type")?;
        let AttrData::Type(ty) = self.ir.interner.attr_data(attr) else { return None };
        match self.ir.interner.type_data(*ty) {
            TypeData::Function { inputs, results } => Some((inputs.to_vec(), results.to_vec())),
            _ => None,
        }
    }

    /// The range and the name of the symbol that an op defines.
    pub(super) fn symbol(&self, op: Op) -> Option<(Range<usize>, &str)> {
        let (name, span) = self.ir.extra(op).symbol?;
        Some((self.ir.absolute(op, span), self.ir.interner.str(name)))
    }

    /// The indentation of the line of an op.
    pub(super) fn indentation(&self, op: Op) -> String {
        self.source.indentation(self.ir.range(op).start)
    }

    /// The offset at which an op can be appended to a region, and the indentation for it.
    pub(super) fn end_of_region(&self, region: Region) -> (usize, String) {
        let last = self.ir.items(region).last();
        match last {
            Some(it) => (self.ir.range(it).end, self.indentation(it)),
            None => {
                let start = self.ir.region_start(region);
                (start, self.source.indentation(start) + "  ")
            }
        }
    }

    /// A name without a value that is visible at the op, such as `%sum_1` or `%7`.
    pub(super) fn unused_name(&self, name: &str) -> String {
        let is_free = |name: &String| self.is_unused_name(name);
        let next = match name.parse::<u32>() {
            Ok(n) => (1..1000).map(|it| n.saturating_add(it).to_string()).find(is_free),
            Err(_) => (1..1000).map(|it| format!("{name}_{it}")).find(is_free),
        };
        next.unwrap_or_else(|| format!("{name}_0"))
    }
}

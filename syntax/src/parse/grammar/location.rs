//! Parses locations: the source positions that a program states for its ops.

use super::AliasUse;
use super::ast::LocTree;
use super::reader::{ReadResult, Reader, ReportedError};
use super::value_reader::{ParseTree, has_32_bits, run_rule};
use super::words::{Until, Word};
use crate::string::{quoted, unquoted};
use crate::{Attr, AttrData, Code, LocationPart, TokenKind};

impl Reader<'_, '_> {
    /// Parses an optional `loc(...)`.
    pub(crate) fn opt_location(&mut self) -> ReadResult {
        if !self.is_word("loc") {
            return Ok(());
        }
        self.at += 1;
        if self.peek() != TokenKind::LParen {
            return Err(self.expected("'(' in location"));
        }
        let (end, _) = self.value_extent(Until::Colon)?;
        self.parse(
            end,
            |grammar, words| run_rule(&grammar.location, words, ParseTree::Location),
            |it, raw| match raw {
                // An alias directly in `loc(#x)` may be defined later, so it is resolved once the
                // whole file is parsed.
                ParseTree::Location(LocTree::Alias(word)) => {
                    let alias = it.name(word.text);
                    let span = word.span();
                    it.out.alias_uses.push(AliasUse { name: alias, span, is_location: true });
                    Ok(())
                }
                ParseTree::Location(tree) => it.check_location(&tree),
                _ => Err(ReportedError),
            },
        )
    }

    /// Checks that all words of a file position except `to`, its lines and columns, fit into 32
    /// bits.
    fn check_file_position(&mut self, words: &[Word<'_>]) -> ReadResult {
        match words.iter().find(|it| it.text != "to" && !has_32_bits(it.text)) {
            Some(word) => {
                let message = "line and column are at most 4294967295".to_owned();
                Err(self.error_at(Code::TooLarge, word.span(), message))
            }
            None => Ok(()),
        }
    }

    /// Checks the aliases in the location of an op. The location itself is not stored here.
    fn check_location(&mut self, tree: &LocTree<'_>) -> ReadResult {
        match tree {
            LocTree::Alias(word) => self.hash_attr(word, None).map(|_| ()),
            LocTree::Unknown | LocTree::Named(_, None) => Ok(()),
            LocTree::FileLineCol(_, words) => self.check_file_position(words),
            LocTree::Named(_, Some(inner)) => self.check_location(inner),
            LocTree::CallSite(both) => {
                self.check_location(&both.0)?;
                self.check_location(&both.1)
            }
            LocTree::Fused(attr, list) => {
                if let Some(attr) = attr {
                    self.lower_attr(attr)?;
                }
                list.iter().try_for_each(|it| self.check_location(it))
            }
        }
    }

    /// Lowers a location to its parts, as MLIR prints them between the parentheses of `loc(..)`.
    pub(super) fn lower_location(&mut self, tree: &LocTree<'_>) -> ReadResult<Attr> {
        let mut parts: Vec<LocationPart> = Vec::new();
        match tree {
            LocTree::Alias(word) => {
                let attr = self.hash_attr(word, None)?;
                let is_location =
                    matches!(self.env.interner.attr_data(attr), AttrData::Location(_));
                if is_location {
                    return Ok(attr);
                }
                parts.push(self.location_text("unknown"));
            }
            LocTree::Unknown => parts.push(self.location_text("unknown")),
            LocTree::Named(name, inner) => {
                parts.push(self.location_text(&quoted(&unquoted(name.text))));
                if let Some(inner) = inner {
                    parts.push(self.location_text("("));
                    parts.push(LocationPart::Location(self.lower_location(inner)?));
                    parts.push(self.location_text(")"));
                }
            }
            LocTree::FileLineCol(file, words) => {
                self.check_file_position(words)?;
                let mut text = quoted(&unquoted(file.text));
                let mut mark = ":";
                for word in words {
                    if word.text == "to" {
                        text.push_str(" to ");
                        // If the line is omitted, a column follows.
                        mark = if words.len() == 4 { ":" } else { "" };
                    } else {
                        text.push_str(mark);
                        text.push_str(word.text);
                        mark = ":";
                    }
                }
                parts.push(self.location_text(&text));
            }
            LocTree::CallSite(both) => {
                parts.push(self.location_text("callsite("));
                parts.push(LocationPart::Location(self.lower_location(&both.0)?));
                parts.push(self.location_text(" at "));
                parts.push(LocationPart::Location(self.lower_location(&both.1)?));
                parts.push(self.location_text(")"));
            }
            LocTree::Fused(attr, list) => {
                parts.push(self.location_text("fused"));
                if let Some(attr) = attr {
                    parts.push(self.location_text("<"));
                    parts.push(LocationPart::Attr(self.lower_attr(attr)?));
                    parts.push(self.location_text(">"));
                }
                for (i, it) in list.iter().enumerate() {
                    parts.push(self.location_text(if i > 0 { ", " } else { "[" }));
                    parts.push(LocationPart::Location(self.lower_location(it)?));
                }
                parts.push(self.location_text(if list.is_empty() { "[]" } else { "]" }));
            }
        }
        Ok(self.env.interner.intern_attr(AttrData::Location(parts.into())))
    }

    fn location_text(&mut self, text: &str) -> LocationPart {
        LocationPart::Text(self.name(text))
    }
}

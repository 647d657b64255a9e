//! Advice on junk (comments of other languages, superfluous braces and signs, unclosed strings) and
//! on unclosed regions.

use std::ops::Range;

use super::Adviser;
use super::nearest;
use super::syntax::similar_ops;
use crate::source::braces::MISSING_BODY;
use crate::{Op, Region};

impl Adviser<'_> {
    /// The offset of the junk, and the text from there to the end of the line.
    fn junk_line(&self) -> (usize, String) {
        let name = self.ir.name_range(self.op);
        let (start, line) = self.line_at(name.start);
        (name.start, line.get(name.start - start..).unwrap_or("").to_owned())
    }

    pub(super) fn advise_on_expected_operation(&mut self) {
        let (at, rest) = self.junk_line();
        if self.range.start != at && self.advise_on_extra_brace() {
            return;
        }
        if self.advise_on_foreign_comment(at, &rest) {
            return;
        }
        let mut chars = rest.chars();
        let first = chars.next().unwrap_or(' ');
        let word: String = rest
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | '$'))
            .collect();
        match first {
            '}' => {
                let before = self.ir.prev(self.op).and_then(|it| {
                    Some(match self.symbol(it) {
                        Some((_, name)) => format!("@{name}"),
                        None => {
                            format!("`{}`", Some(self.ir.op_name(it)).filter(|it| !it.is_empty())?)
                        }
                    })
                });
                self.set_message(match before {
                    Some(it) => format!("unmatched `}}` after {it}: no region is open here"),
                    None => "unmatched `}`: no region is open here".to_owned(),
                });
                self.set_help("Remove it, or open the region that it closes");
                self.propose_removal("Remove the `}`", at..at + 1);
                // Alternatively, a `{` may be missing.
                if let Some(it) = self.out.proposals.last_mut() {
                    it.is_sure = false;
                }
                let regions = self.ir.prev(self.op).map(|it| self.ir.op(it).regions.clone());
                let closed =
                    regions.into_iter().flatten().rfind(|it| self.ir.region(it.1).is_closed);
                if let Some((_, region)) = closed {
                    let end = self.ir.region_start(region) + self.ir.region_len(region);
                    self.add_related(end..end + 1, "the last region is closed here");
                }
            }
            ';' | ',' | ')' | ']' | '>' | '.' => {
                self.set_message(format!("unexpected `{first}`"));
                self.set_help(match first {
                    ';' => "Ops end with their line: remove the `;`".to_owned(),
                    _ => format!("Remove the `{first}`"),
                });
                self.propose_removal(&format!("Remove the `{first}`"), at..at + 1);
            }
            '"' => self.advise_on_unclosed_string(at, &rest),
            '^' => {
                self.set_help("Labels begin blocks and belong inside the body of a function");
                self.set_message(format!(
                    "the label `{}` is not allowed here",
                    rest.split(['(', ':']).next().unwrap_or("")
                ));
            }
            '#' | '!' => {
                let name = rest.split([' ', '=']).next().unwrap_or("").to_owned();
                self.set_message(format!("expected an operation here, found `{name}`"));
                self.set_help("Aliases are defined at the top of the file, outside of functions; comments begin with `//`");
            }
            '%' if rest.starts_with("% ") => {
                let written = rest.split('=').next().unwrap_or("").trim().to_owned();
                self.set_message(format!(
                    "the name of a value is missing after `%` in `{written}`"
                ));
                self.set_help("Write the name directly after the `%`");
                let n = rest[1..].len() - rest[1..].trim_start().len();
                self.propose_replacement("Remove the space", at + 1..at + 1 + n, "");
                self.mark_as_sure();
            }
            '%' => {
                let name = rest.split([' ', '=', ',', ':']).next().unwrap_or("").to_owned();
                self.set_message(format!("expected an operation here, found `{name}`"));
                self.set_help(format!("Write `=` and an op after {name}"));
            }
            _ if !word.is_empty() => {
                self.set_message(format!("expected an operation here, found `{word}`"));
                let near = similar_ops(&word);
                if near.is_empty() {
                    self.set_help("Names of ops begin with their dialect, as in `arith.addi`; comments begin with `//`");
                } else {
                    self.set_help(format!("Write `{}`", near[0]));
                    self.suggest_names(&near, &(at..at + word.len()));
                }
            }
            _ => {
                self.set_message(format!("expected an operation here, found `{first}`"));
                self.set_help("Remove it, or complete it to an op; comments begin with `//`");
                self.propose_removal(&format!("Remove `{first}`"), at..at + first.len_utf8());
            }
        }
    }

    /// Advises on a brace that closes an op too early. Returns true if it gave advice.
    fn advise_on_extra_brace(&mut self) -> bool {
        let Some((closed, at)) = self.source.find_extra_brace(self.op) else { return false };
        let name = self.symbol_or_op_name(closed);
        self.set_message(format!(
            "unexpected `}}`: it closes {name}, but is indented as inside it"
        ));
        self.set_help("Remove the `}`");
        let regions = &self.ir.op(closed).regions;
        let starts = regions.iter().map(|it| self.ir.region_start(it.1));
        if let Some(start) = starts.filter(|&it| it <= at).max() {
            self.add_related(
                start.saturating_sub(1)..start,
                "the region that it closes begins here",
            );
        }
        if let Some(next) = self.ir.next(closed).filter(|&it| it != self.op) {
            let range = self.source.op_head(next);
            self.add_related(range, format!("so this op is outside of {name}"));
        }
        self.propose_removal("Remove the `}`", at..at + 1);
        // Alternatively, the line with its opening brace may be missing.
        if let Some(it) = self.out.proposals.last_mut() {
            it.is_sure = false;
        }
        true
    }

    /// The symbol of an op, or its name.
    pub(super) fn symbol_or_op_name(&self, op: Op) -> String {
        match self.symbol(op) {
            Some((_, name)) => format!("@{name}"),
            None => format!("`{}`", self.ir.op_name(op)),
        }
    }

    /// Advises on a function whose header ends without an opening brace. Returns true if it gave
    /// advice.
    pub(super) fn advise_on_missing_body(&mut self) -> bool {
        if !self.problem.message.starts_with(MISSING_BODY) {
            return false;
        }
        self.set_help("Write `{` at the end of the header");
        let body = if self.ir.is_followed_by_junk(self.op) {
            let problem = self.ir.extra(self.op).problems.last();
            problem.map(|it| self.ir.absolute(self.op, it.span))
        } else {
            let next = self.ir.next(self.op);
            next.map(|it| self.source.op_head(it))
        };
        if let Some(range) = body {
            self.add_related(range, "the body begins here");
        }
        self.propose_insertion("Insert `{`", self.range.start, " {");
        self.mark_as_sure();
        true
    }

    /// Proposes to remove a few characters, together with their line if it is otherwise empty.
    fn propose_removal(&mut self, title: &str, range: Range<usize>) {
        let (start, line) = self.line_at(range.start);
        let is_alone = line.trim().len() == range.len();
        let end = (start + line.len() + 1).min(self.source.text().len_bytes());
        self.propose_replacement(title, if is_alone { start..end } else { range }, "");
        self.mark_as_sure();
    }

    /// Advises on comments of other languages. Returns true if it gave advice.
    fn advise_on_foreign_comment(&mut self, at: usize, rest: &str) -> bool {
        if rest.starts_with("/*") {
            let shown: String = rest.chars().take(24).collect();
            self.set_message(format!("MLIR has no block comments: found `{}`", shown.trim_end()));
            self.set_help("Begin each line of the comment with `//`");
            let (start, text) = self.text_after(at);
            if let Some(end) = text[2..].find("*/").map(|it| it + 2) {
                let body = &text[2..end];
                let mut new = format!("//{}", body.trim_end());
                let indentation = self.source.indentation(at);
                new = new.replace('\n', &format!("\n{indentation}//"));
                let behind = text[end + 2..].lines().next().unwrap_or("");
                if !behind.trim().is_empty() {
                    new.push_str(&format!("\n{indentation}"));
                }
                self.propose_replacement("Use a `//` comment", start..start + end + 2, new);
                self.mark_as_sure();
            }
            return true;
        }
        let n_signs = if rest.starts_with("--") {
            2
        } else if rest.starts_with(['#', ';', '/']) && !rest.starts_with("//") {
            1
        } else {
            return false;
        };
        // `#map = ...` is an alias; `# map` and `#map is` are comments. A `;` without text after it
        // is not a comment.
        let behind = &rest[n_signs..];
        let is_alias = rest.starts_with('#') && behind.contains('=') && !behind.starts_with(' ');
        if is_alias || rest.starts_with(';') && behind.trim_start_matches(';').trim().is_empty() {
            return false;
        }
        let sign = &rest[..n_signs];
        self.set_message(format!("unexpected `{sign}`: comments begin with `//`"));
        self.set_help(format!("Write `//` instead of `{sign}`"));
        self.propose_replacement("Use a `//` comment", at..at + n_signs, "//");
        self.mark_as_sure();
        true
    }

    /// Text of bounded length that starts at an offset.
    fn text_after(&self, at: usize) -> (usize, String) {
        let rope = self.source.text();
        let end = (at + (1 << 14)).min(rope.len_bytes());
        let end = rope.char_to_byte(rope.byte_to_char(end));
        (at, self.source.slice(at..end))
    }

    /// Advises on a string that is not closed on its line.
    fn advise_on_unclosed_string(&mut self, at: usize, rest: &str) {
        let shown: String = rest.chars().take(16).collect();
        self.set_message(format!(
            "the string `{shown}...` is not closed: expected `\"` on the same line"
        ));
        self.set_help("Write `\"` at the end of the string");
        let name: String = rest[1..]
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | '$'))
            .collect();
        if !name.is_empty() {
            self.propose_insertion("Insert `\"`", at + 1 + name.len(), "\"");
        }
        let end = rest.trim_end().len();
        for close in [" }", "}", ")", ">", "]"] {
            if let Some(inside) = rest.find(close) {
                self.propose_insertion("Insert `\"`", at + inside, "\"");
            }
        }
        self.propose_insertion("Insert `\"` at the end of the line", at + end, "\"");
    }

    pub(super) fn advise_on_unexpected_character(&mut self) {
        let text = self.problem_text();
        let mut chars = text.chars();
        let first = chars.next().unwrap_or(' ');
        let quotes =
            ['\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', '\u{2018}', '\u{2019}', '\''];
        if text.starts_with('"') || text.starts_with("@\"") {
            if self.problem.message.contains("escape")
                || text.contains('\\') && !self.problem.message.contains("expected")
            {
                self.set_help(
                    "Escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and two hexadecimal digits",
                );
                return;
            }
            let (start, line) = self.line_at(self.range.start);
            let rest = line.get(self.range.start - start..).unwrap_or("").to_owned();
            return self.advise_on_unclosed_string(self.range.start, &rest);
        }
        if self.problem.message.contains("escape") {
            self.set_message(format!("unknown escape `{text}` in a string"));
            self.set_help("Escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and two hexadecimal digits");
            return self.propose_insertion("Write the backslash twice", self.range.start, "\\");
        }
        if quotes.contains(&first) {
            self.set_message(format!(
                "unexpected `{first}` (U+{:04X}); did you mean `\"`?",
                first as u32
            ));
            self.set_help("Strings are written in straight quotes");
            let (start, line) = self.line_at(self.range.start);
            let mut edits = Vec::new();
            for (at, it) in line.char_indices().filter(|it| quotes.contains(&it.1)) {
                edits.push((start + at..start + at + it.len_utf8(), "\"".to_owned()));
            }
            self.propose("Use straight quotes", edits);
            return self.mark_as_sure();
        }
        let (start, line) = self.line_at(self.range.start);
        let rest = line.get(self.range.start - start..).unwrap_or("").to_owned();
        if self.advise_on_foreign_comment(self.range.start, &rest) {
            return;
        }
        match first {
            ';' => {
                self.set_message("unexpected `;`");
                self.set_help("Ops end with their line: remove the `;`");
                self.propose_removal("Remove the `;`", self.range.clone());
            }
            '%' | '@' | '^' | '#' | '!' => {
                let next = rest.chars().nth(1);
                let what = match first {
                    '%' => "value",
                    '@' => "symbol",
                    '^' => "block",
                    '#' => "attribute",
                    _ => "type",
                };
                self.set_message(match next {
                    Some(it) if !it.is_whitespace() => {
                        format!("`{it}` cannot begin the name of a {what} (after `{first}`)")
                    }
                    _ => {
                        let line = rest.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
                        format!("the name of a {what} is missing after `{first}` in `{line}`")
                    }
                });
                self.set_help("Names consist of letters (a to z), digits, and the characters `_`, `$`, `.` and `-`");
                if matches!(next, Some(' ')) {
                    let at = self.range.start + 1;
                    self.propose_replacement("Remove the space", at..at + 1, "");
                }
                self.propose_ascii_name(&rest);
            }
            _ => {
                let shown = if first.is_control() { '\u{fffd}' } else { first };
                self.set_message(format!("unexpected `{shown}` (U+{:04X})", first as u32));
                self.set_help("Remove the character; names consist of letters (a to z) and digits");
                let same = match first {
                    '\u{2212}' | '\u{2013}' | '\u{2014}' => Some("-"),
                    '\u{2192}' | '\u{21d2}' => Some("->"),
                    '\u{a0}' | '\u{2003}' | '\u{3000}' => Some(" "),
                    '\u{ff0c}' => Some(","),
                    '\u{ff1a}' => Some(":"),
                    '\u{ff05}' | '&' | '$' => Some("%"),
                    _ => None,
                };
                let whole = self.range.start..self.range.start + first.len_utf8();
                if let Some(same) = same {
                    self.set_help(format!("Write `{same}`"));
                    self.propose_replacement(format!("Replace by `{same}`"), whole.clone(), same);
                    if !first.is_ascii() {
                        self.mark_as_sure();
                    }
                }
                self.propose_ascii_name_around();
                self.propose_replacement("Remove the character", whole, "");
            }
        }
    }

    /// Proposes an ASCII name for `%ä`.
    fn propose_ascii_name(&mut self, rest: &str) {
        let name: String = rest
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '%' | '@' | '^'))
            .collect();
        self.propose_ascii_spelling(&name);
    }

    /// Proposes an ASCII name for `%wärme`, where the problem is in the middle of a name.
    fn propose_ascii_name_around(&mut self) {
        let (start, line) = self.line_at(self.range.start);
        let offset = self.range.start - start;
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '%' | '@' | '^');
        let from = line[..offset]
            .rfind(|it| !is_name(it))
            .map_or(0, |it| it + line[it..].chars().next().map_or(1, char::len_utf8));
        let name: String = line[from..].chars().take_while(|it| is_name(*it)).collect();
        if name.starts_with(['%', '@', '^']) {
            self.propose_ascii_spelling(&name);
        }
    }

    fn propose_ascii_spelling(&mut self, name: &str) {
        let mut plain = String::new();
        for it in name.chars() {
            match it {
                'ä' | 'á' | 'à' | 'â' | 'å' => plain.push('a'),
                'ö' | 'ó' | 'ò' | 'ô' => plain.push('o'),
                'ü' | 'ú' | 'ù' | 'û' => plain.push('u'),
                'é' | 'è' | 'ê' | 'ë' => plain.push('e'),
                'ñ' => plain.push('n'),
                'ß' => plain.push_str("ss"),
                _ if it.is_ascii() => plain.push(it),
                _ => plain.push_str(&format!("u{:x}", it as u32)),
            }
        }
        if plain != name && plain.len() > 1 {
            self.propose_renaming(name, &plain);
        }
    }

    pub(super) fn advise_on_unclosed_region(&mut self) {
        let data = self.ir.op(self.op);
        let open = data.regions.iter().find(|it| !self.ir.region(it.1).is_closed);
        let Some(&(_, region)) = open else { return };
        let brace = self.ir.region_start(region);
        let name = self.symbol_or_op_name(self.op);
        self.set_message(format!(
            "expected `}}` to close the region of {name}: the file ends inside it"
        ));
        self.add_related(brace.saturating_sub(1)..brace, "this `{` is never closed");
        let own = self.indentation(self.op);
        match self.source.find_missing_brace(self.op) {
            Some((around, it)) => self.advise_to_close_before(around, it),
            None => {
                self.set_help("Write `}` at the end of the region");
                let end = self.source.text().len_bytes();
                let is_line = self.source.line_start(end) == end;
                let lead = if is_line { "" } else { "\n" };
                // All regions that are open at the end of the file, innermost first.
                let mut text = String::new();
                for op in self.nested_open_ops(region) {
                    text += &format!("{}}}\n", self.indentation(op));
                }
                text += &format!("{own}}}\n");
                self.propose_insertion("Insert `}` at the end", end, format!("{lead}{text}"));
                self.mark_as_sure();
            }
        }
    }

    /// Advises to close the last region of an op before a position in it.
    fn advise_to_close_before(&mut self, around: Op, place: Range<usize>) {
        let regions = &self.ir.op(around).regions;
        let starts = regions.iter().map(|it| self.ir.region_start(it.1));
        let Some(brace) = starts.filter(|&it| it <= place.start).max() else { return };
        let name = self.symbol_or_op_name(around);
        let line = self.source.line_start(place.start);
        let (head, text) = self.line_at(place.start);
        let rest = text.get(place.start - head..).unwrap_or("");
        let what = rest.split(['(', '{', ':', '=']).next().unwrap_or("").trim();
        let is_brace = what.starts_with('}');
        let what = if is_brace { "}" } else { what };
        let what = format!("`{}`", what.chars().take(40).collect::<String>());
        self.set_message(format!("expected `}}` to close the region of {name} before {what}"));
        self.out.related.clear();
        self.add_related(brace.saturating_sub(1)..brace, "this `{` is never closed");
        if place != self.range {
            self.add_related(place, format!("{what} begins here, inside {name}"));
        }
        self.set_help(if is_brace {
            format!("Write `}}` before it: by its indentation it closes the op around {name}")
        } else {
            format!("Write `}}` before {what}: by its indentation it is not in {name}")
        });
        // The end of the preceding text.
        let from = brace.max(line.saturating_sub(512));
        let from = self.source.text().char_to_byte(self.source.text().byte_to_char(from));
        let at = from + self.source.slice(from..line).trim_end().len();
        let own = self.indentation(around);
        self.propose_insertion(format!("Insert `}}` before {what}"), at, format!("\n{own}}}"));
        self.mark_as_sure();
    }

    /// Advises to close the enclosing region if its end seems to be missing. Returns true if it
    /// gave advice.
    pub(super) fn advise_on_region_left_open(&mut self) -> bool {
        let Some(around) = self.ir.parent_op(self.op) else { return false };
        if !self.source.is_outdented(around, self.range.start) {
            return false;
        }
        self.advise_to_close_before(around, self.range.clone());
        true
    }

    /// The last op of a region and its open region, if it has one.
    fn last_open_op(&self, region: Region) -> Option<(Op, Region)> {
        let last = self.ir.items(region).last()?;
        let open = self.ir.op(last).regions.iter().find(|it| !self.ir.region(it.1).is_closed)?;
        Some((last, open.1))
    }

    /// The nested ops of a region with open regions, innermost first.
    fn nested_open_ops(&self, region: Region) -> Vec<Op> {
        let mut out = Vec::new();
        let mut at = region;
        while let Some((op, inner)) = self.last_open_op(at) {
            out.insert(0, op);
            at = inner;
        }
        out
    }

    /// Labels of a region with similar names.
    pub(super) fn similar_labels(&self, name: &str, region: Region) -> Vec<String> {
        let labels: Vec<String> = self
            .ir
            .labels(region)
            .take(256)
            .map(|it| self.ir.interner.str(self.ir.op(it).name).to_owned())
            .collect();
        nearest(name, labels.iter().map(String::as_str))
            .into_iter()
            .map(|it| format!("^{it}"))
            .collect()
    }
}

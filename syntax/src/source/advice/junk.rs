//! Text that is no op: comments of other languages, superfluous braces and signs, open strings;
//! and regions without an end.

use std::ops::Range;

use super::Adviser;
use super::near::nearest;
use super::syntax::near_ops;
use crate::{Op, OpKind, Region};

impl Adviser<'_> {
    /// The first character of what is no op, and the rest of its line.
    fn first_junk(&self) -> (usize, String) {
        let name = self.ir.name_range(self.op);
        let (start, line) = self.line(name.start);
        (name.start, line.get(name.start - start..).unwrap_or("").to_owned())
    }

    pub(super) fn expected_operation(&mut self) {
        let (at, rest) = self.first_junk();
        if self.comment(at, &rest) {
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
                self.say("unmatched `}`: no region is open here");
                self.help("Remove it, or open the region that it closes");
                self.remove("Remove the `}`", at..at + 1);
                if let Some(previous) = self.ir.prev(self.op) {
                    let range = self.ir.range(previous);
                    if let Some(end) = range.end.checked_sub(1).filter(|_| !self.ir.op(previous).regions.is_empty()) {
                        self.relate(end..range.end, "the last region is closed here");
                    }
                }
            }
            ';' | ',' | ')' | ']' | '>' | '.' => {
                self.say(format!("unexpected `{first}`"));
                self.help(match first {
                    ';' => "Ops end with their line: remove the `;`".to_owned(),
                    _ => format!("Remove the `{first}`"),
                });
                self.remove(&format!("Remove the `{first}`"), at..at + 1);
            }
            '"' => self.open_string(at, &rest),
            '^' => {
                self.help("A label begins a block: it stands inside the body of a function");
                self.say(format!("the label `{}` cannot stand here", rest.split(['(', ':']).next().unwrap_or("")));
            }
            '#' | '!' => {
                let name = rest.split([' ', '=']).next().unwrap_or("").to_owned();
                self.say(format!("expected an operation here, found `{name}`"));
                self.help("Aliases are defined at the top of the file, outside of functions; comments begin with `//`");
            }
            '%' => {
                let name = rest.split([' ', '=', ',', ':']).next().unwrap_or("").to_owned();
                self.say(format!("expected an operation here, found `{name}`"));
                self.help(format!("Write `=` and an op after {name}"));
            }
            _ if !word.is_empty() => {
                self.say(format!("expected an operation here, found `{word}`"));
                let near = near_ops(&word);
                if near.is_empty() {
                    self.help("Names of ops begin with their dialect, as in `arith.addi`; comments begin with `//`");
                } else {
                    self.help(format!("Write `{}`", near[0]));
                    self.suggest(&near, &(at..at + word.len()));
                }
            }
            _ => {
                self.say(format!("expected an operation here, found `{first}`"));
                self.help("Remove it, or complete it to an op; comments begin with `//`");
                self.remove(&format!("Remove `{first}`"), at..at + first.len_utf8());
            }
        }
    }

    /// Proposes to remove a few characters, with their line if nothing else is on it.
    fn remove(&mut self, title: &str, range: Range<usize>) {
        let (start, line) = self.line(range.start);
        let is_alone = line.trim().len() == range.len();
        let end = (start + line.len() + 1).min(self.source.text().len_bytes());
        self.replace(title, if is_alone { start..end } else { range }, "");
        self.sure();
    }

    /// Comments of other languages; returns true if there is one.
    fn comment(&mut self, at: usize, rest: &str) -> bool {
        if rest.starts_with("/*") {
            self.say("MLIR has no block comments: found `/*`");
            self.help("Begin each line of the comment with `//`");
            let (start, text) = self.rest_of_file(at);
            if let Some(end) = text.find("*/") {
                let body = &text[2..end];
                let mut new = format!("//{}", body.trim_end());
                let indentation = self.source.indentation(at);
                new = new.replace('\n', &format!("\n{indentation}//"));
                let behind = text[end + 2..].lines().next().unwrap_or("");
                if !behind.trim().is_empty() {
                    new.push_str(&format!("\n{indentation}"));
                }
                self.replace("Use a `//` comment", start..start + end + 2, new);
                self.sure();
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
        // `#map = ...` is an alias; `# map` and `#map is` are comments. `;` alone ends an op.
        let behind = &rest[n_signs..];
        let is_alias = rest.starts_with('#') && behind.contains('=') && !behind.starts_with(' ');
        if is_alias || rest.starts_with(';') && behind.trim_start_matches(';').trim().is_empty() {
            return false;
        }
        let sign = &rest[..n_signs];
        self.say(format!("unexpected `{sign}`: comments begin with `//`"));
        self.help(format!("Write `//` instead of `{sign}`"));
        self.replace("Use a `//` comment", at..at + n_signs, "//");
        self.sure();
        true
    }

    /// Some text from a place on.
    fn rest_of_file(&self, at: usize) -> (usize, String) {
        let rope = self.source.text();
        let end = (at + (1 << 14)).min(rope.len_bytes());
        let end = rope.char_to_byte(rope.byte_to_char(end));
        (at, self.source.slice(at..end))
    }

    /// A string that does not end on its line.
    fn open_string(&mut self, at: usize, rest: &str) {
        self.say("this string is not closed: expected `\"` on the same line");
        self.help("Write `\"` at the end of the string");
        let name: String = rest[1..]
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '.' | '$'))
            .collect();
        if !name.is_empty() {
            self.insert("Insert `\"`", at + 1 + name.len(), "\"");
        }
        let end = rest.trim_end().len();
        for close in [" }", "}", ")", ">", "]"] {
            if let Some(inside) = rest.find(close) {
                self.insert("Insert `\"`", at + inside, "\"");
            }
        }
        self.insert("Insert `\"` at the end of the line", at + end, "\"");
    }

    pub(super) fn unexpected_character(&mut self) {
        let text = self.text_here();
        let mut chars = text.chars();
        let first = chars.next().unwrap_or(' ');
        let quotes = ['\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', '\u{2018}', '\u{2019}', '\''];
        if text.starts_with('"') || text.starts_with("@\"") {
            if self.problem.message.contains("escape") || text.contains('\\') && !self.problem.message.contains("expected") {
                let (_, line) = self.line(self.at.start);
                let _ = line;
                self.help("Escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and two hexadecimal digits");
                return;
            }
            let (start, line) = self.line(self.at.start);
            let rest = line.get(self.at.start - start..).unwrap_or("").to_owned();
            return self.open_string(self.at.start, &rest);
        }
        if self.problem.message.contains("escape") {
            self.say(format!("unknown escape `{text}` in a string"));
            self.help("Escapes are `\\\"`, `\\\\`, `\\n`, `\\t` and two hexadecimal digits");
            return self.insert("Write the backslash twice", self.at.start, "\\");
        }
        if quotes.contains(&first) {
            self.say(format!("unexpected `{first}` (U+{:04X}); did you mean `\"`?", first as u32));
            self.help("Strings stand between straight quotes");
            let (start, line) = self.line(self.at.start);
            let mut edits = Vec::new();
            for (at, it) in line.char_indices().filter(|it| quotes.contains(&it.1)) {
                edits.push((start + at..start + at + it.len_utf8(), "\"".to_owned()));
            }
            self.propose("Use straight quotes", edits);
            return self.sure();
        }
        let (start, line) = self.line(self.at.start);
        let rest = line.get(self.at.start - start..).unwrap_or("").to_owned();
        if self.comment(self.at.start, &rest) {
            return;
        }
        match first {
            ';' => {
                self.say("unexpected `;`");
                self.help("Ops end with their line: remove the `;`");
                self.remove("Remove the `;`", self.at.clone());
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
                self.say(match next {
                    Some(it) if !it.is_whitespace() => format!("`{it}` cannot begin the name of a {what} (after `{first}`)"),
                    _ => format!("the name of a {what} is missing after `{first}`"),
                });
                self.help("Names have letters of the alphabet (a to z), digits, and the signs `_`, `$`, `.` and `-`");
                if matches!(next, Some(' ')) {
                    let at = self.at.start + 1;
                    self.replace("Remove the blank", at..at + 1, "");
                }
                self.ascii_name(&rest);
            }
            _ => {
                let shown = if first.is_control() { '\u{fffd}' } else { first };
                self.say(format!("unexpected `{shown}` (U+{:04X})", first as u32));
                self.help("Remove the character; names have letters of the alphabet (a to z) and digits");
                let same = match first {
                    '\u{2212}' | '\u{2013}' | '\u{2014}' => Some("-"),
                    '\u{2192}' | '\u{21d2}' => Some("->"),
                    '\u{a0}' | '\u{2003}' | '\u{3000}' => Some(" "),
                    '\u{ff0c}' => Some(","),
                    '\u{ff1a}' => Some(":"),
                    '\u{ff05}' => Some("%"),
                    '&' => Some("%"),
                    '$' => Some("%"),
                    _ => None,
                };
                let whole = self.at.start..self.at.start + first.len_utf8();
                if let Some(same) = same {
                    self.help(format!("Write `{same}`"));
                    self.replace(format!("Replace by `{same}`"), whole.clone(), same);
                    if !first.is_ascii() {
                        self.sure();
                    }
                }
                self.name_with_letter();
                self.replace("Remove the character", whole, "");
            }
        }
    }

    /// `%ä`: proposes a name of plain letters.
    fn ascii_name(&mut self, rest: &str) {
        let name: String =
            rest.chars().take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '%' | '@' | '^')).collect();
        self.rename_plain(&name);
    }

    /// `%wärme`: the character stands within a name.
    fn name_with_letter(&mut self) {
        let (start, line) = self.line(self.at.start);
        let offset = self.at.start - start;
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '%' | '@' | '^');
        let from = line[..offset].rfind(|it| !is_name(it)).map_or(0, |it| {
            it + line[it..].chars().next().map_or(1, char::len_utf8)
        });
        let name: String = line[from..].chars().take_while(|it| is_name(*it)).collect();
        if name.starts_with(['%', '@', '^']) {
            self.rename_plain(&name);
        }
    }

    fn rename_plain(&mut self, name: &str) {
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
            self.rename_text(name, &plain);
        }
    }

    pub(super) fn unclosed_region(&mut self) {
        let data = self.ir.op(self.op);
        let open = data.regions.iter().find(|it| !self.ir.region(it.1).closed);
        let Some(&(_, region)) = open else { return };
        let brace = self.ir.region_start(region);
        let name = match self.symbol(self.op) {
            Some((_, name)) => format!("@{name}"),
            None => format!("`{}`", self.ir.op_name(self.op)),
        };
        self.say(format!("expected `}}` to close the region of {name}: the file ends inside it"));
        self.relate(brace.saturating_sub(1)..brace, "this `{` is never closed");
        let own = self.indentation(self.op);
        // The first item that is indented no deeper than the op stands behind the region.
        let is_behind = |it: &Op| {
            let start = self.ir.range(*it).start;
            self.ir.op(*it).kind != OpKind::Label
                && self.source.is_first_on_line(start)
                && self.source.indentation(start).len() <= own.len()
                && self.source.line_start(start) > brace
        };
        let behind = self.deep_items(region).find(is_behind);
        match behind {
            Some(it) => {
                let start = self.ir.range(it).start;
                let line = self.source.line_start(start);
                let what = match self.symbol(it) {
                    Some((_, name)) => format!("`{} @{name}`", self.ir.op_name(it)),
                    None => format!("`{}`", self.ir.op_name(it)),
                };
                self.relate(self.ir.name_range(it), format!("{what} begins here, inside {name}"));
                self.help(format!("Write `}}` before {what}: by its indentation it is not in {name}"));
                // Behind the last text before it.
                let before = self.ir.prev(it).map_or(brace, |it| self.ir.range(it).end);
                let mut at = self.source.line_start(before);
                let (_, text) = self.line(before);
                at += text.len() + 1;
                let at = at.min(line).max(before);
                let lead = if self.source.line_start(at) == at { "" } else { "\n" };
                self.insert(format!("Insert `}}` before {what}"), at, format!("{lead}{own}}}\n"));
                self.sure();
            }
            None => {
                self.help("Write `}` at the end of the region");
                let end = self.source.text().len_bytes();
                let is_line = self.source.line_start(end) == end;
                let lead = if is_line { "" } else { "\n" };
                // All regions that the end of the file leaves open, innermost first.
                let mut text = String::new();
                for op in self.open_ops(region) {
                    text += &format!("{}}}\n", self.indentation(op));
                }
                text += &format!("{own}}}\n");
                self.insert("Insert `}` at the end", end, format!("{lead}{text}"));
                self.sure();
            }
        }
    }

    /// The items of a region, those of its last open regions too; a bounded number.
    fn deep_items(&self, region: Region) -> impl Iterator<Item = Op> + '_ {
        let mut regions = vec![region];
        let mut at = region;
        while let Some(inner) = self.open_inside(at) {
            regions.push(inner.1);
            at = inner.1;
        }
        regions.into_iter().flat_map(|it| self.ir.items(it)).take(4096)
    }

    /// The last op of a region, if one of its regions is open.
    fn open_inside(&self, region: Region) -> Option<(Op, Region)> {
        let last = self.ir.items(region).last()?;
        let open = self.ir.op(last).regions.iter().find(|it| !self.ir.region(it.1).closed)?;
        Some((last, open.1))
    }

    /// The ops in a region whose regions are open, innermost first.
    fn open_ops(&self, region: Region) -> Vec<Op> {
        let mut out = Vec::new();
        let mut at = region;
        while let Some((op, inner)) = self.open_inside(at) {
            out.insert(0, op);
            at = inner;
        }
        out
    }

    /// Labels that are almost right.
    pub(super) fn near_labels(&self, name: &str, region: Region) -> Vec<String> {
        let labels: Vec<String> = self
            .ir
            .labels(region)
            .take(256)
            .map(|it| self.ir.interner.str(self.ir.op(it).name).to_owned())
            .collect();
        nearest(name, labels.iter().map(String::as_str)).into_iter().map(|it| format!("^{it}")).collect()
    }
}

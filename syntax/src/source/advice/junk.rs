//! Advice on junk (comments of other languages, superfluous braces and signs, unclosed strings) and
//! on unclosed regions.

use std::ops::Range;

use super::Adviser;
use super::nearest;
use super::syntax::near_ops;
use crate::source::braces::MISSING_BODY;
use crate::{Op, Region};

impl Adviser<'_> {
    /// The offset of the junk, and the text from there to the end of the line.
    fn first_junk(&self) -> (usize, String) {
        let name = self.ir.name_range(self.op);
        let (start, line) = self.line(name.start);
        (name.start, line.get(name.start - start..).unwrap_or("").to_owned())
    }

    pub(super) fn expected_operation(&mut self) {
        let (at, rest) = self.first_junk();
        if self.at.start != at && self.extra_brace() {
            return;
        }
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
                let before = self.ir.prev(self.op).and_then(|it| {
                    Some(match self.symbol(it) {
                        Some((_, name)) => format!("@{name}"),
                        None => {
                            format!("`{}`", Some(self.ir.op_name(it)).filter(|it| !it.is_empty())?)
                        }
                    })
                });
                self.say(match before {
                    Some(it) => format!("unmatched `}}` after {it}: no region is open here"),
                    None => "unmatched `}`: no region is open here".to_owned(),
                });
                self.help("Remove it, or open the region that it closes");
                self.remove("Remove the `}`", at..at + 1);
                // Alternatively, a `{` may be missing.
                if let Some(it) = self.out.proposals.last_mut() {
                    it.is_sure = false;
                }
                let regions = self.ir.prev(self.op).map(|it| self.ir.op(it).regions.clone());
                let closed = regions.into_iter().flatten().rfind(|it| self.ir.region(it.1).closed);
                if let Some((_, region)) = closed {
                    let end = self.ir.region_start(region) + self.ir.region_len(region);
                    self.relate(end..end + 1, "the last region is closed here");
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
                self.help("Labels begin blocks and belong inside the body of a function");
                self.say(format!(
                    "the label `{}` is not allowed here",
                    rest.split(['(', ':']).next().unwrap_or("")
                ));
            }
            '#' | '!' => {
                let name = rest.split([' ', '=']).next().unwrap_or("").to_owned();
                self.say(format!("expected an operation here, found `{name}`"));
                self.help("Aliases are defined at the top of the file, outside of functions; comments begin with `//`");
            }
            '%' if rest.starts_with("% ") => {
                let written = rest.split('=').next().unwrap_or("").trim().to_owned();
                self.say(format!("the name of a value is missing after `%` in `{written}`"));
                self.help("Write the name directly after the `%`");
                let n = rest[1..].len() - rest[1..].trim_start().len();
                self.replace("Remove the space", at + 1..at + 1 + n, "");
                self.sure();
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

    /// Advises on a brace that closes an op too early. Returns true if it gave advice.
    fn extra_brace(&mut self) -> bool {
        let Some((closed, at)) = self.source.extra_brace(self.op) else { return false };
        let name = self.named(closed);
        self.say(format!("unexpected `}}`: it closes {name}, but is indented as inside it"));
        self.help("Remove the `}`");
        let regions = &self.ir.op(closed).regions;
        let starts = regions.iter().map(|it| self.ir.region_start(it.1));
        if let Some(start) = starts.filter(|&it| it <= at).max() {
            self.relate(start.saturating_sub(1)..start, "the region that it closes begins here");
        }
        if let Some(next) = self.ir.next(closed).filter(|&it| it != self.op) {
            let range = self.source.head(next);
            self.relate(range, format!("so this op is outside of {name}"));
        }
        self.remove("Remove the `}`", at..at + 1);
        // Alternatively, the line with its opening brace may be missing.
        if let Some(it) = self.out.proposals.last_mut() {
            it.is_sure = false;
        }
        true
    }

    /// The symbol of an op, or its name.
    pub(super) fn named(&self, op: Op) -> String {
        match self.symbol(op) {
            Some((_, name)) => format!("@{name}"),
            None => format!("`{}`", self.ir.op_name(op)),
        }
    }

    /// Advises on a function whose header ends without an opening brace. Returns true if it gave
    /// advice.
    pub(super) fn missing_body(&mut self) -> bool {
        if !self.problem.message.starts_with(MISSING_BODY) {
            return false;
        }
        self.help("Write `{` at the end of the header");
        let body = if self.ir.is_followed(self.op) {
            let problem = self.ir.extra(self.op).problems.last();
            problem.map(|it| self.ir.absolute(self.op, it.span))
        } else {
            let next = self.ir.next(self.op);
            next.map(|it| self.source.head(it))
        };
        if let Some(range) = body {
            self.relate(range, "the body begins here");
        }
        self.insert("Insert `{`", self.at.start, " {");
        self.sure();
        true
    }

    /// Proposes to remove a few characters, together with their line if it is otherwise empty.
    fn remove(&mut self, title: &str, range: Range<usize>) {
        let (start, line) = self.line(range.start);
        let is_alone = line.trim().len() == range.len();
        let end = (start + line.len() + 1).min(self.source.text().len_bytes());
        self.replace(title, if is_alone { start..end } else { range }, "");
        self.sure();
    }

    /// Advises on comments of other languages. Returns true if it gave advice.
    fn comment(&mut self, at: usize, rest: &str) -> bool {
        if rest.starts_with("/*") {
            let shown: String = rest.chars().take(24).collect();
            self.say(format!("MLIR has no block comments: found `{}`", shown.trim_end()));
            self.help("Begin each line of the comment with `//`");
            let (start, text) = self.rest_of_file(at);
            if let Some(end) = text[2..].find("*/").map(|it| it + 2) {
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
        // `#map = ...` is an alias; `# map` and `#map is` are comments. A `;` without text after it
        // is not a comment.
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

    /// Text of bounded length that starts at an offset.
    fn rest_of_file(&self, at: usize) -> (usize, String) {
        let rope = self.source.text();
        let end = (at + (1 << 14)).min(rope.len_bytes());
        let end = rope.char_to_byte(rope.byte_to_char(end));
        (at, self.source.slice(at..end))
    }

    /// Advises on a string that is not closed on its line.
    fn open_string(&mut self, at: usize, rest: &str) {
        let shown: String = rest.chars().take(16).collect();
        self.say(format!("the string `{shown}...` is not closed: expected `\"` on the same line"));
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
        let quotes =
            ['\u{201c}', '\u{201d}', '\u{201e}', '\u{ab}', '\u{bb}', '\u{2018}', '\u{2019}', '\''];
        if text.starts_with('"') || text.starts_with("@\"") {
            if self.problem.message.contains("escape")
                || text.contains('\\') && !self.problem.message.contains("expected")
            {
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
            self.help("Strings are written in straight quotes");
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
                    Some(it) if !it.is_whitespace() => {
                        format!("`{it}` cannot begin the name of a {what} (after `{first}`)")
                    }
                    _ => {
                        let line = rest.split_whitespace().take(2).collect::<Vec<_>>().join(" ");
                        format!("the name of a {what} is missing after `{first}` in `{line}`")
                    }
                });
                self.help("Names consist of letters (a to z), digits, and the characters `_`, `$`, `.` and `-`");
                if matches!(next, Some(' ')) {
                    let at = self.at.start + 1;
                    self.replace("Remove the space", at..at + 1, "");
                }
                self.ascii_name(&rest);
            }
            _ => {
                let shown = if first.is_control() { '\u{fffd}' } else { first };
                self.say(format!("unexpected `{shown}` (U+{:04X})", first as u32));
                self.help("Remove the character; names consist of letters (a to z) and digits");
                let same = match first {
                    '\u{2212}' | '\u{2013}' | '\u{2014}' => Some("-"),
                    '\u{2192}' | '\u{21d2}' => Some("->"),
                    '\u{a0}' | '\u{2003}' | '\u{3000}' => Some(" "),
                    '\u{ff0c}' => Some(","),
                    '\u{ff1a}' => Some(":"),
                    '\u{ff05}' | '&' | '$' => Some("%"),
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

    /// Proposes an ASCII name for `%ä`.
    fn ascii_name(&mut self, rest: &str) {
        let name: String = rest
            .chars()
            .take_while(|it| it.is_alphanumeric() || matches!(it, '_' | '%' | '@' | '^'))
            .collect();
        self.rename_plain(&name);
    }

    /// Proposes an ASCII name for `%wärme`, where the problem is in the middle of a name.
    fn name_with_letter(&mut self) {
        let (start, line) = self.line(self.at.start);
        let offset = self.at.start - start;
        let is_name = |it: char| it.is_alphanumeric() || matches!(it, '_' | '%' | '@' | '^');
        let from = line[..offset]
            .rfind(|it| !is_name(it))
            .map_or(0, |it| it + line[it..].chars().next().map_or(1, char::len_utf8));
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
        let name = self.named(self.op);
        self.say(format!("expected `}}` to close the region of {name}: the file ends inside it"));
        self.relate(brace.saturating_sub(1)..brace, "this `{` is never closed");
        let own = self.indentation(self.op);
        match self.source.left_open(self.op) {
            Some((around, it)) => self.close_before(around, it),
            None => {
                self.help("Write `}` at the end of the region");
                let end = self.source.text().len_bytes();
                let is_line = self.source.line_start(end) == end;
                let lead = if is_line { "" } else { "\n" };
                // All regions that are open at the end of the file, innermost first.
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

    /// Advises to close the last region of an op before a position in it.
    fn close_before(&mut self, around: Op, place: Range<usize>) {
        let regions = &self.ir.op(around).regions;
        let starts = regions.iter().map(|it| self.ir.region_start(it.1));
        let Some(brace) = starts.filter(|&it| it <= place.start).max() else { return };
        let name = self.named(around);
        let line = self.source.line_start(place.start);
        let (head, text) = self.line(place.start);
        let rest = text.get(place.start - head..).unwrap_or("");
        let what = rest.split(['(', '{', ':', '=']).next().unwrap_or("").trim();
        let is_brace = what.starts_with('}');
        let what = if is_brace { "}" } else { what };
        let what = format!("`{}`", what.chars().take(40).collect::<String>());
        self.say(format!("expected `}}` to close the region of {name} before {what}"));
        self.out.related.clear();
        self.relate(brace.saturating_sub(1)..brace, "this `{` is never closed");
        if place != self.at {
            self.relate(place, format!("{what} begins here, inside {name}"));
        }
        self.help(if is_brace {
            format!("Write `}}` before it: by its indentation it closes the op around {name}")
        } else {
            format!("Write `}}` before {what}: by its indentation it is not in {name}")
        });
        // The end of the preceding text.
        let from = brace.max(line.saturating_sub(512));
        let from = self.source.text().char_to_byte(self.source.text().byte_to_char(from));
        let at = from + self.source.slice(from..line).trim_end().len();
        let own = self.indentation(around);
        self.insert(format!("Insert `}}` before {what}"), at, format!("\n{own}}}"));
        self.sure();
    }

    /// Advises to close the enclosing region if its end seems to be missing. Returns true if it
    /// gave advice.
    pub(super) fn left_open(&mut self) -> bool {
        let Some(around) = self.ir.parent_op(self.op) else { return false };
        if !self.source.is_outdented(around, self.at.start) {
            return false;
        }
        self.close_before(around, self.at.clone());
        true
    }

    /// The last op of a region and its open region, if it has one.
    fn open_inside(&self, region: Region) -> Option<(Op, Region)> {
        let last = self.ir.items(region).last()?;
        let open = self.ir.op(last).regions.iter().find(|it| !self.ir.region(it.1).closed)?;
        Some((last, open.1))
    }

    /// The nested ops of a region with open regions, innermost first.
    fn open_ops(&self, region: Region) -> Vec<Op> {
        let mut out = Vec::new();
        let mut at = region;
        while let Some((op, inner)) = self.open_inside(at) {
            out.insert(0, op);
            at = inner;
        }
        out
    }

    /// Labels of a region with similar names.
    pub(super) fn near_labels(&self, name: &str, region: Region) -> Vec<String> {
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

//! Advice on unknown names of ops, types and keywords.

use std::ops::Range;

use super::nearest;
use super::{Adviser, words};
use crate::dialect::ops;
use crate::text::near::distance;
use crate::{OpKind, Type};

/// Names of types in other languages, and the corresponding builtin types.
const SYNONYMS: [(&str, &str); 34] = [
    ("int", "i32"),
    ("integer", "i32"),
    ("int1", "i1"),
    ("int8", "i8"),
    ("int16", "i16"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("int8_t", "i8"),
    ("int16_t", "i16"),
    ("int32_t", "i32"),
    ("int64_t", "i64"),
    ("uint8", "ui8"),
    ("uint16", "ui16"),
    ("uint32", "ui32"),
    ("uint64", "ui64"),
    ("u8", "ui8"),
    ("u16", "ui16"),
    ("u32", "ui32"),
    ("u64", "ui64"),
    ("s8", "si8"),
    ("s16", "si16"),
    ("s32", "si32"),
    ("s64", "si64"),
    ("bool", "i1"),
    ("boolean", "i1"),
    ("bit", "i1"),
    ("long", "i64"),
    ("size_t", "index"),
    ("usize", "index"),
    ("half", "f16"),
    ("float", "f32"),
    ("float16", "f16"),
    ("float32", "f32"),
    ("float64", "f64"),
];

/// Builtin types, which are written without `!`.
const BUILTIN_TYPES: [&str; 12] = [
    "index", "none", "tensor", "memref", "vector", "tuple", "complex", "bf16", "f16", "f32", "f64",
    "i32",
];

/// The builtin type that is most similar to an unknown word.
pub(super) fn similar_builtin_type(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    if lower == "double" {
        return Some("f64".to_owned());
    }
    if let Some((_, it)) = SYNONYMS.iter().find(|it| it.0 == lower) {
        return Some((*it).to_owned());
    }
    // `I32`, `l32`, `i0`.
    let is_width = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
    if let Some(width) = lower.strip_prefix(['i', 'l']).filter(|it| is_width(it)) {
        let width = if width.bytes().all(|it| it == b'0') { "32" } else { width };
        return Some(format!("i{width}"));
    }
    if lower.strip_prefix('f').is_some_and(is_width) {
        return Some("f32".to_owned());
    }
    let near = BUILTIN_TYPES.iter().filter_map(|it| Some((distance(&lower, it, 2)?, *it)));
    near.filter(|it| word.len() > 3 && it.1.len() > 3).min().map(|it| it.1.to_owned())
}

/// The ops with the most similar names, nearest first: in the same dialect, or with the same name
/// in other dialects.
pub(super) fn similar_ops(name: &str) -> Vec<String> {
    let dialect = name.split_once('.').map_or("", |it| it.0);
    let own = |it: &&str| it.split_once('.').is_some_and(|it| it.0 == dialect);
    let names: Vec<&str> = ops().map(|it| it.spec().name).filter(|it| it.contains('.')).collect();
    let mut out: Vec<String> =
        nearest(name, names.iter().copied().filter(own)).into_iter().map(str::to_owned).collect();
    let short = name.rsplit('.').next().unwrap_or(name);
    if out.is_empty() && !dialect.is_empty() {
        let is_start = |it: &&str| {
            it.split_once('.').is_some_and(|it| {
                short.len() >= 3 && (it.1.starts_with(short) || short.starts_with(it.1))
            })
        };
        out =
            names.iter().filter(|it| own(it) && is_start(it)).map(|it| (*it).to_owned()).collect();
    }
    if out.is_empty() {
        // The name without a dialect, or with another one: `add`, `arith.load`, `std.addi`.
        let last = |it: &&str| it.split_once('.').is_some_and(|it| it.1 == short);
        out = names.iter().filter(|it| last(it)).map(|it| (*it).to_owned()).collect();
    }
    if out.is_empty() && dialect.is_empty() {
        let found = nearest(short, names.iter().filter_map(|it| Some(it.split_once('.')?.1)));
        let is_found = |it: &&&str| it.split_once('.').is_some_and(|it| found.contains(&it.1));
        out = names.iter().filter(is_found).map(|it| (*it).to_owned()).collect();
        let arith = format!("{short}i");
        let start = |it: &&&str| {
            it.split_once('.')
                .is_some_and(|it| it.0 == "arith" && (it.1 == arith || it.1 == format!("{short}f")))
        };
        out.extend(names.iter().filter(start).map(|it| (*it).to_owned()));
    }
    if dialect.is_empty() && matches!(short, "add" | "sub" | "mul" | "cmp" | "div" | "rem") {
        let wanted = |it: &&&str| {
            it.split_once('.').is_some_and(|it| {
                it.0 == "arith" && it.1.starts_with(short) && it.1.len() <= short.len() + 2
            })
        };
        out.extend(names.iter().filter(wanted).map(|it| (*it).to_owned()));
    }
    out.sort_by_key(|it| !it.starts_with("noisy."));
    out.dedup();
    out
}

impl Adviser<'_> {
    pub(super) fn advise_on_unknown_op(&mut self) {
        let written = self.problem_text();
        let bare = written.trim_matches('"').to_owned();
        let is_quoted = bare.len() != written.len();
        if self.advise_on_missing_arrow()
            || self.advise_on_keyword()
            || self.advise_on_alias_without_sigil()
        {
            return;
        }
        if bare == "return" && self.advise_on_region_left_open() {
            return;
        }
        let near: Vec<String> = similar_ops(&bare)
            .into_iter()
            .take(4)
            .map(|it| if is_quoted { format!("\"{it}\"") } else { it })
            .collect();
        let name = if bare.contains('.') {
            format!("unknown op `{bare}`")
        } else {
            format!("unknown op `{bare}`: names of ops begin with their dialect")
        };
        if !bare.contains('.') {
            self.set_message(name);
        }
        let is_at_top =
            self.ir.parent_op(self.op).is_none_or(|it| self.ir.op(it).kind == OpKind::Chunk);
        if !near.is_empty() {
            let names: Vec<String> =
                near.iter().map(|it| it.trim_matches('"').to_owned()).collect();
            let doc = (names.len() == 1)
                .then(|| {
                    OpKind::of(&names[0])
                        .spec()
                        .template()
                        .replace(['«', '»'], "")
                        .replace("$0", "")
                })
                .filter(|it| !it.contains('\n') && it.contains(' '));
            match doc {
                Some(form) => self.set_help(format!("Write `{}`, as in `{form}`", names[0])),
                None => {
                    let names: Vec<String> = names.iter().map(|it| format!("`{it}`")).collect();
                    self.set_help(format!("Write {}", words::alternatives(&names)));
                }
            }
            let place = self.range.clone();
            self.suggest_names(&near, &place);
            if bare == "return" {
                self.out.proposals.clear();
                let around = self.ir.parent_op(self.op).filter(|_| !is_at_top);
                let around = around.map(|it| self.ir.op_name(it).to_owned());
                self.set_message(match &around {
                    Some(it) => format!("`return` is not allowed in `{it}`"),
                    None => "`return` is outside of a function".to_owned(),
                });
                self.set_help("`return` ends the body of a function: move it there");
                let dialect = around.as_deref().and_then(|it| it.split('.').next());
                if let Some(it) = dialect.filter(|it| matches!(*it, "scf" | "affine")) {
                    self.set_help(format!("The body of this op ends with `{it}.yield`"));
                    self.propose_replacement(
                        format!("Replace by {it}.yield"),
                        place,
                        format!("{it}.yield"),
                    );
                }
            }
            return;
        }
        if is_at_top && bare == "return" {
            return self.set_help("Move `return` to the end of a function");
        }
        if let Some((dialect, _)) = bare.split_once('.') {
            let prefix = format!("{dialect}.");
            let all: Vec<&str> =
                ops().map(|it| it.spec().name).filter(|it| it.starts_with(&prefix)).collect();
            let shown: Vec<&str> = all.iter().take(8).copied().collect();
            let more = if all.len() > shown.len() { ", ..." } else { "" };
            if !shown.is_empty() {
                self.set_help(format!("Ops of `{dialect}`: {}{more}", shown.join(", ")));
            }
        } else {
            self.set_help("Write the dialect before the name, as in `arith.addi`");
        }
    }

    /// Advises on a misspelled keyword within a line, such as `attribute {`. Returns true if it
    /// gave advice.
    fn advise_on_keyword(&mut self) -> bool {
        if self.source.is_first_on_line(self.range.start) {
            return false;
        }
        let written = self.problem_text();
        self.advise_on_misspelled_keyword(&written, self.range.clone())
    }

    /// Advises on a word that is similar to a keyword. Returns true if it gave advice.
    pub(super) fn advise_on_misspelled_keyword(
        &mut self,
        written: &str,
        place: Range<usize>,
    ) -> bool {
        const KEYWORDS: [&str; 8] =
            ["attributes", "iter_args", "else", "step", "private", "nested", "public", "to"];
        let near = nearest(written, KEYWORDS);
        let [one] = near[..] else { return false };
        self.set_message(format!("unexpected `{written}`; did you mean `{one}`?"));
        self.set_help(format!("Write `{one}`"));
        self.propose_replacement(format!("Replace by {one}"), place, one);
        self.mark_as_sure();
        true
    }

    /// Advises on `type = i32`, an alias without its sigil. Returns true if it gave advice.
    fn advise_on_alias_without_sigil(&mut self) -> bool {
        let (start, line) = self.line_at(self.range.end);
        let behind = line.get(self.range.end - start..).unwrap_or("").trim_start();
        let Some(meaning) = behind.strip_prefix('=') else { return false };
        let written = self.problem_text();
        let word = meaning.trim_start().trim_start_matches('"');
        let end = word.find(|it: char| !(it.is_alphanumeric() || matches!(it, '_' | '.')));
        let word = &word[..end.unwrap_or(word.len())];
        if OpKind::of(word) != OpKind::Unknown && word.contains('.') {
            self.set_message(format!("expected the name of a value before `=`, found `{written}`"));
            self.set_help(format!("Names of values begin with `%`: `%{written}`"));
            self.propose_insertion(format!("Insert `%` before {written}"), self.range.start, "%");
            self.mark_as_sure();
            return true;
        }
        self.set_message(format!("`{written}` is not a name of an alias"));
        self.set_help("Names of type aliases begin with `!`, those of attribute aliases with `#`");
        let is_attribute = ["affine_", "dense", "#", "{", "[", "\""];
        let signs = if is_attribute.iter().any(|it| meaning.trim_start().starts_with(it)) {
            ["#", "!"]
        } else {
            ["!", "#"]
        };
        for sign in signs {
            self.propose_insertion(format!("Insert `{sign}`"), self.range.start, sign);
        }
        true
    }

    /// Advises on `func.func @f(%a: i5) i5 {`: the word is a type, and `->` is missing before it.
    /// Returns true if it gave advice.
    fn advise_on_missing_arrow(&mut self) -> bool {
        let written = self.problem_text();
        let is_int = written.strip_prefix('i').is_some_and(|it| it.parse::<u32>().is_ok());
        let is_type = is_int
            || matches!(written.as_str(), "index" | "f16" | "f32" | "f64" | "bf16")
            || ["tensor", "memref", "vector", "tuple"].contains(&written.as_str());
        if !is_type {
            return false;
        }
        self.set_message(format!("expected `->` before the result type `{written}`"));
        self.set_help(format!("Write `-> {written}`"));
        self.propose_insertion("Insert `->`", self.range.start, "-> ");
        self.mark_as_sure();
        true
    }

    /// Types that are similar to the written one, such as `!noisy.i23`.
    pub(super) fn similar_types(written: &str) -> Vec<String> {
        let known = ["!noisy.i32"];
        let body = written.trim_start_matches('!');
        if let Some(inside) = body.strip_prefix("secret<") {
            return vec![format!("!secret.secret<{inside}")];
        }
        if body.starts_with("noisy.") || distance(body, "noisy.i32", 2).is_some() {
            return known.iter().map(|it| (*it).to_owned()).collect();
        }
        similar_builtin_type(body).into_iter().collect()
    }

    pub(super) fn advise_on_unknown_type(&mut self) {
        let written = self.problem_text();
        let near = Self::similar_types(&written);
        let dialect = written.trim_start_matches('!').split(['.', '<']).next().unwrap_or("");
        if near.is_empty() {
            return self.set_help(format!("`{dialect}` has no such type; types of MLIR itself, such as i32, are written without `!`"));
        }
        self.set_help(format!("Write {}", near.join(" or ")));
        let (message, place) = (self.out.message.clone(), self.range.clone());
        self.suggest_names(&near, &place);
        if message.contains("only type") {
            self.set_message(message);
        }
    }

    pub(super) fn propose_cases(&mut self, at: usize, cases: &[&str]) {
        for it in cases.iter().take(3) {
            self.propose_insertion(format!("Insert {it}"), at, format!("{it}, "));
        }
    }

    pub(super) fn advise_on_unknown_case(&mut self) {
        let (start, line) = self.line_at(self.range.start);
        let offset = self.range.start - start;
        // The problem is at the word, or at the end of the preceding text.
        let from = offset + line[offset..].len() - line[offset..].trim_start().len();
        let word: String = line[from..]
            .chars()
            .skip_while(|it| *it == '"')
            .take_while(|it| it.is_alphanumeric() || *it == '_')
            .collect();
        let is_quoted = line[from..].starts_with('"');
        let from = start + from + usize::from(is_quoted);
        let Some((_, list)) = self.problem.message.split_once("one of ") else { return };
        let cases: Vec<&str> =
            list.split(", ").map(|it| it.trim_matches(['\'', '`', '"'])).collect();
        let synonyms: &[&str] = match word.to_ascii_lowercase().as_str() {
            "less" | "lt" => &["slt", "ult", "olt"],
            "greater" | "gt" => &["sgt", "ugt", "ogt"],
            "le" | "leq" => &["sle", "ule", "ole"],
            "ge" | "geq" => &["sge", "uge", "oge"],
            "equal" | "equals" | "eq" => &["eq", "oeq"],
            "neq" | "notequal" | "ne" => &["ne", "one"],
            "add" | "addition" => &["addi", "addf"],
            "mul" => &["muli", "mulf"],
            "slt" => &["olt"],
            "sgt" => &["ogt"],
            "sle" => &["ole"],
            "sge" => &["oge"],
            "oeq" => &["eq"],
            "one" => &["ne"],
            "olt" => &["slt", "ult"],
            "ogt" => &["sgt", "ugt"],
            "ole" => &["sle", "ule"],
            "oge" => &["sge", "uge"],
            _ => &[],
        };
        let mut near: Vec<String> =
            cases.iter().filter(|it| synonyms.contains(it)).map(|it| (*it).to_owned()).collect();
        if near.is_empty() {
            near = nearest(&word, cases.iter().copied()).into_iter().map(str::to_owned).collect();
        }
        if near.is_empty() && word.len() > 1 {
            let close = |it: &&&str| distance(it, &word, 1).is_some();
            near = cases.iter().filter(close).map(|it| (*it).to_owned()).collect();
        }
        let found = if word.is_empty() { String::new() } else { format!(", found `{word}`") };
        self.set_message(format!("{}{found}", self.problem.message));
        self.set_help(if near.is_empty() {
            "Write one of the listed keywords".to_owned()
        } else {
            let all: Vec<String> = near.iter().map(|it| format!("`{it}`")).collect();
            format!("Did you mean {}?", words::alternatives(&all)).trim_end_matches('?').to_owned()
        });
        if word.is_empty() {
            return self.propose_cases(from, &cases);
        }
        let is_one = near.len() == 1;
        for it in near.into_iter().take(3) {
            self.propose_replacement(format!("Replace by {it}"), from..from + word.len(), it);
            if is_one {
                self.mark_as_sure();
            }
        }
    }

    pub(super) fn advise_on_duplicate_key(&mut self) {
        let window = self.window();
        let at = window.token_index_after(self.range.start);
        let Some(key) = window.token(at) else { return };
        let name = window.str(key).trim_matches('"').to_owned();
        let is_same = |it: &crate::Token| window.str(*it).trim_matches('"') == name;
        let first = window.tokens[..at].iter().rev().find(|it| is_same(it)).copied();
        if let Some(first) = first {
            self.add_related(window.range(first), format!("`{name}` is given here, too"));
        }
        self.set_help(format!("Remove or rename one of the two entries `{name}`"));
        // The entry up to the next comma or brace, with the preceding comma.
        let mut depth = 0usize;
        let mut end = at;
        while let Some(it) = window.token(end) {
            use crate::TokenKind as K;
            match it.kind {
                K::LBrace | K::LSquare | K::LParen | K::Less => depth += 1,
                K::RBrace | K::RSquare | K::RParen | K::Greater | K::Comma if depth == 0 => break,
                K::RBrace | K::RSquare | K::RParen | K::Greater => depth -= 1,
                _ => {}
            }
            end += 1;
        }
        if let Some(comma) = at.checked_sub(1).and_then(|it| window.tokens.get(it).copied())
            && comma.kind == crate::TokenKind::Comma
        {
            let last = window.tokens[end - 1];
            let range = window.range(comma).start..window.range(last).end;
            self.propose_replacement(format!("Remove the second `{name}`"), range, "");
        }
        let range = window.range(key);
        self.propose_replacement(format!("Rename the second `{name}`"), range, format!("{name}_1"));
    }

    /// The texts of the types that may be expected in an op, the most likely first.
    pub(super) fn likely_types(&self) -> Vec<String> {
        let name = self.ir.op_name(self.op).to_owned();
        let mut out: Vec<String> = Vec::new();
        let window = self.window();
        let region = self.ir.op(self.op).parent;
        let add = |ty: Type, out: &mut Vec<String>| {
            let text = self.ir.interner.insertable_type_text(ty);
            out.extend(text.filter(|it| !out.contains(it)));
        };
        let names = window.tokens.iter().filter(|it| it.kind == crate::TokenKind::Percent);
        let names: Vec<&str> =
            names.map(|&it| window.str(it).trim_start_matches('%')).take(8).collect();
        let results = self.ir.op(self.op).result_names.len();
        for name in names.iter().skip(results) {
            let value =
                self.ir.interner.find_name(name).and_then(|it| self.ir.visible_value(region, it));
            if let Some(value) = value {
                add(self.type_of(value), &mut out);
            }
        }
        if name.starts_with("noisy.") && !out.iter().any(|it| it == "!noisy.i32") {
            out.push("!noisy.i32".to_owned());
        }
        if let Some((inputs, results)) = self.function().and_then(|it| self.signature(it)) {
            for ty in results.into_iter().chain(inputs).take(4) {
                add(ty, &mut out);
            }
        }
        for it in ["i32", "index", "i1", "f32", "i64"] {
            if !out.iter().any(|known| known == it) {
                out.push(it.to_owned());
            }
        }
        out.truncate(8);
        out
    }
}

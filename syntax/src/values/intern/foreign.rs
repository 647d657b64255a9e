//! Prints types and attributes of dialects that this project does not parse, as a given tool prints
//! them.
//!
//! A tool without the dialect prints the body unchanged, including blanks, line ends and `//`. A
//! tool with the dialect parses and reprints it. This module applies the usual changes of a
//! reprint: blanks ([`normalize_blanks`]), and for some types and attributes the changes in the
//! tables below. Each row is a fact about the dialect's printer.

use crate::Tool;
use crate::identifier::{suffix_id_len, word_len};
use crate::namespace::is_read_by_mlir;
use crate::string::string_len;

/// The dialects of `heir-opt --show-dialects` (LLVM 24).
#[rustfmt::skip]
const HEIR_DIALECTS: &[&str] = &[
    "affine", "arith", "bgv", "bufferization", "builtin", "cggi", "cheddar", "ckks", "comb", "debug", "emitc", "func",
    "jaxite", "jaxiteword", "kernel", "key_mgmt", "lattigo", "linalg", "llvm", "lwe", "math", "math_ext", "memref",
    "mgmt", "mod_arith", "openfhe", "orion", "polynomial", "poulpy", "preprocessing", "random", "rns", "rotom", "scf",
    "scifrbool", "secret", "tensor", "tensor_ext", "tfhe_rust", "tfhe_rust_bool",
];

/// Attributes whose printer omits a prefix of a parameter: the attribute, the prefix, and true if
/// the brackets after the prefix are omitted, too.
const OMITTED_PREFIXES: &[(&str, &str, bool)] = &[
    ("#polynomial.ring", "#polynomial.int_polynomial", false),
    ("#polynomial.ring", "#polynomial.float_polynomial", false),
    ("#rotom.layout", "#rotom.dim", true),
    ("#spirv.coop_matrix_props_khr", "#spirv.scope", false),
];

/// Parameters that are omitted if they have their default value.
const OMITTED_DEFAULTS: &[(&str, &[&str])] = &[
    (
        "#omp.flags",
        &[
            "debug_kind = 0",
            "assume_teams_oversubscription = false",
            "assume_threads_oversubscription = false",
            "assume_no_thread_state = false",
            "assume_no_nested_parallelism = false",
            "no_gpu_lib = false",
        ],
    ),
    ("#mgmt.mgmt", &["dimension = 2"]),
    ("#sparse_tensor.encoding", &["posWidth = 0", "crdWidth = 0"]),
];

/// Named parameters that are always printed in this order.
const PARAMETER_ORDER: &[(&str, &[&str])] = &[
    ("#gpu.loop_dim_map", &["processor", "map", "bound"]),
    ("test.type_with_format", &["three", "two"]),
];

/// Appends a type (without `!`) or attribute (with `#`) as the tool prints it.
pub(super) fn write(out: &mut String, tool: Tool, text: &str) {
    let name = text.strip_prefix('#').unwrap_or(text);
    let dialect = &name[..name.find(['.', '<']).unwrap_or(name.len())];
    // Types and attributes of `arith` are parsed elsewhere and already have their canonical text.
    let is_respaced = is_parsed_by(tool, dialect) && dialect != "arith";
    let Some(open) = text.find('<').filter(|_| is_respaced) else {
        out.push_str(text);
        return;
    };
    let head = &text[..open];
    let mut body = normalize_blanks(&text[open..], head);
    for (of, defaults) in OMITTED_DEFAULTS {
        if *of == head {
            for it in *defaults {
                body = body.replacen(&format!(", {it}"), "", 1).replacen(it, "", 1);
            }
        }
    }
    if let Some((_, names)) = PARAMETER_ORDER.iter().find(|it| it.0 == head) {
        body = sort_parameters(&body, names);
    }
    match dialect {
        "sparse_tensor" => body = rename_dims(&remove_level_names(&body)),
        "polynomial" => body = sort_terms(&body, &head[head.find('.').unwrap_or(0)..]),
        // The printer replaces these numbers by letters.
        "rotom" => body = body.replace("[-1:", "[R:").replace("[-2:", "[G:"),
        _ => {}
    }
    out.push_str(head);
    out.push_str(&body);
}

fn is_parsed_by(tool: Tool, dialect: &str) -> bool {
    match tool {
        Tool::Mlir19 => is_read_by_mlir(dialect),
        Tool::Heir24 => HEIR_DIALECTS.contains(&dialect),
    }
}

/// Characters that affect the nesting of a body: brackets and quotes.
const BRACKETS: &[char] = &['<', '>', '(', ')', '[', ']', '{', '}', '"'];

/// Returns the body of a type or attribute with one blank wherever MLIR's printers write one: after
/// a comma, around an equals sign (except in SPIR-V), before a colon that is followed by a blank,
/// never next to brackets other than braces, and otherwise where the text has blanks.
fn normalize_blanks(text: &str, head: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    // The type or attribute of each open bracket.
    let mut heads: Vec<&str> = vec![head];
    let mut word = head;
    let mut at = 0;
    let mut is_blank = false;
    while at < bytes.len() {
        let start = at;
        let byte = bytes[at];
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let is_white = |it: u8| matches!(it, b' ' | b'\t' | b'\r' | b'\n' | 0);
        at += 1;
        if is_white(byte) {
            is_blank = true;
            continue;
        }
        if byte == b'/' && next == b'/' {
            // If a comment hides a bracket, the dialect cannot parse the body.
            match text[at..].find('\n').map(|it| at + it) {
                Some(end) if !text[at..end].contains(BRACKETS) => at = end,
                _ => return text.to_owned(),
            }
            is_blank = true;
            continue;
        }
        let last = out.bytes().last().unwrap_or(0);
        let closes = matches!(byte, b'>' | b')' | b']' | b',');
        let around = heads.last().copied().unwrap_or("");
        let is_equals = byte == b'='
            && !matches!(last, b'<' | b'>' | b'=' | b'!' | b':')
            && !matches!(next, b'=' | b'>')
            && !around.starts_with("#spirv.target_env");
        let needs = is_equals || byte == b':' && is_white(next) && last != b':';
        let opened = matches!(last, b'<' | b'(' | b'[');
        if !closes && !opened && last != b' ' && (needs || is_blank || last == b',') {
            out.push(' ');
        }
        is_blank = is_equals;
        match byte {
            b'"' => at = start + string_len(&text[start..]),
            b'-' if next == b'>' => at += 1,
            b'<' => heads.push(word),
            b'>' => {
                heads.pop();
            }
            b'#' | b'!' => {
                at += suffix_id_len(&text[at..]);
                word = &text[start..at];
                if let Some((_, _, no_brackets)) =
                    OMITTED_PREFIXES.iter().find(|it| it.0 == around && it.1 == word)
                    && bytes.get(at) == Some(&b'<')
                {
                    if *no_brackets && let Some(len) = text[at..].find('>') {
                        out.push_str(&text[at + 1..at + len]);
                        at += len + 1;
                    }
                    continue;
                }
            }
            b'0' if next == b'x' && !last.is_ascii_alphanumeric() => {
                let digits = &text[at + 1..];
                let len = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
                // The bit pattern of a float remains hexadecimal.
                let is_float = digits[len..].trim_start().starts_with(": f");
                if let (Ok(value), false) = (u64::from_str_radix(&digits[..len], 16), is_float) {
                    out.push_str(&value.to_string());
                    at += 1 + len;
                    continue;
                }
            }
            _ => {
                // A word or a character is copied whole.
                let rest = &text[start..];
                let len = match word_len(rest) {
                    0 => rest.chars().next().map_or(1, char::len_utf8),
                    len => len,
                };
                at = start + len;
                word = "";
                // This attribute prints the default type of integers.
                if around == "#dlti.dl_entry"
                    && byte.is_ascii_digit()
                    && rest[..len].bytes().all(|it| it.is_ascii_digit())
                    && rest[len..].trim_start().starts_with('>')
                {
                    out.push_str(&rest[..len]);
                    out.push_str(" : i64");
                    continue;
                }
            }
        }
        out.push_str(&text[start..at]);
    }
    out
}

/// Sorts the parameters of `<a, x = 1, y = 2>` that have these names in this order, after the
/// others.
fn sort_parameters(body: &str, names: &[&str]) -> String {
    let Some(inner) = body.strip_prefix('<').and_then(|it| it.strip_suffix('>')) else {
        return body.to_owned();
    };
    let mut parts = Vec::new();
    let (mut depth, mut from, mut at) = (0i32, 0, 0);
    while at < inner.len() {
        match inner.as_bytes()[at] {
            b'"' => {
                at += string_len(&inner[at..]);
                continue;
            }
            b'-' if inner[at..].starts_with("->") => at += 1,
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(inner[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    parts.push(inner[from..].trim());
    parts.sort_by_key(|part| {
        let name = part.split_once(" = ").map(|it| it.0);
        name.and_then(|name| names.iter().position(|it| *it == name)).map_or(0, |at| at + 1)
    });
    format!("<{}>", parts.join(", "))
}

/// Sorts the terms of polynomials by their exponents. `head` is the name of the type or attribute,
/// starting with the dot.
fn sort_terms(body: &str, head: &str) -> String {
    let exponent = |term: &str| match term.split_once('x') {
        None => 0,
        Some((_, power)) => {
            power.strip_prefix("**").map_or(1, |it| it.trim().parse::<u64>().unwrap_or(u64::MAX))
        }
    };
    let sorted = |terms: &str| {
        let mut terms: Vec<&str> = terms.split(" + ").collect();
        terms.sort_by_key(|it| exponent(it));
        terms.join(" + ")
    };
    if head.ends_with("_polynomial") {
        let inner = body.strip_prefix('<').and_then(|it| it.strip_suffix('>'));
        return inner.map_or(body.to_owned(), |it| format!("<{}>", sorted(it)));
    }
    let mut out = String::new();
    let mut rest = body;
    while let Some(at) = rest.find("polynomialModulus = <").map(|it| it + 21) {
        let len = rest[at..].find('>').unwrap_or(0);
        out.push_str(&rest[..at]);
        out.push_str(&sorted(&rest[at..at + len]));
        rest = &rest[at + len..];
    }
    out + rest
}

/// Removes the names of levels from a sparse encoding: `{l0} (d0 = l0) -> (l0 = d0 : dense)` is
/// printed as `(d0) -> (d0 : dense)`.
fn remove_level_names(body: &str) -> String {
    let Some(open) = body.find("map = {").map(|it| it + 6) else { return body.to_owned() };
    let Some(close) = body[open..].find('}').map(|it| open + it) else { return body.to_owned() };
    let mut rest = body[close + 1..].trim_start().to_owned();
    for level in body[open + 1..close].split(", ") {
        rest = rest.replace(&format!(" = {level}"), "").replace(&format!("{level} = "), "");
    }
    format!("{}{rest}", &body[..open])
}

/// Renames the dimensions of a sparse encoding to `d0`, `d1`, and so on, as its printer does.
fn rename_dims(body: &str) -> String {
    let Some(open) =
        body.find("map = ").map(|it| it + 6).and_then(|it| Some(it + body[it..].find('(')?))
    else {
        return body.to_owned();
    };
    let Some(close) = body[open..].find(") ->").map(|it| open + it) else { return body.to_owned() };
    let names: Vec<&str> = body[open + 1..close].split(", ").collect();
    let is_name =
        |it: &&str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    if !names.iter().all(is_name) {
        return body.to_owned();
    }
    let mut out = body[..open].to_owned();
    let mut rest = &body[open..];
    while !rest.is_empty() {
        let len =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if len == 0 {
            let len = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..len]);
            rest = &rest[len..];
            continue;
        }
        match names.iter().position(|it| *it == &rest[..len]) {
            Some(at) => out.push_str(&format!("d{at}")),
            None => out.push_str(&rest[..len]),
        }
        rest = &rest[len..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, spelled: &str) {
        check_as(Tool::Mlir19, text, spelled);
    }

    #[track_caller]
    fn check_as(tool: Tool, text: &str, spelled: &str) {
        let mut out = String::new();
        write(&mut out, tool, text);
        assert_eq!(out, spelled);
        let mut again = String::new();
        write(&mut again, tool, &out);
        assert_eq!(again, out, "spelling twice changes nothing");
    }

    #[test]
    fn places_blanks_as_printers_do() {
        check("#llvm.b<\n  x=1,y = \"a  b\" >", "#llvm.b<x = 1, y = \"a  b\">");
        check("spirv.ptr<vector<4xi32>,Function>", "spirv.ptr<vector<4xi32>, Function>");
        check(
            "#llvm.b<\"CPU\": #llvm.c<[ 1 , 2 ]> // why\n>",
            "#llvm.b<\"CPU\" : #llvm.c<[1, 2]>>",
        );
        check("llvm.struct<(i32 //)\n>", "llvm.struct<(i32 //)\n>");
        check("llvm.struct<(i32 //x)>", "llvm.struct<(i32 //x)>");
        check("#llvm.b<{\n  map = (d0)->(d0) }>", "#llvm.b<{ map = (d0)->(d0) }>");
        check("#llvm.b<0x10, 0x3F800000 : f32, a>=b>", "#llvm.b<16, 0x3F800000 : f32, a>=b>");
        check("#llvm.b<a:= b>", "#llvm.b<a:= b>");
        check("#arith.fastmath<nnan,ninf>", "#arith.fastmath<nnan,ninf>");
        check("#spirv.target_env<x, api=Vulkan>", "#spirv.target_env<x, api=Vulkan>");
    }

    #[test]
    fn applies_the_changes_of_dialect_printers() {
        check_as(
            Tool::Heir24,
            "#rotom.layout<n = 4, dims = [#rotom.dim<[0:4:1]>]>",
            "#rotom.layout<n = 4, dims = [[0:4:1]]>",
        );
        check_as(
            Tool::Heir24,
            "#rotom.layout<n = 4, dims = [#rotom.dim<[-2:2:1]>]>",
            "#rotom.layout<n = 4, dims = [[G:2:1]]>",
        );
        check_as(
            Tool::Heir24,
            "polynomial.polynomial<ring = #polynomial.ring<polynomialModulus = #polynomial.int_polynomial<x**3 + x + -2x**2 + 1>>>",
            "polynomial.polynomial<ring = #polynomial.ring<polynomialModulus = <1 + x + -2x**2 + x**3>>>",
        );
        check("#polynomial.int_polynomial<x**9 + 1>", "#polynomial.int_polynomial<1 + x**9>");
        check("#dlti.dl_entry<\"a\", 32 >", "#dlti.dl_entry<\"a\", 32 : i64>");
        check("#dlti.dl_entry<i32, 32 : i8>", "#dlti.dl_entry<i32, 32 : i8>");
        check(
            "#gpu.loop_dim_map<bound = (d0) -> (d0), map = (d0, d1) -> (d0), processor = thread_x>",
            "#gpu.loop_dim_map<processor = thread_x, map = (d0, d1) -> (d0), bound = (d0) -> (d0)>",
        );
        check(
            "#sparse_tensor.encoding<{ map = {l0, l1} (d0 = l0, d1 = l1) -> (l0 = d0 : dense, l1 = d1 : compressed) }>",
            "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>",
        );
        check_as(Tool::Heir24, "#mgmt.mgmt<level = 0, dimension = 2>", "#mgmt.mgmt<level = 0>");
        check(
            "#sparse_tensor.encoding<{ map = (i, j) -> (j : dense, i mod 2 : compressed) }>",
            "#sparse_tensor.encoding<{ map = (d0, d1) -> (d1 : dense, d0 mod 2 : compressed) }>",
        );
    }

    #[test]
    fn keeps_bodies_of_unknown_dialects() {
        // In a body that is not parsed, `//` does not start a comment, and line ends and blanks are
        // kept.
        for text in ["#a.b< \"//>\"  x //: 1\n , 0x10>", "array<//x: 1>", "#a<(b,\n//c)>"] {
            check(text, text);
        }
        check_as(Tool::Heir24, "#spirv.x<a,b>", "#spirv.x<a,b>");
    }
}

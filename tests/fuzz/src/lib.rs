//! Fuzz targets: the decoding of the bytes, and the laws that must hold.
//!
//! 1. [`read`]: any bytes can be parsed; every range is on character boundaries and covers the text
//!    that it names.
//! 2. [`edit`]: after any edits, the document equals one parsed from scratch: tree, names, uses,
//!    problems.
//! 3. [`print`]: the generic form of a text without problems and without ops of unknown syntax has
//!    no problems, and printing it again gives the same text.

use noisy_syntax::laws::{check_ranges, fingerprint};
use noisy_syntax::print::generic;
use noisy_syntax::{Form, Source};

/// Parses any bytes. Invalid UTF-8 becomes U+FFFD, as when a file is read.
pub fn read(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let source = Source::new(&text);
    check_ranges(&source);
    for (_, range, _) in source.problems() {
        assert!(text.get(range.clone()).is_some(), "{range:?} is no range of the text");
    }
}

/// Decodes edits and a text, and applies the edits. Before a zero byte, each edit has four bytes:
/// two for the position, one for the length of the removed text, and one for the inserted piece.
/// The text follows.
pub fn edit(data: &[u8]) {
    let mut edits = Vec::new();
    let mut rest = data;
    while let [a, b, remove, insert, behind @ ..] = rest {
        if *a == 0 || edits.len() == 8 {
            break;
        }
        edits.push((u16::from_le_bytes([*a, *b]), *remove, *insert));
        rest = behind;
    }
    let text = String::from_utf8_lossy(rest.strip_prefix(&[0]).unwrap_or(rest));
    let mut source = Source::new(&text);
    for (at, remove, insert) in edits {
        let text = source.text().to_string();
        let boundary = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let at = boundary(usize::from(at) * text.len() / usize::from(u16::MAX));
        let to = boundary((at + usize::from(remove % 32)).min(text.len()));
        let piece = PIECES[usize::from(insert) % PIECES.len()];
        source.edit(at..to, piece);
        check_ranges(&source);
        let fresh = Source::new(&source.text().to_string());
        assert_eq!(fingerprint(&source), fingerprint(&fresh), "after {at}..{to} {piece:?}");
    }
}

/// Prints a program without ops of unknown syntax, and parses the result.
pub fn print(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source::new(text);
    let ir = source.ir();
    let mut is_understood = true;
    ir.walk(ir.root(), &mut |op| is_understood &= ir.op(op).form != Form::Opaque);
    if !is_understood || !source.problems().is_empty() {
        return;
    }
    let once = generic(source.ir());
    let printed = Source::new(&once);
    let problems = printed.problems();
    assert!(problems.is_empty(), "{problems:?} in\n{once}");
    assert_eq!(once, generic(printed.ir()));
}

/// Pieces that edits insert: text that people type, and text that breaks programs.
const PIECES: &[&str] = &[
    "",
    "{",
    "}",
    "(",
    ")",
    "<",
    ">",
    "[",
    "]",
    "\"",
    "//",
    "\n",
    "\r\n",
    " ",
    "%0",
    "%1",
    "%a",
    "=",
    ":",
    ",",
    "#",
    "-",
    "!",
    "^bb0",
    "^bb1:",
    "@f",
    "return",
    "\n// -----\n",
    "{-#",
    "#-}",
    "\u{1F600}",
    "!foo.bar<",
    "%7 = arith.addi %0, %1 : i32\n",
    "\n%8 = \"foo\"() : () -> i32\n",
    "func.func @k(%0: i32) {\n}\n",
    "\0",
    "i32",
    "->",
    "^bb2(%0: i32):\n",
    "#map = affine_map<() -> ()>\n",
    "!t = i32\n",
    "!t",
    "else {",
    "loc(unknown)",
    "a.b",
    "\"x\"() ({",
    "}) : () -> ()\n",
    "scf.if %c {\n",
    "module {\n",
    "weird.op %z {\n",
    "  }\n",
];

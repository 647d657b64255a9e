//! Rename: values (a pack as a whole), blocks, symbols and aliases. A rename that would change the
//! meaning of the program is refused.

use std::ops::Range;

use noisy_analyses::TextEdit;
use noisy_syntax::identifier::{is_bare_id, is_suffix_id};
use noisy_syntax::lex::lex;
use noisy_syntax::string::{bytes_of_text, text_of_bytes, unquoted};
use noisy_syntax::{Ir, Name, Op, OpKind, Region, Source, Token, TokenKind, Value};

use crate::features::find::cursor::{self, Entity};
use crate::features::find::definition::defining_op;
use crate::features::find::reference;

/// The name to rename, without its sigil and `#number`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RenameTarget {
    /// The name under the cursor, including the sigil.
    pub range: Range<usize>,
    pub text: String,
}

/// The name that a rename at an offset would change.
pub(crate) fn rename_target(source: &Source, offset: usize) -> Option<RenameTarget> {
    let (entity, range) = entity_named_at(source, offset)?;
    defining_op(source.ir(), entity)?;
    Some(RenameTarget { text: source.slice(range.clone()), range })
}

/// The entity whose name is at an offset, and the range of the name: of `@m::@f` the part at the
/// offset, of `%a#1` the part without `#1`.
fn entity_named_at(source: &Source, offset: usize) -> Option<(Entity, Range<usize>)> {
    let mention = cursor::mention_at(source, offset)?;
    let is_definition =
        || defining_op(source.ir(), mention.entity).is_some_and(|it| it.1 == mention.range);
    if !matches!(mention.entity, Entity::Symbol(_)) || is_definition() {
        let range = name_range_in(source, mention.entity, mention.range);
        return Some((mention.entity, range));
    }
    let mut parts = resolve_parts(source, mention.op, mention.range).into_iter();
    let part = parts.find(|it| it.range.start <= offset && offset <= it.range.end)?;
    Some((Entity::Symbol(part.target?), part.range))
}

/// The name within a mention: without `#1`, and of `@m::@f` only the part that names the entity.
pub(crate) fn name_range_in(source: &Source, entity: Entity, range: Range<usize>) -> Range<usize> {
    let ir = source.ir();
    match entity {
        Entity::Value(value) => {
            let len = 1 + ir.interner.str(ir.value(value).name).len();
            range.start..(range.start + len).min(range.end)
        }
        Entity::Symbol(op) => {
            let name = ir.extra(op).symbol.map_or("", |it| ir.interner.str(it.0));
            let mut names = names_of_reference(source, &range).into_iter();
            names.find(|it| it.1 == name).map_or(range, |it| it.0)
        }
        _ => range,
    }
}

/// The names of a symbol reference, with their ranges including sigils, quotes and escapes.
fn names_of_reference(source: &Source, range: &Range<usize>) -> Vec<(Range<usize>, String)> {
    let text = source.slice(range.clone());
    let tokens = lex(&text).tokens.into_iter().filter(|it| it.kind == TokenKind::At);
    let name = |it: Token| {
        let place = range.start + it.range().start..range.start + it.range().end;
        (place, unquoted(&text[it.range()][1..]).into_owned())
    };
    tokens.map(name).collect()
}

/// One name of a symbol reference, and the op that it refers to.
struct SymbolPart {
    range: Range<usize>,
    target: Option<Op>,
}

/// The names of a symbol reference in an op, with their targets: the first name is resolved from
/// the op, each further one inside the previous target.
fn resolve_parts(source: &Source, from: Op, range: Range<usize>) -> Vec<SymbolPart> {
    let ir = source.ir();
    let mut outer = None;
    let part = |(n, (range, name)): (usize, (Range<usize>, String))| {
        let name = ir.interner.find_name(&name);
        let inside = |op: Op, name: Name| {
            let regions = ir.op(op).regions.iter();
            regions.flat_map(|it| ir.symbol_defs(it.1, name)).next().copied()
        };
        let target = match (n, outer) {
            (0, _) => name.and_then(|it| ir.resolve_symbol(from, it)),
            (_, Some(outer)) => name.and_then(|it| inside(outer, it)),
            _ => None,
        };
        outer = target;
        SymbolPart { range, target }
    };
    names_of_reference(source, &range).into_iter().enumerate().map(part).collect()
}

/// All occurrences of the name of a value, without pack index, in textual order. The text of an
/// `affine` op may contain an operand several times: `%m[%i, %i + 1]`.
pub(crate) fn value_mentions(source: &Source, value: Value) -> Vec<Range<usize>> {
    let ir = source.ir();
    let entity = Entity::Value(value);
    let found = reference::mentions_of_name(ir, entity, usize::MAX).unwrap_or_default().into_iter();
    let mut out: Vec<_> = found.map(|it| name_range_in(source, entity, it.range)).collect();
    let name = format!("%{}", ir.interner.str(ir.value(value).name));
    for value in cursor::values_with_same_name(ir, value) {
        let users = ir.value(value).uses.iter().map(|it| it.0);
        for op in users.filter(|it| ir.op_name(*it).starts_with("affine.")) {
            let head = ir.head_range(op);
            let text = source.slice(head.clone());
            for token in lex(&text).tokens {
                let own = token.range();
                if token.kind == TokenKind::Percent && text[own.clone()] == *name {
                    out.push(head.start + own.start..head.start + own.end);
                }
            }
        }
    }
    out.sort_unstable_by_key(|it| it.start);
    out.dedup();
    out
}

/// The mentions of an entity, including its definition; `None` if the definition is not in this
/// file.
fn all_mentions(source: &Source, entity: Entity) -> Option<Vec<Range<usize>>> {
    let ir = source.ir();
    let (_, definition) = defining_op(ir, entity)?;
    let target = match entity {
        Entity::Symbol(target) => target,
        Entity::Value(value) => return Some(value_mentions(source, value)),
        _ => {
            let found = reference::mentions_of_name(ir, entity, usize::MAX)?;
            return Some(found.into_iter().map(|it| it.range).collect());
        }
    };
    let mut out = vec![definition];
    for op in reference::symbol_users(ir, target) {
        for &(.., span) in &ir.extra(op).symbol_uses {
            let parts = resolve_parts(source, op, ir.absolute(op, span)).into_iter();
            out.extend(parts.filter(|it| it.target == Some(target)).map(|it| it.range));
        }
    }
    out.sort_unstable_by_key(|it| it.start);
    out.dedup();
    Some(out)
}

/// The edits that rename the entity at an offset (`new` may omit the sigil), or the reason why
/// there are none.
pub(crate) fn rename(source: &Source, offset: usize, new: &str) -> Result<Vec<TextEdit>, String> {
    let ir = source.ir();
    let (entity, _) = entity_named_at(source, offset).ok_or("there is nothing here to rename")?;
    let sigil = match entity {
        Entity::Value(_) => "%",
        Entity::Block(_) => "^",
        Entity::Symbol(_) => "@",
        Entity::Alias(_, name) => &ir.interner.str(name)[..1],
        Entity::OpName(_) => return Err("the name of an op cannot be changed".to_owned()),
    };
    let bare = new.trim();
    let bare = bare.strip_prefix(sigil).unwrap_or(bare);
    let is_symbol = matches!(entity, Entity::Symbol(_));
    let is_quoted = is_symbol && bare.len() >= 2 && bare.starts_with('"') && bare.ends_with('"');
    let bare =
        if is_quoted { unquoted(bare) } else { text_of_bytes(bare.to_owned().into_bytes()).into() };
    if bare.is_empty() || (!is_symbol && !is_suffix_id(&bare)) {
        return Err(format!(
            "'{new}' is not a name: expected {sigil} and letters, digits, _ $ . - (or digits only)"
        ));
    }
    // Some control characters end a string in MLIR. Bytes that are not UTF-8 are written as
    // escapes.
    let is_bad = |it: char| it.is_control() || "\"\\".contains(it);
    if is_symbol && bytes_of_text(&bare).utf8_chunks().any(|it| it.valid().contains(is_bad)) {
        return Err(format!("{new:?} is not a name of a symbol"));
    }
    if matches!(entity, Entity::Alias(..)) && bare.contains('.') {
        return Err(format!(
            "'{new}' is not a name of an alias: names with a dot belong to dialects"
        ));
    }
    if let Some(why) = conflict(ir, entity, &bare) {
        return Err(why);
    }
    let places = all_mentions(source, entity).ok_or("its definition is not in this file")?;
    let edits = places.into_iter().map(|range| {
        let is_string = is_symbol && source.slice(range.clone()).starts_with('"');
        let text = match (is_string, is_symbol && !is_bare_id(&bare)) {
            (true, _) => format!("\"{bare}\""),
            (false, true) => format!("@\"{bare}\""),
            (false, false) => format!("{sigil}{bare}"),
        };
        TextEdit { range, text }
    });
    Ok(edits.collect())
}

/// True if the header of an op of unknown form defines a name as an argument of its regions. A name
/// that is already defined before the op is only a use.
fn header_defines(ir: &Ir, op: Op, name: Name) -> bool {
    let mut operands = ir.op(op).operands.iter();
    operands.any(|it| it.may_be_argument && it.value.is_none() && it.name == name)
}

/// The reason why an entity cannot have a name.
fn conflict(ir: &Ir, entity: Entity, new: &str) -> Option<String> {
    match entity {
        Entity::Value(value) => {
            let name = ir.interner.find_name(new)?;
            let own = cursor::values_with_same_name(ir, value);
            let is_other =
                |region: Region| ir.defs(region, name).iter().any(|it| !own.contains(it));
            let is_changed = ir.value(value).name != name;
            let is_in_header = |op: Op| is_changed && header_defines(ir, op, name);
            let region = ir.def_region(value);
            // Names must not shadow each other, so the name must be free in all ancestors and in
            // nested regions.
            let mut taken = false;
            let mut outer = Some(region);
            while let Some(it) = outer {
                taken |= is_other(it);
                let around = ir.region(it).parent.filter(|&op| ir.op(op).kind != OpKind::FuncFunc);
                taken |= around.is_some_and(is_in_header);
                outer = around.map(|op| ir.op(op).parent);
            }
            ir.walk(region, &mut |op| {
                let mut regions = ir.op(op).regions.iter();
                taken |= is_in_header(op) || regions.any(|it| is_other(it.1));
            });
            taken.then(|| format!("%{new} is defined already where both would be visible"))
        }
        Entity::Block(block) => {
            let mut others =
                ir.blocks(ir.block(block).region).into_iter().filter(|it| *it != block);
            let is_new =
                |label: Option<Op>| label.is_some_and(|it| ir.interner.str(ir.op(it).name) == new);
            others
                .any(|it| is_new(ir.block(it).label))
                .then(|| format!("^{new} is defined already in this region"))
        }
        Entity::Symbol(op) => {
            let name = ir.interner.find_name(new)?;
            let others = ir.symbol_defs(ir.op(op).parent, name);
            if others.iter().any(|it| *it != op) {
                return Some(format!("@{new} is defined already"));
            }
            // Names of outer symbol tables are visible inside ops of unknown kinds, so one name may
            // hide another.
            let users = reference::symbol_users(ir, op).into_iter();
            let is_hidden = users
                .filter_map(|it| ir.resolve_symbol(it, name))
                .any(|it| it != op && ir.encloses(ir.op(op).parent, it));
            let hides = ir.symbol_users(name).iter().any(|&user| {
                ir.encloses(ir.op(op).parent, user)
                    && ir
                        .resolve_symbol(user, name)
                        .is_some_and(|it| it != op && !ir.encloses(ir.op(op).parent, it))
            });
            (is_hidden || hides)
                .then(|| format!("@{new} is defined already where both are visible"))
        }
        Entity::Alias(from, old) => {
            let sigil = &ir.interner.str(old)[..1];
            let name = ir.interner.find_name(&format!("{sigil}{new}"))?;
            let is_defined = name != old && defining_op(ir, Entity::Alias(from, name)).is_some();
            is_defined.then(|| format!("{sigil}{new} is defined already"))
        }
        Entity::OpName(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after a rename of the entity at `~`.
    fn renamed(text: &str, new: &str) -> Result<String, String> {
        let at = text.find('~').unwrap_or_default();
        let mut text = text.replacen('~', "", 1);
        let edits = rename(&Source::new(&text), at, new)?;
        for it in edits.iter().rev() {
            text.replace_range(it.range.clone(), &it.text);
        }
        Ok(text)
    }

    #[test]
    fn a_taken_name_of_an_alias_is_refused() {
        let text = "#~m = affine_map<(d0) -> (d0)>\n#n = affine_map<(d0) -> (d0 + 1)>\n";
        assert_eq!(renamed(text, "n"), Err("#n is defined already".to_owned()));
        assert_eq!(renamed(text, "m"), Ok(text.replace('~', "")));
        let text = "!~a = i32\n#b = 1 : i32\n!c = i64\n\"t.x\"() {c = !a} : () -> ()\n";
        assert_eq!(renamed(text, "!c"), Err("!c is defined already".to_owned()));
        let wanted = "!b = i32\n#b = 1 : i32\n!c = i64\n\"t.x\"() {c = !b} : () -> ()\n";
        assert_eq!(renamed(text, "b"), Ok(wanted.to_owned()));
    }

    #[test]
    fn an_alias_has_no_dot() {
        for text in ["!~t = i32\n", "#~t = 1 : i32\n"] {
            assert!(renamed(text, "a.b").is_err_and(|it| it.contains("dot")), "{text}");
        }
    }

    #[test]
    fn renames_both_mentions_of_a_value_in_an_access() {
        let text = "func.func @f(%~i: index, %m: memref<8x8xi32>) {\n  %x = affine.load %m[%i, %i + 1] : memref<8x8xi32>\n  return\n}\n";
        let wanted = "func.func @f(%q: index, %m: memref<8x8xi32>) {\n  %x = affine.load %m[%q, %q + 1] : memref<8x8xi32>\n  return\n}\n";
        assert_eq!(renamed(text, "q").as_deref(), Ok(wanted));
    }

    #[test]
    fn renames_single_names_of_a_path() {
        for (text, wanted) in [
            (
                "module @a { func.func @~a() { return } }\n\"t.x\"() {c = @a::@a} : () -> ()\n",
                "module @a { func.func @q() { return } }\n\"t.x\"() {c = @a::@q} : () -> ()\n",
            ),
            (
                "module @a { func.func @a() { return } }\n\"t.x\"() {c = @~a::@a} : () -> ()\n",
                "module @q { func.func @a() { return } }\n\"t.x\"() {c = @q::@a} : () -> ()\n",
            ),
            (
                "module @a { module @b { func.func @c() { return } } }\n\"t.x\"() {c = @a::@~b::@c} : () -> ()\n",
                "module @a { module @q { func.func @c() { return } } }\n\"t.x\"() {c = @a::@q::@c} : () -> ()\n",
            ),
            (
                "module @m { func.func @~\"a::b\"() { return } }\n\"t.x\"() {c = @m::@\"a::b\"} : () -> ()\n",
                "module @m { func.func @q() { return } }\n\"t.x\"() {c = @m::@q} : () -> ()\n",
            ),
            (
                "module @~\"m::x\" { func.func @f() { return } }\n\"t.x\"() {c = @\"m::x\"::@f} : () -> ()\n",
                "module @q { func.func @f() { return } }\n\"t.x\"() {c = @q::@f} : () -> ()\n",
            ),
            (
                "func.func private @~a()\n\"t.x\"() {c = [@\"\\61\", @\"\\\\61\"]} : () -> ()\n",
                "func.func private @q()\n\"t.x\"() {c = [@q, @\"\\\\61\"]} : () -> ()\n",
            ),
            (
                "func.func private @~\"\\FF\"()\n\"t.x\"() {c = [@\"\\ff\", @\"\\\\FF\", @\"\\FE\"]} : () -> ()\n",
                "func.func private @q()\n\"t.x\"() {c = [@q, @\"\\\\FF\", @\"\\FE\"]} : () -> ()\n",
            ),
            (
                "module @~\"\\61\" { func.func @f() { return } }\n\"t.x\"() {c = @a::@f} : () -> ()\n",
                "module @q { func.func @f() { return } }\n\"t.x\"() {c = @q::@f} : () -> ()\n",
            ),
        ] {
            assert_eq!(renamed(text, "q"), Ok(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn symbols_are_renamed_through_every_nesting() {
        for (text, wanted) in [
            // A symbol in the region of a function is not a symbol of the module.
            (
                "func.func private @~c()\nfunc.func @f() {\n  \"t.x\"() {sym_name = \"c\"} : () -> ()\n  call @c() : () -> ()\n  return\n}\n",
                "func.func private @q()\nfunc.func @f() {\n  \"t.x\"() {sym_name = \"c\"} : () -> ()\n  call @q() : () -> ()\n  return\n}\n",
            ),
            // An op of an unknown kind may be a symbol table, or not.
            (
                "func.func private @~c()\n\"t.w\"() ({\n  func.func @f() {\n    call @c() : () -> ()\n    return\n  }\n}) : () -> ()\n",
                "func.func private @q()\n\"t.w\"() ({\n  func.func @f() {\n    call @q() : () -> ()\n    return\n  }\n}) : () -> ()\n",
            ),
            (
                "func.func private @c()\ngpu.module @m {\n  func.func private @~c()\n  func.func @f() {\n    call @c() : () -> ()\n    return\n  }\n}\n\"t.x\"() {a = @m::@c, b = @c} : () -> ()\n",
                "func.func private @c()\ngpu.module @m {\n  func.func private @q()\n  func.func @f() {\n    call @q() : () -> ()\n    return\n  }\n}\n\"t.x\"() {a = @m::@q, b = @c} : () -> ()\n",
            ),
            // A reference in a module does not refer to symbols outside of it.
            (
                "func.func private @~c()\nmodule {\n  func.func private @c()\n  \"t.x\"() {a = @c} : () -> ()\n}\n",
                "func.func private @q()\nmodule {\n  func.func private @c()\n  \"t.x\"() {a = @c} : () -> ()\n}\n",
            ),
            (
                "func.func @f(%b: i1) {\n  scf.if %b {\n    builtin.module {\n      func.func private @~c()\n      \"t.x\"() {a = @c} : () -> ()\n    }\n  }\n  \"t.x\"() {a = @c} : () -> ()\n  return\n}\n",
                "func.func @f(%b: i1) {\n  scf.if %b {\n    builtin.module {\n      func.func private @q()\n      \"t.x\"() {a = @q} : () -> ()\n    }\n  }\n  \"t.x\"() {a = @c} : () -> ()\n  return\n}\n",
            ),
        ] {
            assert_eq!(renamed(text, "q"), Ok(wanted.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_name_that_would_hide_another_one_is_refused() {
        for text in [
            "func.func private @~c()\n\"t.w\"() ({\n  func.func private @d()\n  \"t.x\"() {a = @c} : () -> ()\n}) : () -> ()\n",
            "func.func private @d()\n\"t.w\"() ({\n  func.func private @~c()\n  \"t.x\"() {a = @d} : () -> ()\n}) : () -> ()\n",
        ] {
            let why = "@d is defined already where both are visible".to_owned();
            assert_eq!(renamed(text, "d"), Err(why), "{text}");
        }
        let text = "func.func private @~c()\nmodule {\n  func.func private @d()\n  \"t.x\"() {a = @d} : () -> ()\n}\n";
        assert_eq!(renamed(text, "d"), Ok(text.replace("~c", "d")));
    }

    #[test]
    fn a_name_that_the_header_of_an_unknown_op_defines_is_refused() {
        let launch = "func.func @f(%a: index, %z: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %a, %gy = %a, %gz = %a) threads(%tx, %ty, %tz) in (%sx = %a, %sy = %a, %sz = %a) {
    %u = \"t.x\"(%bx, %z) : (index, index) -> index
    gpu.terminator
  }
  return
}
";
        let reduce = "func.func @f(%a: tensor<8xf32>, %o: tensor<f32>, %z: f32) -> tensor<f32> {
  %r = linalg.reduce ins(%a : tensor<8xf32>) outs(%o : tensor<f32>) dimensions = [0] (%in: f32, %out: f32) {
    %s = arith.addf %in, %z : f32
    linalg.yield %s : f32
  }
  return %r : tensor<f32>
}
";
        for (text, old, new) in [
            (launch, "%z", "bx"),
            (launch, "%z", "gx"),
            (launch, "%bx", "tx"),
            (launch, "%a", "by"),
            (launch, "%u", "ty"),
            (reduce, "%in", "out"),
            (reduce, "%z", "in"),
            (reduce, "%s", "in"),
            (reduce, "%s", "out"),
            (reduce, "%r", "out"),
        ] {
            let text = text.replacen(old, &format!("%~{}", &old[1..]), 1);
            let why = format!("%{new} is defined already where both would be visible");
            assert_eq!(renamed(&text, new), Err(why), "{old}");
            for free in [&old[1..], "free"] {
                let wanted = text.replace('~', "").replace(old, &format!("%{free}"));
                assert_eq!(renamed(&text, free), Ok(wanted), "{old}");
            }
        }
    }

    #[test]
    fn a_symbol_has_no_control_characters_and_may_be_given_in_quotes() {
        let text = "func.func @~f() { return }\n";
        for new in ["a\u{c}b", "a\u{b}b", "a\tb", "a\nb", "\u{c}", "\"a\\0Cb\"", "a\"b", "a\\b"] {
            assert!(renamed(text, new).is_err(), "{new:?}");
        }
        assert_eq!(renamed(text, "\"\\fF\""), Ok(text.replace("~f", "\"\\FF\"")));
        for new in ["\\FF", "\"\\\\FF\"", "\"\\FF\\0A\""] {
            assert!(renamed(text, new).is_err(), "{new:?}");
        }
        let taken = format!("{text}func.func private @\"\\FF\"()\n");
        assert!(renamed(&taken, "\"\\FF\"").is_err());
        let wanted = text.replace("~f", "\"a b\"");
        for new in ["a b", "@a b", "@\"a b\"", "\"a b\""] {
            assert_eq!(renamed(text, new), Ok(wanted.clone()), "{new}");
        }
    }
}

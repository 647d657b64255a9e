//! Edits of the types in the text of ops of HEIR's schemes: `: (T, T) -> T`, `: T -> T`, `: T`.

use std::ops::Range;

use noisy_syntax::{Form, Ir, Op, Type};

use super::insertion::SharedFreshNames;
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Fix, TextEdit};
use noisy_heir::{CiphertextConversion, CiphertextFacts, ReportSites, TypeRemedy};

/// The ranges of the types in the text of an op.
#[derive(Debug, Default, PartialEq, Eq)]
struct TypeRanges {
    operands: Vec<Range<usize>>,
    /// The type of the result, or the single type of both operand and result.
    result: Range<usize>,
}

/// Returns the types after the last colon outside of brackets; `None` if the text is not
/// understood.
fn type_ranges(text: &str) -> Option<TypeRanges> {
    if text.contains("//") || text.contains('"') || text.contains(" loc(") {
        return None;
    }
    let mut depth = 0_i32;
    let mut last = '\0';
    let (mut colon, mut arrow, mut commas) = (None, None, Vec::new());
    // The parenthesized list of operand types; its commas count although they are in brackets.
    let mut list: Option<Range<usize>> = None;
    for (at, it) in text.char_indices() {
        match it {
            '>' if last == '-' => arrow = if depth == 0 { Some(at + 1) } else { arrow },
            '<' | '(' | '[' | '{' => {
                let is_list = it == '(' && depth == 0 && colon.is_some() && arrow.is_none();
                if is_list && list.is_none() {
                    list = Some(at + 1..at + 1);
                }
                depth += 1;
            }
            '>' | ')' | ']' | '}' => {
                depth -= 1;
                let ends = depth == 0 && it == ')' && arrow.is_none();
                if let Some(list) = list.as_mut().filter(|_| ends) {
                    list.end = at;
                }
            }
            ':' if depth == 0 => {
                (colon, arrow, list) = (Some(at + 1), None, None);
                commas.clear();
            }
            ',' if depth == i32::from(list.is_some()) && arrow.is_none() => commas.push(at),
            _ => {}
        }
        last = it;
    }
    let trimmed = |range: Range<usize>| {
        let part = text.get(range.clone())?;
        let start = range.start + part.len() - part.trim_start().len();
        Some(start..start + part.trim().len())
    };
    let colon = colon?;
    let Some(arrow) = arrow else {
        let one = trimmed(colon..text.len())?;
        return commas.is_empty().then(|| TypeRanges { operands: vec![one.clone()], result: one });
    };
    let all = list.unwrap_or(colon..arrow - 2);
    let ends = commas.iter().copied().filter(|it| all.contains(it)).chain([all.end]);
    let mut start = all.start;
    let mut operands = Vec::new();
    for end in ends {
        operands.push(trimmed(start..end)?);
        start = end + 1;
    }
    Some(TypeRanges { operands, result: trimmed(arrow..text.len())? })
}

/// Returns the edit that replaces a range within the text of an op.
fn edit_at(program: &Program, op: Op, range: &Range<usize>, text: String) -> TextEdit {
    let start = program.ir().range(op).start;
    TextEdit { range: start + range.start..start + range.end, text }
}

fn text_of(program: &Program, op: Op) -> String {
    let range = program.ir().range(op);
    program.source().text().byte_slice(range).to_string()
}

fn written(ir: &Ir, ty: Type) -> Option<String> {
    ir.interner.insertable_type_text(ty)
}

/// Returns a fix after which the types of an op meet HEIR's requirements.
pub(super) fn fix(
    program: &Program,
    heir: &CiphertextFacts,
    op: Op,
    names: &mut SharedFreshNames,
) -> Option<Fix> {
    let ir = program.ir();
    if ir.op(op).form == Form::Generic || ir.is_broken(op) {
        return None;
    }
    let text = text_of(program, op);
    let (title, edits) = match ReportSites::type_remedy(ir, heir, op)? {
        TypeRemedy::ResultType(value, ty) => {
            let by = ir.defining_op(value).filter(|&it| ir.op(it).form != Form::Generic)?;
            let range = type_ranges(&text_of(program, by))?.result;
            let title = format!("Give {} the type that its uses state", ir.value_text(value));
            (title, vec![edit_at(program, by, &range, written(ir, ty)?)])
        }
        TypeRemedy::StatedType(operand, ty) => {
            let value = ir.op(op).operands.get(operand as usize)?.value?;
            let range = type_ranges(&text)?.operands.get(operand as usize)?.clone();
            let title = format!("State the type of {}", ir.value_text(value));
            (title, vec![edit_at(program, op, &range, written(ir, ty)?)])
        }
        TypeRemedy::Basis(key, n) => {
            let start = text.find(key).and_then(|it| Some(it + text[it..].find("array<")?))?;
            let end = start + text[start..].find('>')? + 1;
            let all: Vec<String> = (0..n).map(|it| it.to_string()).collect();
            let basis = format!("array<i32: {}>", all.join(", "));
            (format!("Set {key} to {basis}"), vec![edit_at(program, op, &(start..end), basis)])
        }
        TypeRemedy::ToRing(ty) => {
            let key = text.find("to_ring")?;
            let start = key + text[key..].find('#')?;
            let end = start + attribute_len(&text[start..])?;
            let ring = ReportSites::ring_text(ir, ty)?;
            let title = "Switch to the ring of the result".to_owned();
            (title, vec![edit_at(program, op, &(start..end), ring)])
        }
        TypeRemedy::Rename(name) => {
            let range = ir.name_range(op);
            (format!("Replace it by {name}"), vec![TextEdit { range, text: name }])
        }
        TypeRemedy::Convert(operand, ty, conversion) => {
            let operand = ir.op(op).operands.get(operand as usize)?;
            let value = operand.value?;
            let dialect = scheme_dialect(ir, heir, op)?;
            let (name, properties) = match conversion {
                CiphertextConversion::Relinearize(size) => {
                    let from: Vec<String> = (0..size).map(|it| it.to_string()).collect();
                    let from = from.join(", ");
                    let bases =
                        format!("from_basis = array<i32: {from}>, to_basis = array<i32: 0, 1>");
                    ("relinearize", bases)
                }
                CiphertextConversion::SwitchModulus => {
                    let name = if dialect == "ckks" { "rescale" } else { "modulus_switch" };
                    (name, format!("to_ring = {}", ReportSites::ring_text(ir, ty)?))
                }
                CiphertextConversion::DropLevels(n) => {
                    ("level_reduce", format!("levelToDrop = {n} : i64"))
                }
            };
            let new = names.fresh(program, op, value)?;
            let (from, to) = (written(ir, ir.value(value).ty)?, written(ir, ty)?);
            let given = ir.value_text(value);
            let line = format!(
                "{new} = \"{dialect}.{name}\"({given}) <{{{properties}}}> : ({from}) -> {to}"
            );
            let mut edits = vec![program.source().in_front_of(op, &[line])];
            let all = type_ranges(&text);
            for (i, it) in ir.op(op).operands.iter().enumerate() {
                if it.value != Some(value) {
                    continue;
                }
                edits.push(TextEdit { range: ir.absolute(op, it.span), text: new.clone() });
                if it.ty != ty && it.ty != Type::UNKNOWN {
                    let range = all.as_ref()?.operands.get(i)?;
                    edits.push(edit_at(program, op, range, written(ir, ty)?));
                }
            }
            let edits = TextEdit::in_order(edits)?;
            (format!("Insert {dialect}.{name} on {given}"), edits)
        }
    };
    Some(Fix { title, applicability: Applicability::Unsafe, edits })
}

/// Returns the length of `#name` or `#name<..>` at the start of a text.
fn attribute_len(text: &str) -> Option<usize> {
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '$' | '-');
    let name = 1 + text[1..].find(|it| !is_name(it))?;
    if !text[name..].starts_with('<') {
        return Some(name);
    }
    let mut depth = 0_i32;
    for (at, it) in text.char_indices().skip(name) {
        depth += i32::from(it == '<') - i32::from(it == '>');
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the dialect of the scheme of an op.
fn scheme_dialect(ir: &Ir, heir: &CiphertextFacts, op: Op) -> Option<&'static str> {
    use noisy_heir::Scheme;
    match ir.op_name(op).split_once('.').map(|it| it.0) {
        Some("ckks") => Some("ckks"),
        Some("bgv") => Some("bgv"),
        _ => match heir.setting_of(op)?.scheme? {
            Scheme::Ckks => Some("ckks"),
            Scheme::Bgv | Scheme::Bfv => Some("bgv"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_types_of_an_op_are_found() {
        let of = |text: &str| {
            type_ranges(text).map(|it| {
                let operands: Vec<&str> = it.operands.iter().map(|it| &text[it.clone()]).collect();
                (operands.join(" | "), text[it.result].to_owned())
            })
        };
        let found = |operands: &str, result: &str| Some((operands.to_owned(), result.to_owned()));
        assert_eq!(
            of("%0 = ckks.add %a, %b {x = 1 : i8} : (!a.b<c, d>, !t) -> !u<(e) -> f>"),
            found("!a.b<c, d> | !t", "!u<(e) -> f>")
        );
        assert_eq!(of("%0 = ckks.rescale %a {y = #z<a, b>} : !t -> !u\n"), found("!t", "!u"));
        assert_eq!(of("%0 = ckks.rotate %a, %i : index : !t<a, b>"), found("!t<a, b>", "!t<a, b>"));
        assert_eq!(of("func.return %a, %b : !t, !u"), None);
        assert_eq!(of("%0 = ckks.negate %a : !t // the type"), None);
    }
}

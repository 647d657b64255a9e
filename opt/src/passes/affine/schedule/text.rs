//! Output of a schedule as edits of the text: statements keep their text, names and comments in new
//! loops.

use std::fmt::Write as _;

use noisy_loops::edit::names::{fresh_name, with_names_replaced};
use noisy_loops::{AliasAssumptions, DependenceLimits, FunctionBody, Legality};
use noisy_syntax::{Ir, Op, OpKind, Source, TextEdit, Value};
use rustc_hash::FxHashSet;

use super::nest::StatementNest;
use super::scan::{LoopCode, ScheduleSizes};
use super::{for_each_plan, roots, scan};

/// The default sizes of `affine-schedule`. In a text, no rows are jammed and no elements are
/// carried.
const DEFAULT_SIZES: ScheduleSizes =
    ScheduleSizes { cache: 256 * 1024, innermost: 256, others: 32, block: 1 };
/// Maximum size of the text of a nest, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 20;

/// Returns true if an op is the outermost loop of a nest.
pub fn is_nest_root(ir: &Ir, op: Op) -> bool {
    ir.op(op).kind == OpKind::AffineFor
        && ir.function_of(op).is_some_and(|function| roots(ir, function).contains(&op))
}

/// Returns the edits that reorder a nest in the same way as `affine-schedule`. The edited program
/// is verified.
///
/// # Errors
/// The reason why the nest is not reordered.
pub fn best_schedule(
    source: &Source,
    root: Op,
    aliasing: AliasAssumptions,
) -> Result<Vec<TextEdit>, String> {
    let ir = source.ir();
    let function = ir.function_of(root).ok_or("the loop is not in a function")?;
    if ir.range(root).len() > MAX_TEXT_BYTES || !is_nest_root(ir, root) {
        return Err("the loop is not the outermost loop of a small enough nest".to_owned());
    }
    let body = FunctionBody::new(ir, function);
    let legality =
        Legality::new(&body, &DependenceLimits { aliasing, ..DependenceLimits::default() })
            .ok_or("the function has too many dependences")?;
    let mut found = None;
    // With -1, no loop is treated as small, because in the text a statement is a list of lines.
    for_each_plan(ir, function, &body, &legality, -1, |nest, plan, edges| {
        let all = legality.dependences();
        if nest.root == root
            && let Some((code, n)) =
                scan::generate_loops(ir, &body, nest, plan, edges, all, DEFAULT_SIZES)
        {
            found = Some((nest.clone(), code, n - nest.params.len()));
        }
    });
    let (nest, code, n_columns) =
        found.ok_or("no better order was found, or the nest has a form that is not supported")?;
    let edit = ScheduleText::new(source, function, &nest, n_columns).edit(&code);
    // Verify the edited program.
    let mut text = source.text().to_string();
    text.replace_range(edit.range.clone(), &edit.text);
    let changed = Source::new(&text);
    let n_problems = |ir: &Ir| ir.verify().len();
    if n_problems(changed.ir()) > n_problems(ir) {
        return Err("the new loops cannot be written here".to_owned());
    }
    Ok(vec![edit])
}

struct ScheduleText<'a> {
    source: &'a Source,
    ir: &'a Ir,
    nest: &'a StatementNest,
    /// The text of the whole function, for unused names.
    around: String,
    /// The name of each column.
    columns: Vec<String>,
    /// The names that are defined at the current position.
    defined: Vec<String>,
    out: String,
}

impl<'a> ScheduleText<'a> {
    fn new(source: &'a Source, function: Op, nest: &'a StatementNest, n_columns: usize) -> Self {
        let ir = source.ir();
        let mut columns = vec![String::new(); n_columns];
        columns.extend(nest.params.iter().map(|it| ir.value_text(*it)));
        let around = source.slice(ir.range(function));
        let (defined, out) = (Vec::new(), String::new());
        Self { source, ir, nest, around, columns, defined, out }
    }

    fn edit(mut self, code: &[LoopCode]) -> TextEdit {
        let rope = self.source.text();
        let range = self.ir.range(self.nest.root);
        let line = rope.line(rope.byte_to_line(range.start));
        let indent: String = line.chars().take_while(|it| matches!(it, ' ' | '\t')).collect();
        self.write_all(code, &indent);
        // Keep comments of removed loops and ops, before the new text.
        let kept: FxHashSet<String> =
            self.out.lines().filter_map(comment).map(str::to_owned).collect();
        let old = self.source.slice(range.clone());
        let mut text = String::new();
        for it in old.lines().filter_map(comment).filter(|it| !kept.contains(*it)) {
            let _ = write!(text, "{it}\n{indent}");
        }
        text += self.out.trim();
        TextEdit { range, text }
    }

    fn write_all(&mut self, code: &[LoopCode], indent: &str) {
        for it in code {
            match it {
                LoopCode::Loop { column, low, high, body } => {
                    let low = self.bounds(low, *column, true);
                    let high = self.bounds(high, *column, false);
                    let name = self.name(*column, body);
                    let _ = writeln!(self.out, "{indent}affine.for {name} = {low} to {high} {{");
                    self.columns[*column].clone_from(&name);
                    let n = self.defined.len();
                    self.defined.push(name);
                    self.write_all(body, &format!("{indent}  "));
                    self.defined.truncate(n);
                    self.columns[*column].clear();
                    let _ = writeln!(self.out, "{indent}}}");
                }
                LoopCode::Guard { rows, body, .. } => {
                    let (dims, operands, names) = self.map_inputs(rows);
                    let all: Vec<String> =
                        rows.iter().map(|row| row_text(row, None, &names) + " >= 0").collect();
                    let all = all.join(", ");
                    let _ = writeln!(
                        self.out,
                        "{indent}affine.if affine_set<({dims}) : ({all})>({operands}) {{"
                    );
                    let n = self.defined.len();
                    self.write_all(body, &format!("{indent}  "));
                    self.defined.truncate(n);
                    let _ = writeln!(self.out, "{indent}}}");
                }
                LoopCode::Statement { statement, ivs } => {
                    self.write_statement(*statement, ivs, indent);
                }
                // With blocks of size 1, no elements are carried.
                LoopCode::CarryingLoop { .. } => {}
            }
        }
    }

    /// Returns the name of the variable of a new loop: the name of an old variable that is equal to
    /// it in all statements, or a new name.
    fn name(&self, column: usize, body: &[LoopCode]) -> String {
        let mut runs = Vec::new();
        collect_statements(body, &mut runs);
        let unit = |row: &Vec<i128>| {
            let (constant, coefficients) =
                row.split_last().map_or((0, &[][..]), |it| (*it.0, it.1));
            constant == 0
                && coefficients.iter().enumerate().all(|(at, by)| *by == i128::from(at == column))
        };
        let of = |(statement, rows): &(usize, &[Vec<i128>])| -> Vec<Value> {
            let ivs = self.nest.statements[*statement].ivs.iter();
            ivs.zip(*rows).filter(|it| unit(it.1)).map(|it| *it.0).collect()
        };
        let first = runs.first().map(of).unwrap_or_default();
        let names = first.iter().map(|it| self.ir.value_text(*it));
        let is_of_all = |name: &String| {
            runs.iter().all(|run| of(run).iter().any(|it| self.ir.value_text(*it) == *name))
        };
        let found = names.into_iter().find(|it| is_of_all(it) && !self.defined.contains(it));
        found.unwrap_or_else(|| self.fresh("%t", &column.to_string()))
    }

    fn fresh(&self, name: &str, suffix: &str) -> String {
        let mut at = 0;
        let mut it = fresh_name(&self.around, name, suffix);
        while self.defined.contains(&it) {
            at += 1;
            it = fresh_name(&self.around, name, &format!("{suffix}_{at}"));
        }
        it
    }

    /// Returns the dimensions and the operands of a map for the columns that rows use, and the
    /// dimension of each column.
    fn map_inputs(&self, rows: &[Vec<i128>]) -> (String, String, Vec<String>) {
        let (mut dims, mut operands) = (Vec::new(), Vec::new());
        let mut names = vec![String::new(); self.columns.len()];
        for (at, column) in self.columns.iter().enumerate() {
            if !column.is_empty() && rows.iter().any(|row| row[at] != 0) {
                names[at] = format!("d{}", dims.len());
                dims.push(names[at].clone());
                operands.push(column.clone());
            }
        }
        (dims.join(", "), operands.join(", "), names)
    }

    /// Returns the lower or the exclusive upper bounds of a loop over a column.
    fn bounds(&self, rows: &[Vec<i128>], column: usize, is_low: bool) -> String {
        let (dims, operands, names) = self.map_inputs(rows);
        let bound = |row: &Vec<i128>| {
            let by = row[column].abs();
            if is_low {
                let negated: Vec<i128> = row.iter().map(|it| -it).collect();
                let rest = row_text(&negated, Some(column), &names);
                if by == 1 { rest } else { format!("({rest}) ceildiv {by}") }
            } else {
                let rest = row_text(row, Some(column), &names);
                if by == 1 { format!("{rest} + 1") } else { format!("({rest}) floordiv {by} + 1") }
            }
        };
        let all: Vec<String> = rows.iter().map(bound).collect();
        let word = match (all.len(), is_low) {
            (1, _) => "",
            (_, true) => "max ",
            (_, false) => "min ",
        };
        format!("{word}affine_map<({dims}) -> ({})>({operands})", all.join(", "))
    }

    fn write_statement(&mut self, statement: usize, ivs: &[Vec<i128>], indent: &str) {
        let it = &self.nest.statements[statement];
        let mut lines = Vec::new();
        let mut names = Vec::new();
        for (&iv, row) in it.ivs.iter().zip(ivs) {
            let name = self.ir.value_text(iv);
            let rows = [row.clone()];
            let (dims, operands, places) = self.map_inputs(&rows);
            if operands != name || row_text(row, None, &places) != "d0" {
                let sum = row_text(row, None, &places);
                lines.push((
                    format!("affine.apply affine_map<({dims}) -> ({sum})>({operands})"),
                    Some(name.clone()),
                ));
                names.push(name);
            }
        }
        for &op in &it.ops {
            names.extend(self.ir.op(op).results.iter().map(|it| self.ir.value_text(*it)));
            lines.push((self.own_text(op), None));
        }
        // The names that the new text already defines.
        let clashing: Vec<String> =
            names.iter().filter(|it| self.defined.contains(it)).cloned().collect();
        let other: Vec<(String, String)> = clashing
            .iter()
            .map(|it| (it.clone(), self.fresh(it, &format!("_s{statement}"))))
            .collect();
        let new = |name: &str| {
            let found = other.iter().find(|it| it.0 == name);
            found.map_or_else(|| name.to_owned(), |it| it.1.clone())
        };
        for (text, defines) in lines {
            let text = match defines {
                // The operands are variables of the new loops, which are not renamed.
                Some(name) => format!("{} = {text}", new(&name)),
                None => with_names_replaced(&text, &clashing, &new),
            };
            for line in text.lines() {
                let _ = writeln!(self.out, "{indent}{}", line.trim());
            }
        }
        self.defined.extend(names.iter().map(|it| new(it)));
    }

    /// Returns the text of an op, with the comments above and after it.
    fn own_text(&self, op: Op) -> String {
        let rope = self.source.text();
        let range = self.ir.range(op);
        let line = |at: usize| rope.line(at).to_string();
        let mut out = String::new();
        let first = rope.byte_to_line(range.start);
        let mut above = first;
        while above > 0 && line(above - 1).trim_start().starts_with("//") {
            above -= 1;
        }
        for at in above..first {
            out += line(at).trim();
            out.push('\n');
        }
        out += &self.source.slice(range.clone());
        let last = rope.byte_to_line(range.end);
        let rest = line(last);
        let rest = rest.get(range.end - rope.line_to_byte(last)..).unwrap_or_default().trim();
        if rest.starts_with("//") {
            out.push(' ');
            out += rest;
        }
        out
    }
}

/// Returns the comment of a line.
fn comment(line: &str) -> Option<&str> {
    // If a string contains `//`, its rest is repeated as a comment, which is harmless.
    line.find("//").map(|at| line[at..].trim_end())
}

/// Collects the statements in generated code, with the rows of their variables.
fn collect_statements<'a>(code: &'a [LoopCode], out: &mut Vec<(usize, &'a [Vec<i128>])>) {
    for it in code {
        match it {
            LoopCode::Loop { body, .. } | LoopCode::Guard { body, .. } => {
                collect_statements(body, out);
            }
            LoopCode::Statement { statement, ivs } => out.push((*statement, ivs)),
            LoopCode::CarryingLoop { .. } => {}
        }
    }
}

/// Returns a row as text, without the column `without`.
fn row_text(row: &[i128], without: Option<usize>, names: &[String]) -> String {
    let mut out = String::new();
    let (constant, coefficients) = row.split_last().map_or((0, &[][..]), |it| (*it.0, it.1));
    let terms = coefficients.iter().enumerate().filter(|it| *it.1 != 0 && Some(it.0) != without);
    for (at, &by) in terms {
        let sign = if out.is_empty() { "" } else { " + " };
        let factor = if by == 1 { String::new() } else { format!(" * {by}") };
        let _ = write!(out, "{sign}{}{factor}", names[at]);
    }
    match (out.is_empty(), constant) {
        (true, _) => constant.to_string(),
        (false, 0) => out,
        (false, _) => format!("{out} + {constant}"),
    }
}

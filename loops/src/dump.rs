//! Dependences as lines of JSON.

use std::fmt::Write as _;

use noisy_syntax::{OpKind, Source};

use crate::{
    Dependence, DependenceLimits, FormInterval, FunctionBody, MAX_PAIRED_ACCESSES, dependences,
};

const TOO_MANY: &str = "too many memory accesses: dependences are not listed";

/// Returns one line of JSON for each dependence of each function, sorted by source, target and
/// level: `{"source": row, "target": row, "level": k, "distance": [[least, greatest], ...], "kind":
/// ..}`. Rows count from 1, and `null` means that a distance has no bound. A dependence that may
/// exist, but need not, has `"exact": false`. A pair that cannot be analyzed gives a line for each
/// dependence that the order of iterations allows; `"unknown"` states the reason. A function with
/// more than [`MAX_PAIRED_ACCESSES`] accesses gives a single line:
/// `{"row": row, "accesses": n, "unknown": reason}`.
pub fn dependences_json(source: &Source, limits: &DependenceLimits) -> String {
    let ir = source.ir();
    let mut functions = Vec::new();
    ir.walk(ir.root(), &mut |op| {
        let is_outermost = ir.parent_op(op).is_none_or(|it| ir.function_of(it).is_none());
        if ir.op(op).kind == OpKind::FuncFunc && is_outermost {
            functions.push(op);
        }
    });
    let mut out = String::new();
    for function in functions {
        let body = FunctionBody::new(ir, function);
        let row = |op| source.text().byte_to_line(ir.range(op).start) + 1;
        let n = body.accesses.len();
        if n > MAX_PAIRED_ACCESSES {
            let row = row(function);
            let _ =
                writeln!(out, "{{\"row\": {row}, \"accesses\": {n}, \"unknown\": \"{TOO_MANY}\"}}");
            continue;
        }
        let rows: Vec<usize> = body.accesses.iter().map(|it| row(it.op)).collect();
        let found = dependences(&body, limits);
        for it in &found.known {
            write_dependence(&mut out, &rows, it, None);
        }
        for unknown in &found.unknown {
            for it in unknown.possible_dependences(&body) {
                write_dependence(&mut out, &rows, &it, Some(unknown.reason.description()));
            }
        }
    }
    out
}

fn write_dependence(out: &mut String, rows: &[usize], it: &Dependence, unknown: Option<&str>) {
    let (source, target, level) = (rows[it.source], rows[it.target], it.level);
    let _ = write!(
        out,
        "{{\"source\": {source}, \"target\": {target}, \"level\": {level}, \"distance\": ["
    );
    for (at, &FormInterval { least, greatest }) in it.distance.iter().enumerate() {
        let end = |it: Option<i128>| it.map_or("null".to_owned(), |it| it.to_string());
        let comma = if at > 0 { ", " } else { "" };
        let _ = write!(out, "{comma}[{}, {}]", end(least), end(greatest));
    }
    let _ = write!(out, "], \"kind\": \"{}\"", it.kind.name());
    match unknown {
        Some(why) => {
            let _ = writeln!(out, ", \"unknown\": \"{why}\"}}");
        }
        None if it.is_exact => out.push_str("}\n"),
        None => out.push_str(", \"exact\": false}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_very_many_accesses_are_not_written() {
        let text = |n: usize| {
            let load = |it: usize| format!("  %{it} = affine.load %m[0] : memref<8xi32>\n");
            let loads: String = (0..n).map(load).collect();
            format!("// A comment.\nfunc.func @f(%m: memref<8xi32>) {{\n{loads}  return\n}}\n")
        };
        let limits = DependenceLimits { has_load_pairs: true, ..DependenceLimits::default() };
        let dumped = |n: usize| dependences_json(&Source::new(&text(n)), &limits);
        assert_eq!(dumped(3).lines().count(), 3);
        let n = MAX_PAIRED_ACCESSES + 1;
        let wanted = format!("{{\"row\": 2, \"accesses\": {n}, \"unknown\": \"{TOO_MANY}\"}}\n");
        assert_eq!(dumped(n), wanted);
    }
}

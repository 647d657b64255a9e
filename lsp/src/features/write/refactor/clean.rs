//! Cleans up a function: applies `canonicalize`, `cse` and `trivial-dce`, as edits that keep all
//! other text.
//!
//! [`noisy_opt::driver::keep`] checks its edits: the edited text is parsed again and must equal the
//! result of the passes. A function with an op of unknown syntax is left alone, because the uses of
//! its values are unknown.

use noisy_analyses::{Document, TextEdit};
use noisy_opt::driver::keep;
use noisy_opt::driver::pipeline::Pipeline;
use noisy_syntax::{Form, Op};

/// The pipeline of passes.
const PIPELINE: &str = "func.func(canonicalize,cse,canonicalize,trivial-dce)";

/// True if a function has a body of ops with known syntax.
pub(super) fn is_possible(document: &Document, function: Op) -> bool {
    let ir = document.ir();
    let mut is_read = true;
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut |op| is_read &= ir.op(op).form != Form::Opaque && !ir.is_broken(op));
    }
    is_read && !ir.op(function).regions.is_empty()
}

/// The edits, or the reason why there are none.
pub(super) fn edits(document: &Document, function: Op) -> Result<Vec<TextEdit>, String> {
    let pipeline = Pipeline::parse(PIPELINE).map_err(|it| it.message)?;
    let text = document.source().text().to_string();
    let start = document.ir().range(function).start;
    let edits = keep::edits(&text, &pipeline, Some(start))?;
    if edits.is_empty() {
        return Err(format!("@{} is already clean", document.function_name(function)));
    }
    Ok(edits)
}

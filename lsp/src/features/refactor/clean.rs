//! Clean up a function: what `canonicalize`, `cse` and `trivial-dce` make of it, as edits that leave alone what stays.
//!
//! The edits are proven where they are made ([`noisy_opt::driver::keep`]): the text after them was read again, and is what the passes left. A
//! function with an op whose syntax is not known is left alone, for nobody knows what such an op uses.

use noisy_analyses::{Document, TextEdit};
use noisy_opt::driver::keep;
use noisy_opt::driver::pipeline::Pipeline;
use noisy_syntax::{Form, Op};

/// What cleaning up is.
const PASSES: &str = "func.func(canonicalize,cse,canonicalize,trivial-dce)";

/// Whether a function has a body, all of which can be read.
pub(super) fn is_possible(document: &Document, function: Op) -> bool {
    let ir = document.ir();
    let mut is_read = true;
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut |op| is_read &= ir.op(op).form != Form::Opaque && !ir.is_broken(op));
    }
    is_read && !ir.op(function).regions.is_empty()
}

/// The edits; an error says why there are none.
pub(super) fn edits(document: &Document, function: Op) -> Result<Vec<TextEdit>, String> {
    let pipeline = Pipeline::parse(PASSES).map_err(|it| it.message)?;
    let text = document.source().text().to_string();
    let start = document.ir().range(function).start;
    let edits = keep::edits(&text, &pipeline, Some(start))?;
    if edits.is_empty() {
        return Err(format!("@{} is clean already", document.function_name(function)));
    }
    Ok(edits)
}

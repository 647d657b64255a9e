//! Ops in the generic form.

use crate::Ir;

/// The whole document in generic form.
pub fn generic(ir: &Ir) -> String {
    let _ = ir;
    String::new()
}

//! dead-store: a store that nothing reads
//!
//! The stored value is overwritten before anything may read it, in the same block and at the same
//! indices. Or the buffer is not visible outside of the function, and nothing reads it after the
//! store. Other buffers may share elements, except those that the function allocates and never
//! passes on.
//!
//! ```mlir
//! func.func @f(%a: i32, %b: i32, %m: memref<4xi32>) {
//!   %c0 = arith.constant 0 : index
//!   memref.store %a, %m[%c0] : memref<4xi32>       // stored over
//!   memref.store %b, %m[%c0] : memref<4xi32>
//!   return
//! }
//! ```
//!
//! The fix removes the store.
//!
//! ```mlir
//! func.func @f(%a: i32, %b: i32, %m: memref<4xi32>) {
//!   %c0 = arith.constant 0 : index
//!   memref.store %b, %m[%c0] : memref<4xi32>
//!   return
//! }
//! ```

use super::removal::removal_fix;
use crate::checks::{Check, FixFunction, Index};
use crate::explain::core_range;
use crate::program::Program;
use crate::report::diagnostic::{Diagnostic, Fix, RelatedLocation, Tag};
use crate::report::remarks::Remark;

pub(in crate::checks) const CHECK: Check = Check {
    code: "dead-store",
    is_on: false,
    tag: Some(Tag::Unnecessary),
    header: header!("dead_store.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::HINT
};

fn check(program: &Program, _: &Index, out: &mut Vec<Diagnostic>) {
    let (ir, text) = (program.ir(), program.source().text());
    for (op, remark) in program.remarks() {
        let Remark::DeadStore(over) = remark else { continue };
        let message = match over {
            None => "nothing reads the stored value".to_owned(),
            Some(over) => {
                let line = text.byte_to_line(ir.range(over).start) + 1;
                format!("line {line} overwrites this before anything reads it")
            }
        };
        let mut it = CHECK.diagnostic_at(core_range(ir, op), message);
        it.related.extend(over.map(|over| RelatedLocation {
            range: core_range(ir, over),
            message: "the next store of the same element".to_owned(),
        }));
        it.help = Some("Remove this store".to_owned());
        out.push(it);
    }
}

fn fix(program: &Program, diagnostic: &Diagnostic) -> Option<Fix> {
    let op = program.ir().item_at(diagnostic.range.start)?;
    let is_dead = program.remarks_on(op).iter().any(|it| matches!(it, Remark::DeadStore(_)));
    is_dead.then_some(())?;
    removal_fix(program, op, "Remove this store", None)
}

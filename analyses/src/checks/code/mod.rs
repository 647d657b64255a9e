//! Checks that find unnecessary or misspelled code, and the edits that remove or move it.

pub(super) mod constant_condition;
pub(super) mod dead_store;
pub(super) mod folds_to_constant;
pub(super) mod hoist;
pub(super) mod loop_invariant;
pub(super) mod misspelled_name;
pub(super) mod one_way;
pub(super) mod removal;
pub(super) mod same_value;
pub(super) mod unreachable_code;
pub(super) mod unused_op;

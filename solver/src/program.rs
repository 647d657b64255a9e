//! Columns and rows of programs, and bases.

use std::ffi::c_int;

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// The cost per unit; the total cost is minimized.
    pub cost: f64,
    /// The least value.
    pub lower: f64,
    /// The largest value.
    pub upper: f64,
    /// True if only integers are allowed.
    pub is_integer: bool,
}

/// The constraint `lower <= sum of coefficient * column <= upper`; either bound may be infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The least value of the sum.
    pub lower: f64,
    /// The largest value of the sum.
    pub upper: f64,
    /// Pairs of a column and its coefficient, with distinct columns.
    pub terms: Vec<(u32, f64)>,
}

/// A basis from which a simplex run starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basis {
    /// The statuses of the columns, in the encoding of the solver.
    pub columns: Vec<c_int>,
    /// The statuses of the rows, in the encoding of the solver.
    pub rows: Vec<c_int>,
}

impl Basis {
    /// The status of a basic column or row.
    pub const BASIC: c_int = 1;
}

//! The rows and columns of programs.

/// A variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// The cost of one unit; the sum of costs is minimized.
    pub cost: f64,
    /// The least value.
    pub lower: f64,
    /// The largest value.
    pub upper: f64,
    /// True if only integers are allowed.
    pub is_integer: bool,
}

/// `lower <= sum of coefficient * column <= upper`; either bound may be infinite.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The least value of the sum.
    pub lower: f64,
    /// The largest value of the sum.
    pub upper: f64,
    /// Columns with their coefficients, each column once.
    pub terms: Vec<(u32, f64)>,
}

//! Functions on the predicates of `arith.cmpi` and `arith.cmpf`, which are integers as in MLIR.

/// Returns the predicate of an equal `arith.cmpi` with exchanged operands.
pub(crate) fn swapped(predicate: i128) -> i128 {
    match predicate {
        2 => 4,
        3 => 5,
        4 => 2,
        5 => 3,
        6 => 8,
        7 => 9,
        8 => 6,
        9 => 7,
        same => same,
    }
}

/// Returns the negation of a predicate of `arith.cmpi`.
pub(crate) fn inverted(predicate: i128) -> i128 {
    match predicate {
        0 => 1,
        1 => 0,
        2 => 5,
        3 => 4,
        4 => 3,
        5 => 2,
        6 => 9,
        7 => 8,
        8 => 7,
        9 => 6,
        same => same,
    }
}

/// Returns the predicate of an equal `arith.cmpf` with exchanged operands.
pub(crate) fn swapped_float(predicate: i128) -> i128 {
    match predicate {
        2 => 4,
        3 => 5,
        4 => 2,
        5 => 3,
        9 => 11,
        10 => 12,
        11 => 9,
        12 => 10,
        same => same,
    }
}

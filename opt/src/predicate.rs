//! Predicates of comparisons, by their numbers.

/// The predicate of `arith.cmpi` with its operands exchanged.
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

/// The predicate of `arith.cmpi` that holds where this one does not.
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

/// The predicate of `arith.cmpf` with its operands exchanged.
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

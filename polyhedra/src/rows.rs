//! Affine forms of one width, in one contiguous vector. A row has one coefficient per variable, and
//! then the constant.

use crate::number::Number;

/// A matrix of affine forms.
#[derive(Clone, Debug)]
pub(crate) struct Rows<T> {
    width: usize,
    data: Vec<T>,
}

impl<T: Number> Rows<T> {
    pub(crate) fn new(width: usize) -> Self {
        Self { width, data: Vec::new() }
    }

    pub(crate) fn of(width: usize, rows: &[Vec<i128>]) -> Option<Self> {
        let mut data = Vec::with_capacity(width * rows.len());
        for row in rows {
            debug_assert_eq!(row.len(), width);
            for &it in row {
                data.push(T::of(it)?);
            }
        }
        Some(Self { width, data })
    }

    pub(crate) fn len(&self) -> usize {
        self.data.len() / self.width
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    pub(crate) fn row(&self, at: usize) -> &[T] {
        &self.data[at * self.width..(at + 1) * self.width]
    }

    pub(crate) fn row_mut(&mut self, at: usize) -> &mut [T] {
        &mut self.data[at * self.width..(at + 1) * self.width]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[T]> {
        self.data.chunks_exact(self.width)
    }

    pub(crate) fn push(&mut self, row: &[T]) {
        debug_assert_eq!(row.len(), self.width);
        self.data.extend_from_slice(row);
    }

    pub(crate) fn extend(&mut self, row: impl Iterator<Item = T>) {
        self.data.extend(row);
        debug_assert!(self.data.len().is_multiple_of(self.width));
    }

    /// Removes a row; the last row takes its place.
    pub(crate) fn swap_remove(&mut self, at: usize) {
        let last = self.len() - 1;
        for column in 0..self.width {
            self.data.swap(at * self.width + column, last * self.width + column);
        }
        self.data.truncate(last * self.width);
    }

    /// Adds a variable after the others, with coefficient 0 in all rows.
    pub(crate) fn add_column(&mut self, zero: &T) {
        let mut data = Vec::with_capacity(self.len() * (self.width + 1));
        for row in self.iter() {
            let (constant, coefficients) = row.split_last().expect("a row has its constant");
            data.extend_from_slice(coefficients);
            data.push(zero.clone());
            data.push(constant.clone());
        }
        self.data = data;
        self.width += 1;
    }

    /// Substitutes `form` for the variable with index `at` in all rows. `form` may contain a new
    /// variable, which takes over column `at`. `None` on overflow.
    pub(crate) fn substitute(&mut self, at: usize, form: &[T]) -> Option<()> {
        for row in self.data.chunks_exact_mut(self.width) {
            if row[at].is_zero() {
                continue;
            }
            let by = row[at].clone();
            let one = T::of(1)?;
            row[at] = T::of(0)?;
            for (it, coefficient) in row.iter_mut().zip(form) {
                if !coefficient.is_zero() {
                    *it = T::combined(&one, it, &by, coefficient)?;
                }
            }
        }
        Some(())
    }
}

/// Returns the greatest common divisor of the coefficients; 0 if there are none.
pub(crate) fn common_divisor<T: Number>(row: &[T]) -> Option<T> {
    let mut out = T::of(0)?;
    for it in &row[..row.len() - 1] {
        if !it.is_zero() {
            out = out.gcd(it);
            if out.is_unit() {
                break;
            }
        }
    }
    Some(out)
}

/// Returns the variables of a row.
pub(crate) fn support<T: Number>(row: &[T]) -> impl Iterator<Item = usize> + '_ {
    let coefficients = row[..row.len() - 1].iter().enumerate();
    coefficients.filter(|(_, it)| !it.is_zero()).map(|(at, _)| at)
}

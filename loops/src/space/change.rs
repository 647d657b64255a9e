//! Other orders of the iterations of one or two loops.

use super::{IterationPoint, PointPart};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reordering {
    /// Interchange: the inner loop runs outside.
    Interchange,
    /// Skew: the outer variable is added to the inner one.
    Skew,
    /// Skew and interchange: one diagonal after the other.
    Wavefront,
    /// The outer loop, or the only loop, runs backwards.
    ReverseOuter,
    /// The inner loop runs backwards.
    ReverseInner,
    /// Tiles with this many iterations in each loop.
    Tile(i64),
}

impl Reordering {
    /// Returns the name in the JSON output.
    pub fn name(self) -> &'static str {
        match self {
            Reordering::Interchange => "interchange",
            Reordering::Skew => "skew",
            Reordering::Wavefront => "wavefront",
            Reordering::ReverseOuter => "reverse-outer",
            Reordering::ReverseInner => "reverse-inner",
            Reordering::Tile(_) => "tile",
        }
    }

    /// Returns a description for loops with the given variables.
    pub fn title(self, ivs: &[String]) -> String {
        let iv = |at: usize| ivs.get(at).map_or("", String::as_str);
        let (outer, inner) = (iv(0), iv(1));
        match self {
            Reordering::Interchange => "Interchange".to_owned(),
            Reordering::Skew => format!("Skew {inner} by {outer}"),
            Reordering::Wavefront => "Skew and interchange".to_owned(),
            Reordering::ReverseOuter => format!("Run {outer} backwards"),
            Reordering::ReverseInner => format!("Run {inner} backwards"),
            Reordering::Tile(size) => format!("Tile by {size}"),
        }
    }

    /// Returns the coefficients of each new variable over the old ones, outermost first. `None` for
    /// tiles.
    pub(super) fn coefficients(self, n_loops: usize) -> Option<Vec<Vec<i64>>> {
        let rows: [[i64; 2]; 2] = match self {
            Reordering::Interchange => [[0, 1], [1, 0]],
            Reordering::Skew => [[1, 0], [1, 1]],
            Reordering::Wavefront => [[1, 1], [1, 0]],
            Reordering::ReverseOuter => [[-1, 0], [0, 1]],
            Reordering::ReverseInner => [[1, 0], [0, -1]],
            Reordering::Tile(_) => return None,
        };
        Some(rows[..n_loops].iter().map(|it| it[..n_loops].to_vec()).collect())
    }

    /// Returns the names of the new variables.
    pub fn axis_names(self, ivs: &[String]) -> Vec<String> {
        let Some(rows) = self.coefficients(ivs.len()) else { return ivs.to_vec() };
        let name = |row: &Vec<i64>| {
            let mut out = String::new();
            for (iv, by) in ivs.iter().zip(row).filter(|it| *it.1 != 0) {
                out += match (*by < 0, out.is_empty()) {
                    (true, _) => "-",
                    (false, true) => "",
                    (false, false) => " + ",
                };
                out += iv;
            }
            out
        };
        rows.iter().map(name).collect()
    }

    /// Returns the new position of an iteration: its new variables, outermost first.
    pub fn new_position(self, at: &[i64]) -> Vec<i64> {
        let Some(rows) = self.coefficients(at.len()) else { return at.to_vec() };
        // This cannot overflow: `draw.rs` limits the values.
        rows.iter().map(|row| row.iter().zip(at).map(|(by, it)| by * it).sum()).collect()
    }

    /// Returns the index of the tile of an iteration in each loop. `first` has the least values of
    /// the variables. `None` for other changes.
    pub fn tile(self, at: &[i64], first: &[i64], steps: &[i64]) -> Option<Vec<i64>> {
        let Reordering::Tile(size) = self else { return None };
        let one = |(it, (low, step)): (&i64, (&i64, &i64))| (it - low).div_euclid(size * step);
        Some(at.iter().zip(first.iter().zip(steps)).map(one).collect())
    }

    /// Returns the time of an iteration in the new order. Times are compared lexicographically.
    pub(super) fn time(self, point: &IterationPoint, first: &[i64], steps: &[i64]) -> Vec<i64> {
        debug_assert_eq!(point.part, PointPart::Whole, "only perfect nests are reordered");
        let mut out = self.tile(&point.at, first, steps).unwrap_or_default();
        out.extend(self.new_position(&point.at));
        out
    }
}

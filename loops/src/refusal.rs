//! Descriptions of obstacles to a transformation, with line numbers.

use noisy_syntax::{Op, Source};

use crate::legality::{Legality, Obstacle};
use crate::nest::{LoopNest, line_of};

/// Describes an obstacle: `forbidden by flow from line 5 to line 5, distance (1, -1)`.
pub(crate) fn describe_obstacle(
    source: &Source,
    nest: &LoopNest,
    legality: &Legality<'_>,
    obstacle: Obstacle,
) -> String {
    let line = |op: Op| line_of(source, op);
    match obstacle {
        Obstacle::Dependence(at) => {
            let it = &legality.dependences()[at];
            let same = nest.dependences().find(|other| {
                (other.source, other.target, other.level) == (it.source, it.target, it.level)
            });
            match same {
                Some(it) => format!("forbidden by {}", nest.describe(source, &it)),
                None => "forbidden by a possible dependence".to_owned(),
            }
        }
        Obstacle::Effect(op) => {
            format!("line {}: the effects of {} are unknown", line(op), source.ir().op_name(op))
        }
        Obstacle::Imperfect(op) => format!("line {} is not in all of the loops", line(op)),
    }
}

//! Not there yet.

use super::PassInfo;

pub(super) const PASSES: &[PassInfo] = &[];

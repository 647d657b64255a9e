//! `--shard I/N`: divides the files of a large repository between machines.

use crate::input::walk::Input;

/// The inputs of part `index` (from 1) of `count`, in their order. Each input is in exactly one
/// part. The parts depend only on names and sizes: inputs are assigned by decreasing size, each to
/// the smallest part so far.
pub(crate) fn inputs_of_part(inputs: Vec<Input>, index: usize, count: usize) -> Vec<Input> {
    let size = |it: &Input| match it {
        Input::File(path) => path.metadata().map_or(0, |it| it.len()),
        Input::Stdin => 0,
    };
    let sizes: Vec<u64> = inputs.iter().map(size).collect();
    let mine = assign_parts(&sizes, count);
    inputs.into_iter().zip(mine).filter(|it| it.1 + 1 == index).map(|it| it.0).collect()
}

/// Returns the part (from 0) of each size. Opening a file adds a constant to its size.
fn assign_parts(sizes: &[u64], count: usize) -> Vec<usize> {
    const OPENING: u64 = 4096;
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&it| std::cmp::Reverse(sizes[it]));
    let mut parts = std::collections::BinaryHeap::new();
    parts.extend((0..count.min(sizes.len())).map(|part| std::cmp::Reverse((0_u64, part))));
    let mut out = vec![0; sizes.len()];
    for it in order {
        if let Some(std::cmp::Reverse((load, part))) = parts.pop() {
            out[it] = part;
            parts.push(std::cmp::Reverse((
                load.saturating_add(sizes[it]).saturating_add(OPENING),
                part,
            )));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_balanced_and_whole() {
        let sizes: Vec<u64> = (0..1000).map(|it| it * it * 7919 % 100_003).collect();
        let parts = assign_parts(&sizes, 4);
        let load =
            |part| sizes.iter().zip(&parts).filter(|it| *it.1 == part).map(|it| it.0).sum::<u64>();
        let loads: Vec<u64> = (0..4).map(load).collect();
        assert_eq!(loads.iter().sum::<u64>(), sizes.iter().sum::<u64>());
        let (most, least) =
            (loads.iter().max().copied().unwrap_or(0), loads.iter().min().copied().unwrap_or(0));
        assert!(most - least <= 100_003, "{loads:?}");
        assert_eq!(parts, assign_parts(&sizes, 4));
    }

    #[test]
    fn allows_more_parts_than_files() {
        assert_eq!(assign_parts(&[5, 9], 100), [1, 0]);
        assert!(assign_parts(&[], 3).is_empty());
    }
}

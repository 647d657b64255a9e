//! Measures the work of queries about random systems: `work [VARIABLES [SYSTEMS]]`.

use noisy_polyhedra::{Budget, Conjunction};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|it| it.parse::<usize>());
    let n = arguments.next().and_then(Result::ok).unwrap_or(4);
    let n_systems = arguments.next().and_then(Result::ok).unwrap_or(3000);
    let mut seed = 12345_u64;
    let mut random = |n: i128| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        i128::from(seed) % (2 * n + 1) - n
    };
    const LIMIT: u64 = 50_000_000;
    let (mut empty, mut bounds) = (Vec::new(), Vec::new());
    for _ in 0..n_systems {
        let mut set = Conjunction::new(n);
        for var in 0..n {
            for sign in [1, -1] {
                let mut row = vec![0; n + 1];
                (row[var], row[n]) = (sign, 6);
                set.add_inequality(row);
            }
        }
        for _ in 0..random(2) + 2 {
            let mut row: Vec<i128> = (0..n).map(|_| random(7)).collect();
            row.push(random(20));
            if random(2) == 0 { set.add_equality(row) } else { set.add_inequality(row) }
        }
        let mut form: Vec<i128> = (0..n).map(|_| random(7)).collect();
        form.push(0);
        let mut budget = Budget::new(LIMIT);
        let _ = set.is_empty(&mut budget);
        empty.push(LIMIT - budget.remaining());
        let mut budget = Budget::new(LIMIT);
        let _ = set.bounds(form, &mut budget);
        bounds.push(LIMIT - budget.remaining());
    }
    for (name, mut work) in [("a point", empty), ("bounds", bounds)] {
        work.sort_unstable();
        let at = |percent: usize| work[(work.len() - 1) * percent / 100];
        let n_spent = work.iter().filter(|it| **it >= LIMIT).count();
        let total: u64 = work.iter().sum();
        let (half, most, worst) = (at(50), at(99), at(100));
        println!("{name}: median {half}, 99 % {most}, most {worst}, all {total}, {n_spent} spent");
    }
}

//! Similar names, for suggestions.

/// Maximum length in bytes of compared names.
const MAX_NAME: usize = 64;
/// Maximum number of names that are compared with one name.
const MAX_NAMES: usize = 256;

/// Returns the number of letters to change, add, remove or swap with the next letter; `None` if it
/// is greater than `most`.
pub(crate) fn distance(a: &str, b: &str, most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most || a.len().max(b.len()) > MAX_NAME {
        return None;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // Letters that only one of the names has. One change accounts for two of them.
    let letters = |it: &[u8]| it.iter().fold(0u64, |all, it| all | 1 << (it & 63));
    if (letters(a) ^ letters(b)).count_ones() as usize > 2 * most {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let is_same = a[i - 1] == b[j - 1];
            let mut best =
                (last[j - 1] + usize::from(!is_same)).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[b.len()]).filter(|&it| it <= most)
}

/// Returns the maximum number of different letters between a misspelled name and the intended name.
/// Short names and numbers with one different letter are usually intended as written.
fn max_distance(name: &str) -> usize {
    match name.len() {
        _ if name.bytes().all(|it| it.is_ascii_digit()) => 0,
        0..=2 => 0,
        3..=4 => 1,
        _ => 2,
    }
}

/// Returns the most similar names, all at the least distance: at most two letters differ, fewer in
/// short names. Names that differ only in case are always similar.
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let most = max_distance(name);
    let mut found: Vec<(usize, &str)> = Vec::new();
    for it in names.into_iter().take(MAX_NAMES) {
        #[cfg(test)]
        crate::work::count_steps(1);
        if it == name || it.is_empty() || found.iter().any(|known| known.1 == it) {
            continue;
        }
        if it.eq_ignore_ascii_case(name) {
            found.push((0, it));
        } else if let Some(n) = distance(name, it, most).filter(|_| most > 0) {
            found.push((n, it));
        }
    }
    let least = found.iter().map(|it| it.0).min().unwrap_or(0);
    found.into_iter().filter(|it| it.0 == least).map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_letters_count_once() {
        assert_eq!(distance("smu", "sum", 2), Some(1));
        assert_eq!(distance("noise", "nosie", 2), Some(1));
        assert_eq!(distance("abc", "abc", 2), Some(0));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("", "ab", 2), Some(2));
    }

    #[test]
    fn short_names_and_numbers_have_no_similar_names() {
        assert_eq!(nearest("a", ["b"]), [""; 0]);
        assert_eq!(nearest("12", ["13"]), [""; 0]);
        assert_eq!(nearest("Sum", ["sum", "sun"]), ["sum"]);
        assert_eq!(nearest("smu", ["sum", "product"]), ["sum"]);
        assert_eq!(nearest("value1", ["value2", "value3", "v"]), ["value2", "value3"]);
    }
}

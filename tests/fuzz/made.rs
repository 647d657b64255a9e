//! Makes a fixed set of inputs: mutations of the corpus that use the words of a dictionary and a
//! random generator with a fixed seed. The inputs that libFuzzer makes depend on the addresses of
//! the code and so on the build; these inputs do not.
//!
//! Usage: `made CORPUS WORDS OUT [INPUTS]`, where `INPUTS` is the number of inputs per target
//! (20,000). A folder of `OUT` per folder of `CORPUS` receives them.
use std::path::Path;
use std::{fs, io};

/// SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ (it >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        it ^ (it >> 31)
    }

    /// A number below `n`, which is not 0.
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// Reads the corpus of a target, sorted by file name.
fn corpus(folder: &Path) -> io::Result<Vec<Vec<u8>>> {
    let mut files =
        fs::read_dir(folder)?.map(|it| Ok(it?.path())).collect::<io::Result<Vec<_>>>()?;
    files.sort();
    files.iter().map(fs::read).collect()
}

/// Returns the quoted words of a libFuzzer dictionary, whose escapes are `\\`, `\"` and `\xAB`.
fn words(text: &str) -> Vec<Vec<u8>> {
    let quoted = text.lines().filter(|it| !it.starts_with('#'));
    let quoted = quoted.filter_map(|it| it.split_once('"')?.1.strip_suffix('"'));
    quoted.map(unescaped).collect()
}

fn unescaped(word: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        if first != '\\' {
            out.extend(first.encode_utf8(&mut [0; 4]).as_bytes());
        } else if let Some(code) = rest.strip_prefix('x') {
            let (digits, behind) = code.split_at(2);
            out.push(u8::from_str_radix(digits, 16).expect("two hexadecimal digits"));
            rest = behind;
        } else {
            let (escaped, behind) = rest.split_at(1);
            out.extend(escaped.as_bytes());
            rest = behind;
        }
    }
    out
}

/// Mutates a random input one to eight times: changes a byte, removes or duplicates a span,
/// replaces it with a span of another input, or inserts a word.
fn made(random: &mut Random, inputs: &[Vec<u8>], words: &[Vec<u8>]) -> Vec<u8> {
    let mut out = inputs[random.below(inputs.len())].clone();
    for _ in 0..=random.below(8) {
        let at = random.below(out.len() + 1);
        let to = (at + random.below(24)).min(out.len());
        match random.below(5) {
            0 if at < out.len() => out[at] = random.next() as u8,
            1 => drop(out.drain(at..to)),
            2 => out.extend_from_within(at..to),
            3 => {
                let other = &inputs[random.below(inputs.len())];
                let from = random.below(other.len() + 1);
                let end = (from + random.below(64)).min(other.len());
                out.splice(at..to, other[from..end].iter().copied());
            }
            _ => {
                let word = &words[random.below(words.len())];
                out.splice(at..at, word.iter().copied());
            }
        }
    }
    out
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, dictionary, out, rest @ ..] = arguments.as_slice() else {
        return Err(io::Error::other("usage: made CORPUS WORDS OUT [INPUTS]"));
    };
    let n = rest.first().map_or(Ok(20_000), |it| it.parse::<usize>()).map_err(io::Error::other)?;
    let words = words(&fs::read_to_string(dictionary)?);
    for target in fs::read_dir(folder)? {
        let target = target?;
        let inputs = corpus(&target.path())?;
        let out = Path::new(out).join(target.file_name());
        fs::create_dir_all(&out)?;
        let mut random = Random(1);
        for number in 0..n {
            fs::write(out.join(number.to_string()), made(&mut random, &inputs, &words))?;
        }
    }
    Ok(())
}

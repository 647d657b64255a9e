//! `--baseline`: old findings stay quiet, new ones count.
//!
//! A baseline is JSON: the findings of a run, each with its fingerprint, which stays while lines move. Only the fingerprints count
//! when it is read; the rest is for people.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use noisy_analyses::Diagnostic;
use noisy_output::{reason, shown_path};
use ropey::Rope;
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprints;

/// The format that is written, and the only one that is read.
const VERSION: u32 = 1;
/// The largest baseline that is read, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// A finding of a baseline, in the order in which it is written: by file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub(crate) struct Entry {
    /// The file, as it was reported.
    filename: String,
    /// The code.
    code: String,
    /// The message.
    message: String,
    /// What it is known by.
    fingerprint: String,
}

#[derive(Debug, Deserialize, Serialize)]
struct Baseline {
    version: u32,
    findings: Vec<Entry>,
}

/// The fingerprints of a baseline.
#[derive(Debug, Default)]
pub(crate) struct Known(BTreeSet<String>);

impl Known {
    /// Reads a baseline.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or is none.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let named = |why: String| format!("{}: {why}", shown_path(path));
        let io = |it: io::Error| named(reason(&it));
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|it| it.take(MAX_FILE + 1).read_to_end(&mut bytes))
            .map_err(io)?;
        if bytes.len() as u64 > MAX_FILE {
            return Err(named("a baseline has at most 256 MiB".to_owned()));
        }
        let read: Baseline = serde_json::from_slice(&bytes)
            .map_err(|why| named(format!("not a baseline file: {why}")))?;
        if read.version != VERSION {
            return Err(named(format!(
                "baseline of version {}; this program reads version {VERSION}",
                read.version
            )));
        }
        Ok(Self(read.findings.into_iter().map(|it| it.fingerprint).collect()))
    }

    /// Whether a finding is in it.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        self.0.contains(&entry.fingerprint)
    }
}

/// What a baseline says of the findings of a file, in their order.
pub(crate) fn entries(name: &str, text: &Rope, found: &[Diagnostic]) -> Vec<Entry> {
    let mut fingerprints = Fingerprints::new(name, text);
    let entries = found.iter().map(|it| Entry {
        filename: name.to_owned(),
        code: it.code.to_owned(),
        message: it.message.clone(),
        fingerprint: fingerprints.of(
            text.byte_to_line(it.range.start.min(text.len_bytes())),
            it.code,
            &it.message,
        ),
    });
    entries.collect()
}

/// The text of a baseline.
pub(crate) fn text(mut findings: Vec<Entry>) -> String {
    findings.sort_unstable();
    // It is made of strings and numbers.
    serde_json::to_string_pretty(&Baseline { version: VERSION, findings }).unwrap_or_default()
        + "\n"
}

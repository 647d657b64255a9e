//! `--watch`: checks again whenever something changes, until interrupted.
//!
//! *Law.* A change is anything that a run depends on: the files with their sizes and times, and the
//! texts of their configurations. They are observed before a run, so changes during the run are
//! seen after it. Deleted, unreadable and new files are changes too.
//!
//! *Cost.* The tree is polled, because some file systems give no notifications; polling takes at
//! most a tenth of the time.

use std::collections::HashSet;
use std::fs::Metadata;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use noisy_output::{Output, identity};

use crate::input::args::CheckArgs;
use crate::input::walk::Input;
use crate::run::plan::CheckPlan;
use crate::{EXIT_FAILURE, print_error};

/// Minimum time between two polls.
const INTERVAL: Duration = Duration::from_millis(250);

/// Clears a terminal and its scrollback.
const CLEAR: &str = "\x1b[2J\x1b[3J\x1b[H";

/// Checks until the process is ended or the output is closed.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &CheckArgs) -> io::Result<i32> {
    if args.paths.iter().any(|it| it.as_os_str() == "-") {
        print_error("noisy-check: --watch is for files, not for standard input");
        return Ok(EXIT_FAILURE);
    }
    let mut last = None;
    loop {
        let start = Instant::now();
        let plan = CheckPlan::new(args);
        let seen = state_hash(args, &plan);
        let took = start.elapsed();
        if last.replace(seen) != Some(seen) {
            let mut out = BufWriter::new(io::stdout());
            if io::stdout().is_terminal() {
                write!(out, "{CLEAR}")?;
            }
            match plan {
                Ok(plan) => plan.run(Output::Stream(Box::new(out))).map(drop)?,
                Err(why) => print_error(&format!("noisy-check: {why}")),
            }
            print_error("Watching for changes; Ctrl-C ends.");
        }
        thread::sleep(INTERVAL.max(took * 9));
    }
}

/// A hash of everything that the run depends on.
fn state_hash(args: &CheckArgs, plan: &Result<CheckPlan<'_>, String>) -> u64 {
    let mut seen = DefaultHasher::new();
    match plan {
        Err(why) => why.hash(&mut seen),
        Ok(plan) => {
            let mut configurations = HashSet::new();
            for it in &plan.inputs {
                let Input::File(path) = it else { continue };
                hash_file(path, &mut seen);
                match plan.resolver.config(path) {
                    Ok(it) if configurations.insert(Arc::as_ptr(&it) as usize) => {
                        format!("{:?} {it:?}", it.path()).hash(&mut seen);
                    }
                    Ok(_) => {}
                    Err(it) => it.to_string().hash(&mut seen),
                }
            }
            for it in &plan.unreadable {
                (&it.path, &it.why).hash(&mut seen);
            }
            args.baseline.iter().for_each(|it| hash_file(it, &mut seen));
        }
    }
    seen.finish()
}

fn hash_file(path: &Path, seen: &mut DefaultHasher) {
    let metadata = path.metadata().map_err(|it| it.kind());
    let changed = metadata.as_ref().ok().map(changed);
    (path, identity(path), metadata.map(|it| it.len()), changed).hash(seen);
}

/// Time of the last change of any kind, which no program can set.
#[cfg(unix)]
fn changed(metadata: &Metadata) -> (i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.ctime(), metadata.ctime_nsec())
}

/// Time of the last write.
#[cfg(not(unix))]
fn changed(metadata: &Metadata) -> Option<std::time::SystemTime> {
    metadata.modified().ok()
}

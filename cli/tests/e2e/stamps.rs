//! File stamps in the cache: an unchanged file is not read; a changed file is read, no matter how
//! it was changed.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use crate::tool::{CLEAN, Folder, Run, TUTORIAL};

/// Slightly longer than the age at which the times of files are trusted.
const SETTLED: Duration = Duration::from_millis(2200);

/// The legal and the illegal program, padded to the same size.
fn padded_programs() -> [String; 2] {
    let size = CLEAN.len().max(TUTORIAL.len()) + 4;
    [CLEAN, TUTORIAL].map(|it| format!("{it}//{}\n", "-".repeat(size - it.len())))
}

fn run_concise(folder: &Folder, more: &[&str]) -> Run {
    folder.run(&[&["--output-format", "concise"], more].concat())
}

/// Runs without the cache.
fn run_without_cache(folder: &Folder) -> Run {
    run_concise(folder, &["--no-cache"])
}

/// Changes the text of the files in the cache.
fn edit_cache_files(folder: &Folder, change: impl Fn(&str) -> String) {
    let all = fs::read_dir(folder.path(".noisy_cache")).expect("a cache");
    for it in all.map(|it| it.expect("a file").path()) {
        if it.extension().is_some_and(|it| it == "json") {
            let text = fs::read_to_string(&it).expect("a text");
            fs::write(&it, change(&text)).expect("it can be written");
        }
    }
}

/// Replaces the hash and the result of each text in the cache: only a run that does not read a text
/// repeats the forged result.
fn forge_results(folder: &Folder) {
    edit_cache_files(folder, |text| {
        let mut parts = text.split("\"text\":\"");
        let mut out = parts.next().unwrap_or_default().to_owned();
        for it in parts {
            let (_, rest) = it.split_once('"').expect("the end of a hash");
            out += &format!("\"text\":\"{}\"{rest}", "0".repeat(64));
        }
        out.replace("[noise-overflow]", "[kept]")
    });
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path).and_then(|it| it.modified()).expect("a time")
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).and_then(|it| it.set_modified(time)).expect("a file");
}

#[test]
fn unchanged_files_are_not_read() {
    let [_, over] = padded_programs();
    let start = Instant::now();
    let folder = Folder::with_files(&[("a.mlir", &over), ("deep/b.mlir", &over)]);
    let n_kept = |it: &Run| it.out.matches("[kept]").count();
    let first = run_concise(&folder, &[]);
    // The files are too new for their stamps to be trusted, unless the first run took a long time.
    if start.elapsed() < Duration::from_secs(2) {
        forge_results(&folder);
        assert_eq!(run_concise(&folder, &[]), first);
    }
    std::thread::sleep(SETTLED);
    assert_eq!(run_concise(&folder, &[]), first);
    forge_results(&folder);
    let kept = run_concise(&folder, &[]);
    assert_eq!((n_kept(&kept), kept.code), (2, 1), "{kept:?}");
    // Results for other settings or options are not used.
    folder.write("noisy.toml", "rules.noise = \"warning\"");
    assert_eq!(run_concise(&folder, &[]), run_without_cache(&folder));
    fs::remove_file(folder.path("noisy.toml")).expect("there");
    let off = run_concise(&folder, &["--per-file-ignores", "deep:all"]);
    assert_eq!(off, run_concise(&folder, &["--per-file-ignores", "deep:all", "--no-cache"]));
    // A cache that was written in the future is not trusted, because the clock was different.
    assert_eq!(run_concise(&folder, &[]), first);
    forge_results(&folder);
    assert_eq!(n_kept(&run_concise(&folder, &[])), 2);
    edit_cache_files(&folder, |text| text.replacen("\"start\":1", "\"start\":8", 1));
    assert_eq!(run_concise(&folder, &[]), first);
}

/// All kinds of changes keep the size and the modification time of the text.
#[test]
fn every_kind_of_change_is_noticed() {
    let [fine, over] = padded_programs();
    let names = ["same", "written", "renamed", "linked", "replaced", "swapped", "other", "copied"];
    let folder = Folder::new();
    let path = |name: &str| folder.path(&format!("{name}.mlir"));
    for (n, name) in names.iter().enumerate() {
        folder.write(&format!("{name}.mlir"), [&fine, &over][n % 2]);
    }
    fs::create_dir_all(folder.path("elsewhere")).expect("a folder");
    fs::hard_link(path("linked"), folder.path("elsewhere/link")).expect("a link");
    std::thread::sleep(SETTLED);
    for round in 0..4 {
        let before = run_concise(&folder, &[]);
        assert_eq!(before, run_without_cache(&folder), "{round}");
        // Files whose stamps are trusted now are not read.
        assert_eq!(run_concise(&folder, &[]), before);
        let other = |name: &str| {
            let text = fs::read_to_string(path(name)).expect("a text");
            if text == fine { &over } else { &fine }
        };
        let keep_time = |at: &Path, name: &str| set_modified(at, modified(&path(name)));
        // Written in place, with the old time.
        for (name, at) in [("written", path("written")), ("linked", folder.path("elsewhere/link"))]
        {
            let (text, time) = (other(name).clone(), modified(&path(name)));
            fs::write(&at, text).expect("a file");
            set_modified(&at, time);
        }
        // Replaced by another file with the same time.
        folder.write("elsewhere/new", other("renamed"));
        keep_time(&folder.path("elsewhere/new"), "renamed");
        fs::rename(folder.path("elsewhere/new"), path("renamed")).expect("there");
        // Replaced by a link to a file with the same time.
        let target = folder.path(&format!("elsewhere/target{round}"));
        fs::write(&target, other("replaced")).expect("a file");
        keep_time(&target, "replaced");
        fs::remove_file(path("replaced")).expect("there");
        std::os::unix::fs::symlink(&target, path("replaced")).expect("a link");
        // Two existing files swap their names.
        fs::rename(path("swapped"), folder.path("elsewhere/swap")).expect("there");
        fs::rename(path("other"), path("swapped")).expect("there");
        fs::rename(folder.path("elsewhere/swap"), path("other")).expect("there");
        // Removed and created again, with the old time.
        let (text, time) = (other("copied").clone(), modified(&path("copied")));
        fs::remove_file(path("copied")).expect("there");
        fs::write(path("copied"), text).expect("a file");
        set_modified(&path("copied"), time);
        let after = run_concise(&folder, &[]);
        assert_eq!(after, run_without_cache(&folder), "{round}");
        assert!(round > 0 || after != before);
        if round == 1 {
            std::thread::sleep(SETTLED);
        }
    }
}

/// Two texts alternate quickly, within one tick of the clock.
#[test]
fn changes_within_a_clock_tick_are_noticed() {
    let all = padded_programs();
    let folder = Folder::new();
    let time = SystemTime::now() - Duration::from_secs(3600);
    let wanted: Vec<Run> = (all.iter())
        .map(|text| {
            folder.write("a.mlir", text);
            run_without_cache(&folder)
        })
        .collect();
    for n in 0..40 {
        folder.write("a.mlir", &all[n % 2]);
        set_modified(&folder.path("a.mlir"), time);
        assert_eq!(run_concise(&folder, &[]), wanted[n % 2], "{n}");
    }
}

/// Files change during other runs. A run after all changes finds the current texts.
#[test]
fn changes_during_other_runs_are_noticed() {
    let all = padded_programs();
    let folder = Folder::new();
    let n_files = 30;
    for n in 0..n_files {
        folder.write(&format!("{n}.mlir"), &all[n % 2]);
    }
    std::thread::sleep(SETTLED);
    for round in 0..6 {
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| run_concise(&folder, &[]));
            }
            for n in (0..n_files).filter(|it| it % 3 == round % 3) {
                let (path, text) = (folder.path(&format!("{n}.mlir")), &all[(n + round) % 2]);
                let time = modified(&path);
                fs::write(&path, text).expect("a file");
                set_modified(&path, time);
            }
        });
        assert_eq!(run_concise(&folder, &[]), run_without_cache(&folder), "{round}");
        if round == 2 {
            std::thread::sleep(SETTLED);
        }
    }
}

//! Runs the tool in a temporary folder.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A temporary folder, which is deleted on drop.
pub(crate) struct Folder(PathBuf);

/// Output and exit code of a run.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Folder {
    pub(crate) fn new() -> Self {
        static N: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("noisy-check-{}-{}", std::process::id(), N.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let it = Self::new();
        for (name, text) in files {
            it.write(name, text);
        }
        it
    }

    /// Runs a shell script in the folder.
    pub(crate) fn shell(&self, script: &str) -> std::process::Output {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", script]).current_dir(self.path("."));
        shell.env("NOISY_CACHE_KEY", "of these tests").output().expect("a shell")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// The programs in the folder, by their names.
    pub(crate) fn programs(&self) -> BTreeMap<String, String> {
        let names = fs::read_dir(&self.0).expect("a folder").flatten();
        let names = names.filter_map(|it| it.file_name().into_string().ok());
        let names = names.filter(|it| it.ends_with(".mlir"));
        names.map(|it| (it.clone(), self.read(&it))).collect()
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, "", &[])
    }

    pub(crate) fn run_with(&self, args: &[&str], input: &str, env: &[(&str, &str)]) -> Run {
        let mut child = Command::new(env!("CARGO_BIN_EXE_noisy-check"))
            .args(args)
            .env("NOISY_CACHE_KEY", "of these tests")
            .envs(env.iter().copied())
            .env_remove("RUST_BACKTRACE")
            .current_dir(&self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool starts");
        // A tool that does not read its input may have exited already.
        let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
        let output = child.wait_with_output().expect("the tool ends");
        Run {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).expect("UTF-8"),
            err: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a folder with the examples of all rules, one per file, and the options that turn on all
/// rules.
pub(crate) fn examples() -> (Folder, Vec<&'static str>) {
    let folder = Folder::new();
    let mut options = vec!["--warn", "all"];
    for rule in noisy_analyses::Rule::all() {
        for (n, it) in rule.docs().split("```mlir\n").skip(1).enumerate() {
            let text = it.split("```").next().unwrap_or_default();
            folder.write(&format!("{}-{n}.mlir", rule.code()), text);
        }
        if !rule.is_on() {
            options.extend(["--warn", rule.code()]);
        }
    }
    (folder, options)
}

/// A legal program.
pub(crate) const CLEAN: &str = "\
func.func @clean(%a: i5) -> i5 {
  %0 = noisy.encode %a : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.add %1, %0 : !noisy.i32
  %3 = noisy.add %2, %0 : !noisy.i32
  %4 = noisy.decode %3 : !noisy.i32 -> i5
  return %4 : i5
}
";

/// The first program of the tutorial: 3 * 4, then squared three times.
pub(crate) const TUTORIAL: &str = "\
func.func @tutorial() -> i5 {
  %0 = arith.constant 3 : i5
  %1 = arith.constant 4 : i5
  %2 = noisy.encode %0 : i5 -> !noisy.i32
  %3 = noisy.encode %1 : i5 -> !noisy.i32
  %4 = noisy.mul %2, %3 : !noisy.i32 // 24
  %5 = noisy.mul %4, %4 : !noisy.i32
  %6 = noisy.mul %5, %5 : !noisy.i32
  %7 = noisy.mul %6, %6 : !noisy.i32
  %8 = noisy.decode %7 : !noisy.i32 -> i5
  return %8 : i5
}
";

/// Two loops that cannot be interchanged.
pub(crate) const STENCIL: &str = include_str!("../../../examples/stencil.mlir");

/// An undefined value after an emoji.
pub(crate) const UNDEFINED: &str = "\"t.\u{1F600}\"(%u) : (i32) -> ()\n";

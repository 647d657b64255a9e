//! Runs the tool as a process: invalid pipelines, passes that run pipelines, and reproducers.

mod tool;

use std::process::Output;

use tool::{file, run};

const MODULE: &str = "module @m {
  func.func @f(%a: i32) -> i32 {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %a, %a : i32
    %2 = arith.muli %0, %1 : i32
    return %2 : i32
  }
}
";

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Rust's formatter pads to at most 65,535 characters.
#[test]
fn names_may_exceed_the_padding_limit() {
    let input = file("long.mlir", &format!("\"a.{}\"() : () -> ()\n", "b".repeat(100_000)));
    let output = run(&["--allow-unregistered-dialect", "--print-op-stats"], &input);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let pipeline = format!("--pass-pipeline=builtin.module({}", "cse,".repeat(20_000));
    let output = run(&[&pipeline], &input);
    assert_eq!(output.status.code(), Some(1));
    assert!(!stderr(&output).contains("internal error"), "{}", stderr(&output));
}

#[test]
fn invalid_pipelines_have_the_error_messages_of_mlir_opt() {
    let input = file("wrong.mlir", MODULE);
    for (pipeline, expected) in [
        (
            "builtin.module(cse",
            "expected pass pipeline to be wrapped with the anchor operation type",
        ),
        (
            "builtin.module()(",
            "expected pass pipeline to be wrapped with the anchor operation type",
        ),
        ("builtin.module(cse))", "encountered extra closing ')' creating unbalanced parentheses"),
        (
            "builtin.module(func.func(cse)",
            "encountered unbalanced parentheses while parsing pipeline",
        ),
        (
            "builtin.module(test-interface-pass)",
            "unable to schedule pass 'TestInterfacePass' on a PassManager intended to run on 'builtin.module'!",
        ),
        (
            "any(test-interface-pass)",
            "'builtin.module' op trying to schedule a pass on an unsupported operation",
        ),
    ] {
        let output = run(&[&format!("--pass-pipeline={pipeline}")], &input);
        assert_eq!(output.status.code(), Some(1), "{pipeline}");
        assert!(stderr(&output).contains(expected), "{pipeline}: {}", stderr(&output));
    }
    let _ = std::fs::remove_file(input);
}

#[test]
fn a_pipeline_is_shown_with_all_options_in_order() {
    let input = file("dump.mlir", MODULE);
    let pipeline = "--pass-pipeline=builtin.module(func.func(affine-loop-tile{tile-sizes=1,2 tile-sizes=3 separate}))";
    let output = run(&[pipeline, "--dump-pass-pipeline"], &input);
    let shown =
        "func.func(affine-loop-tile{cache-size=512 separate=true tile-size= tile-sizes=1,2,3})";
    assert!(stderr(&output).contains(shown), "{}", stderr(&output));
    let _ = std::fs::remove_file(input);
}

#[test]
fn passes_in_dynamic_pipelines_are_printed() {
    let input = file("dynamic.mlir", MODULE);
    let pipeline =
        "--pass-pipeline=builtin.module(func.func(composite-fixed-point-pass{pipeline=any(cse)}))";
    let output = run(&[pipeline, "--mlir-print-ir-after=cse"], &input);
    assert!(output.status.success());
    assert!(stderr(&output).contains("IR Dump After CSE (cse)"), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("arith.addi").count(), 1);
    let _ = std::fs::remove_file(input);
}

/// A function with two memref arguments and accesses whose order matters only if they alias.
const ARGUMENTS: &str =
    "func.func @f(%a: memref<40x40xf64>, %b: memref<40x40xf64>, %v: f64) -> f64 {
  affine.for %i = 1 to 40 {
    affine.for %j = 0 to 39 {
      %x = affine.load %a[%i - 1, %j + 1] : memref<40x40xf64>
      affine.store %x, %b[%i, %j] : memref<40x40xf64>
    }
  }
  affine.for %i = 0 to 40 {
    %x = affine.load %a[0, 0] : memref<40x40xf64>
    affine.store %x, %b[%i, %i] : memref<40x40xf64>
  }
  affine.store %v, %a[0, 0] : memref<40x40xf64>
  affine.store %v, %b[0, 1] : memref<40x40xf64>
  %r = affine.load %a[0, 0] : memref<40x40xf64>
  return %r : f64
}
";

#[test]
fn memref_arguments_may_alias_with_the_flag() {
    let file = file("arguments.mlir", ARGUMENTS);
    let before = run(&[], &file).stdout;
    for pass in [
        "--affine-loop-tile",
        "--affine-loop-unroll-jam",
        "--affine-loop-invariant-code-motion",
        "--affine-parallelize",
        "--affine-scalrep",
        "--test-loop-permutation=permutation-map=1,0",
    ] {
        assert_ne!(run(&[pass], &file).stdout, before, "{pass}");
        let kept = run(&[pass, "--arguments-may-alias"], &file);
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        // A single loop may be tiled regardless of its dependences.
        let shown = |it: &[u8]| match pass {
            "--affine-loop-tile" => text(it).split("affine.for").nth(2).map(str::to_owned),
            _ => Some(text(it)),
        };
        assert_eq!(shown(&kept.stdout), shown(&before), "{pass}\n{}", stderr(&kept));
    }
    let check = ["--test-memref-dependence-check", "--arguments-may-alias"];
    assert!(stderr(&run(&check, &file)).contains("unknown"));
    let _ = std::fs::remove_file(file);
}

#[test]
fn reproducers_reproduce_the_failure() {
    let input = file("failing.mlir", MODULE);
    let reproducer = file("reproducer.mlir", "");
    let flag = format!("--mlir-pass-pipeline-crash-reproducer={}", reproducer.display());
    let pipeline = "--pass-pipeline=builtin.module(func.func(cse,test-pass-failure))";
    for is_local in [false, true] {
        let mut args = vec![flag.as_str(), pipeline, "--mlir-disable-threading"];
        args.extend(is_local.then_some("--mlir-pass-pipeline-local-reproducer"));
        let output = run(&args, &input);
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(&output);
        assert!(said.contains("Pipeline failed while executing"), "{said}");
        assert!(said.contains("`TestFailurePass` on 'func.func' operation: @f"), "{said}");
        let text = std::fs::read_to_string(&reproducer).expect("it was written");
        // The local reproducer has the program right before the failed pass, and only that pass.
        assert_eq!(text.matches("arith.addi").count(), if is_local { 1 } else { 2 }, "{text}");
        assert_eq!(text.contains("cse"), !is_local, "{text}");
        let again = run(&["--run-reproducer", "--mlir-print-ir-after-failure"], &reproducer);
        assert_eq!(again.status.code(), Some(1));
        let said = stderr(&again);
        assert!(said.contains("After TestFailurePass Failed"), "{said}");
    }
    let _ = (std::fs::remove_file(input), std::fs::remove_file(reproducer));
}

#[cfg(unix)]
#[test]
fn output_files_keep_links_and_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = std::env::temp_dir().join(format!("noisy-opt-files-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let path = |name: &str| folder.join(name);
    let input = path("in.mlir");
    std::fs::write(&input, MODULE).expect("a file");
    let write = |name: &str| {
        let to = path(name);
        let output = run(&["--cse", "-o", to.to_str().expect("a name")], &input);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = std::fs::read_to_string(to).expect("it is written");
        assert_eq!(text.matches("arith.addi").count(), 1, "{text}");
    };
    write("new.mlir");
    // Symbolic links, hard links and permissions are kept.
    for name in ["target.mlir", "named.mlir", "private.mlir"] {
        std::fs::write(path(name), "old").expect("a file");
    }
    symlink("target.mlir", path("link.mlir")).expect("a link");
    std::fs::hard_link(path("named.mlir"), path("other.mlir")).expect("a link");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(path("private.mlir"), private).expect("a mode");
    ["link.mlir", "named.mlir", "private.mlir"].into_iter().for_each(write);
    assert!(path("link.mlir").is_symlink());
    let read = |name: &str| std::fs::read_to_string(path(name)).expect("a file");
    assert_eq!(read("other.mlir"), read("named.mlir"));
    assert_eq!(read("target.mlir"), read("link.mlir"));
    let mode = std::fs::metadata(path("private.mlir")).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // An existing log keeps its content.
    std::fs::write(path("log"), "before\n").expect("a file");
    let log = std::fs::OpenOptions::new().append(true).open(path("log")).expect("a file");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_noisy-opt"));
    command.args(["-o", "/dev/fd/1"]).arg(&input).stdout(log);
    assert!(command.status().expect("the tool runs").success());
    assert!(read("log").starts_with("before\nmodule @m"), "{}", read("log"));
    let left = std::fs::read_dir(&folder).expect("a folder").count();
    assert_eq!(left, 8, "nothing is left behind");
    let _ = std::fs::remove_dir_all(folder);
}

#[cfg(target_os = "linux")]
#[test]
fn endless_input_is_rejected() {
    let output = run(&[], std::path::Path::new("/dev/zero"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("more than 268435456 bytes"), "{}", stderr(&output));
}

/// `"\FF"` is one byte, and `"\\FF"` is a backslash and two letters.
#[test]
fn ops_with_different_strings_are_not_merged() {
    let op = |n: usize, text: &str| {
        format!(
            "  %{n} = \"arith.constant\"() <{{value = 1 : i32}}> {{t.a = {text}}} : () -> i32\n"
        )
    };
    let ops =
        [op(0, "\"\\FF\""), op(1, "\"\\\\FF\""), op(2, "\"\\ff\""), op(3, "\"\\FE\"")].concat();
    let program = format!(
        "func.func private @\"\\FF\"()\nfunc.func private @\"\\\\FF\"()
func.func @f() -> (i32, i32, i32, i32) {{\n{ops}  return %0, %1, %2, %3 : i32, i32, i32, i32\n}}\n"
    );
    let output = run(&["--cse"], &file("bytes.mlir", &program));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = String::from_utf8_lossy(&output.stdout);
    let wanted = "module {
  func.func private @\"\\FF\"()
  func.func private @\"\\\\FF\"()
  func.func @f() -> (i32, i32, i32, i32) {
    %c1_i32 = arith.constant {t.a = \"\\FF\"} 1 : i32
    %c1_i32_0 = arith.constant {t.a = \"\\\\FF\"} 1 : i32
    %c1_i32_1 = arith.constant {t.a = \"\\FE\"} 1 : i32
    return %c1_i32, %c1_i32_0, %c1_i32, %c1_i32_1 : i32, i32, i32, i32
  }
}
";
    assert_eq!(printed.trim_end(), wanted.trim_end());
}

#[test]
fn referenced_resources_are_printed() {
    let program = "module attributes {r.b = dense_resource<\"two\\20\\FF\"> : tensor<2xf16>} {
}

{-#
  dialect_resources: {
    builtin: {
      \"two \\FF\": \"0x0200000008000900\",
      \"unused key\": \"0x0200000008000900\"
    }
  }
#-}
";
    let output = run(&["--canonicalize"], &file("resources.mlir", program));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let wanted = program
        .replace("two\\20\\FF", "two \\FF")
        .replace(",\n      \"unused key\": \"0x0200000008000900\"", "");
    assert_eq!(printed.trim_end(), wanted.trim_end());
}

#[test]
fn replay_does_not_overwrite_programs() {
    let input = file("replayed.mlir", MODULE);
    let name = input.to_str().expect("a name");
    // Without another argument, the input file would be the target of the page.
    let output = run(&["--cse", "--replay"], &input);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("this file holds an MLIR program"), "{}", stderr(&output));
    let other = file("other.mlir", MODULE);
    for args in [
        vec!["--cse", "--log-actions-to", name],
        vec!["--cse", "--replay", name],
        vec!["--cse", "--replay", name, "--force=false"],
    ] {
        let output = run(&args, &other);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
    assert_eq!(std::fs::read_to_string(&input).expect("the program"), MODULE);
    let output = run(&["--cse", "--replay", name, "--force"], &other);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_ne!(std::fs::read_to_string(&input).expect("the page"), MODULE);
}

#[test]
fn help_shows_which_flags_take_a_value() {
    let input = file("help.mlir", MODULE);
    let [long, short] = ["--help", "-h"].map(|it| run(&[it], &input));
    assert_eq!((long.status.code(), &long.stdout), (Some(0), &short.stdout));
    let text = String::from_utf8(long.stdout).expect("text");
    for flag in
        ["--replay=<file>", " -o=<file>", "--bisect=<command>", "--split-input-file[=<marker>]"]
    {
        assert!(text.contains(flag), "{flag}: {text}");
    }
    assert!(!text.contains("=<value>"), "each value has a name: {text}");
    assert!(text.contains("--in-place  ") && text.contains("--small-loop=<n>"), "{text}");
}

#[test]
fn printed_schedules_have_line_numbers() {
    let text = "// A comment.\nfunc.func @f(%A: memref<60xf64>, %x: f64) {\n  affine.for %i = 0 to 60 {\n    affine.store %x, %A[%i] : memref<60xf64>\n  }\n  return\n}\n";
    let output = run(&["--print-schedule"], &file("schedule.mlir", text));
    assert!(stderr(&output).starts_with("nest at line 3, column 3:\n"), "{}", stderr(&output));
}

#[test]
fn heir_ops_are_accepted() {
    let generic = "func.func @f(%a: f32) -> f32 {\n  %0 = \"mgmt.modreduce\"(%a) : (f32) -> f32\n  return %0 : f32\n}\n";
    let output = run(&["--cse"], &file("heir-generic.mlir", generic));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let misspelled = file("heir-wrong.mlir", &generic.replace("modreduce", "modreduse"));
    assert_eq!(run(&["--cse"], &misspelled).status.code(), Some(1));
    // HEIR's custom syntax cannot be printed, but it can be kept.
    let custom = include_str!("../../examples/heir.mlir");
    let input = file("heir-custom.mlir", custom);
    let output = run(&["--cse"], &input);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output).matches("--keep-source leaves").count(), 1, "{}", stderr(&output));
    let twice = custom.replace(
        "    %0 = secret.generic",
        "    %same = arith.constant 1 : index\n    %0 = secret.generic",
    );
    assert_ne!(twice, custom);
    let output =
        run(&["--cse", "--canonicalize", "--keep-source"], &file("heir-twice.mlir", &twice));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let left = String::from_utf8(output.stdout).expect("text");
    assert!(!left.contains("%same") && left.contains("mgmt.relinearize"), "{left}");
}

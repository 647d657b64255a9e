//! Tests of parsing and layering settings.

use super::*;
use expect_test::{Expect, expect};
use noisy_analyses::{Document, Objective, Severity};

use crate::RuleLevel;

fn check_problems(text: &str, wanted: &Expect) {
    let problems = Config::from_toml(text, Path::new(""), &Overrides::default()).err();
    let lines: Vec<_> = problems.unwrap_or_default().iter().map(ToString::to_string).collect();
    wanted.assert_eq(&(lines.join("\n") + "\n"));
}

fn config(text: &str, sets: &[&str]) -> Config {
    let mut overrides = Overrides::default();
    for it in sets {
        overrides.set(it).expect(it);
    }
    Config::from_toml(text, Path::new("/repo"), &overrides).expect(text)
}

#[test]
fn an_empty_file_gives_the_defaults() {
    assert_eq!(Settings::from_toml(""), Ok(Settings::default()));
    let everything = Settings::default().to_toml();
    assert_eq!(Settings::from_toml(&everything), Ok(Settings::default()), "{everything}");
}

#[test]
fn ranges_of_inputs_are_bounds_or_a_magnitude() {
    for (written, lower, upper) in
        [("8", -8.0, 8.0), ("[-1, 0.5]", -1.0, 0.5), ("[2, 2]", 2.0, 2.0)]
    {
        let settings = Settings::from_toml(&format!("heir.input-range = {written}"));
        let range = settings.expect("settings").model.noise().heir.input_range;
        assert_eq!(range, noisy_heir::RealRange::new(lower, upper), "{written}");
    }
}

#[test]
fn reports_all_unknown_keys() {
    check_problems(
        "exclud = []\n[placement]\ntime_limit = 3\nzzz = 1\n[rules]\nnoise-overflo = \"off\"\n\n[[overrides]]\nfiles = []\nplacment.replace = true\n",
        &expect![[r#"
            1:1: unknown key `exclud`; did you mean `exclude`?
            3:1: unknown key `time_limit` in `placement`; did you mean `time-limit`?
            4:1: unknown key `zzz` in `placement`; there are objective, replace, time-limit
            6:1: unknown key `noise-overflo` in `rules`; did you mean `noise-overflow`?
            10:1: unknown key `placment` in `overrides`; did you mean `placement`?
        "#]],
    );
    check_problems(
        "[\u{e4}]\n\"\u{e4}\" = 1",
        &expect![[r#"
        1:2: invalid unquoted key, expected letters, numbers, `-`, `_`
    "#]],
    );
}

#[test]
fn wrong_values_are_errors_at_their_place() {
    check_problems(
        "[placement]\ntime-limit = \"soon\"",
        &expect![[r#"
            2:14: expected a number of seconds between 0 and 1000000, not "soon"
        "#]],
    );
    check_problems(
        "[placement]\ntime-limit = -1",
        &expect![[r#"
            2:14: expected a number of seconds between 0 and 1000000, not `-1`
        "#]],
    );
    check_problems(
        "placement.objective = \"cheap\"",
        &expect![[r#"
            1:23: unknown value `cheap`; there are executed, count
        "#]],
    );
    check_problems(
        "rules.noise-overflow = true",
        &expect![[r#"
            1:24: expected a string
        "#]],
    );
    check_problems(
        "rules.noise-overflow = \"of\"",
        &expect![[r#"
        1:24: unknown value `of`; did you mean `off`?
    "#]],
    );
    check_problems(
        "heir.level-budget = 0",
        &expect![[r#"
        1:21: expected a whole number from 1 to 4294967295, not `0`
    "#]],
    );
    check_problems(
        "heir.input-range = [1, 0]",
        &expect![[r#"
        1:20: expected a lower bound and an upper bound, up to 1e30
    "#]],
    );
    check_problems(
        "heir.input-range = \"small\"",
        &expect![[r#"
        1:20: expected a number D, for [-D, D], or [lower, upper]
    "#]],
    );
    check_problems(
        "heir.input-range = -1",
        &expect![[r#"
        1:20: expected a lower bound and an upper bound, up to 1e30
    "#]],
    );
    check_problems(
        "heir.input-range = nan",
        &expect![[r#"
        1:20: expected a lower bound and an upper bound, up to 1e30
    "#]],
    );
    check_problems(
        "placement.replace = [1]",
        &expect![[r#"
        1:21: expected `true` or `false`, not an array
    "#]],
    );
    check_problems(
        "heir.level-budget = {}",
        &expect![[r#"
        1:21: expected a whole number from 1 to 4294967295, not a table
    "#]],
    );
    check_problems(
        "heir.level-budget = 1.5",
        &expect![[r#"
        1:21: expected a whole number from 1 to 4294967295, not `1.5`
    "#]],
    );
    check_problems(
        "rules = 3",
        &expect![[r#"
            1:9: expected a table, not `3`
        "#]],
    );
    check_problems(
        "exclude = [\"a\", 3]",
        &expect![[r#"
        1:17: expected a pattern, a string
    "#]],
    );
    check_problems(
        "[[overrides]]\nplacement.replace = true",
        &expect![[r#"
        1:1: `[[overrides]]` without `files`: name the files to which it applies
    "#]],
    );
    check_problems(
        "[overrides]\nfiles = []",
        &expect![[r#"
        1:1: expected `[[overrides]]`
    "#]],
    );
    check_problems(
        "[[overrides]]\nfiles = [\"a\"]\nplacement.replace = 1",
        &expect![[r#"
            3:21: expected `true` or `false`, not `1`
        "#]],
    );
}

#[test]
fn reports_an_invalid_model_at_its_place() {
    check_problems(
        "[model]\nbudget = 20\nfresh = 21",
        &expect![[r#"
        3:9: `model`: fresh: 21 is over the budget of 20: no program would be legal
    "#]],
    );
    check_problems(
        "[model]\nfresh = 30",
        &expect![[r#"
        2:9: `model`: fresh: 30 is over the budget of 26: no program would be legal
    "#]],
    );
    check_problems(
        "[model]\nbudget = 3",
        &expect![[r#"
        2:10: `model`: fresh: 12 is over the budget of 3: no program would be legal
    "#]],
    );
    check_problems(
        "[[overrides]]\nfiles = [\"a\"]\nmodel.budget = 3",
        &expect![[r#"
        3:16: `model`: fresh: 12 is over the budget of 3: no program would be legal
    "#]],
    );
    check_problems(
        "[heir]\nlevel-budget = 2\nbootstrap-waterline = 2",
        &expect![[r#"
        3:23: `heir.bootstrap-waterline`: 2 leaves none of the 2 levels of `heir.level-budget`; set it below 2
    "#]],
    );
    check_problems(
        "[model.ops]\n\"a.b\" = { growth = \"max\", level = 3 }",
        &expect![[r#"
        2:35: `model`: ops."a.b".level: only `fresh` and `reset` have a level
    "#]],
    );
    check_problems(
        "[model.ops]\n\"a.b\" = { growth = \"max\", pluss = 3 }",
        &expect![[r#"
        2:27: unknown key `pluss` in `model.ops.a.b`; did you mean `plus`?
    "#]],
    );
    let settings = config(
        "model = { fresh = 1, budget = 7 }\n[[overrides]]\nfiles = [\"*\"]\nmodel.budget = 9",
        &["model.fresh=2"],
    );
    let settings = settings.for_path(Path::new("/repo/a.mlir")).expect("right");
    assert_eq!((settings.model.noise().fresh, settings.model.noise().budget), (2, 9));
}

#[test]
fn reports_invalid_toml_completely() {
    check_problems(
        "[placement\nreplace = \n= 3",
        &expect![[r#"
        1:11: unclosed table, expected `]`
        3:1: unquoted keys cannot be empty, expected letters, numbers, `-`, `_`
    "#]],
    );
    check_problems(
        "a = 1\na = 2",
        &expect![[r#"
        2:1: duplicate key
    "#]],
    );
}

#[test]
fn applies_sections_to_their_files_in_order() {
    let config = config(
        "placement.replace = true\n\
         [[overrides]]\nfiles = [\"legacy/\", \"/top.mlir\"]\nplacement = { replace = false, time-limit = 1 }\n\
         [[overrides]]\nfiles = [\"*.gen.mlir\"]\nplacement.time-limit = 2\n",
        &[],
    );
    let of = |path: &str| {
        let placement = config.for_path(Path::new(path)).expect(path).placement.clone();
        (placement.replace, placement.time_limit.duration().as_secs())
    };
    assert_eq!(of("/repo/a.mlir"), (true, 10));
    assert_eq!(of("/repo/legacy/deep/a.mlir"), (false, 1));
    assert_eq!(of("/repo/top.mlir"), (false, 1));
    assert_eq!(of("/repo/sub/top.mlir"), (true, 10));
    assert_eq!(of("/repo/sub/a.gen.mlir"), (true, 2));
    assert_eq!(of("/repo/legacy/a.gen.mlir"), (false, 2));
    assert_eq!(of("/elsewhere/legacy/a.mlir"), (true, 10), "not below the file");
}

#[test]
fn the_command_line_overrides_all_sections() {
    let config = config(
        "[[overrides]]\nfiles = [\"*\"]\nplacement = { replace = false, objective = \"executed\" }\n",
        &[
            "placement.replace=true",
            "placement.objective=count",
            "rules.noise-overflow = \"warning\"",
        ],
    );
    let settings = config.for_path(Path::new("/repo/a.mlir")).expect("right");
    assert_eq!(
        (settings.placement.replace, settings.placement.objective),
        (true, Objective::Count)
    );
    assert_eq!(settings.rules.levels().get("noise-overflow"), Some(&RuleLevel::Warning));
}

#[test]
fn wrong_overrides_are_errors() {
    let of = |text: &str| Overrides::default().set(text).err().unwrap_or_default();
    expect!["unknown key `replase` in `placement`; did you mean `replace`?"]
        .assert_eq(&of("placement.replase=true"));
    expect!["expected KEY=VALUE"].assert_eq(&of("placement"));
    expect![[r#"expected `true` or `false`, not "maybe""#]]
        .assert_eq(&of("placement.replace=maybe"));
    expect!["`exclude` can only be set in a file"].assert_eq(&of("exclude=[]"));
    expect!["key with no value, expected `=`"].assert_eq(&of("a b = 3"));
}

#[test]
fn prefers_narrower_then_later_rules() {
    let text = "func.func @f(%a: !noisy.i32) -> (!noisy.i32, !noisy.i32) { %0 = noisy.mul %a, %a : !noisy.i32 \
                %1 = noisy.mul %0, %0 : !noisy.i32 %2 = noisy.reduce_noise %a : !noisy.i32 \
                return %1, %2 : !noisy.i32, !noisy.i32 }";
    let found = Document::new(text).diagnostics();
    let severities = |text: &str, sets: &[&str]| {
        let mut found = found.clone();
        config(text, sets).for_path(Path::new("/repo/a.mlir")).expect(text).rules.apply(&mut found);
        found.iter().map(|it| (it.code, it.severity)).collect::<Vec<_>>()
    };
    let (noise, redundant) = ("noise-overflow", "redundant-reduce");
    let own = vec![(noise, Severity::Error), (redundant, Severity::Hint)];
    assert_eq!(severities("", &[]), own);
    assert_eq!(severities("rules.all = \"off\"", &[]), []);
    assert_eq!(severities("rules = { all = \"off\", noise = \"on\" }", &[]), [own[0]]);
    assert_eq!(
        severities("rules = { noise-overflow = \"warning\", noise = \"off\" }", &[]),
        [(noise, Severity::Warning), own[1]]
    );
    assert_eq!(
        severities("rules.redundant-reduce = \"error\"", &["rules.lint=off"]),
        [own[0]],
        "a later layer"
    );
    assert_eq!(
        severities("rules.redundant-reduce = \"error\"", &["rules.noise=off"]),
        [(redundant, Severity::Error)]
    );
    assert_eq!(severities("rules.lint = \"off\"", &["rules.all=on"]), own);
    let section =
        "rules.noise-overflow = \"off\"\n[[overrides]]\nfiles = [\"*\"]\nrules.all = \"info\"";
    assert_eq!(severities(section, &[]), [(noise, Severity::Info), (redundant, Severity::Info)]);
}

#[test]
fn excludes_matching_files() {
    let config = config("exclude = [\"build/\", \"*.tmp.mlir\", \"!keep.tmp.mlir\"]", &[]);
    let of = |path: &str| config.is_excluded(Path::new(path));
    assert!(of("/repo/build/a.mlir") && of("/repo/x/build/y/a.mlir") && of("/repo/a.tmp.mlir"));
    assert!(!of("/repo/a.mlir") && !of("/repo/keep.tmp.mlir") && !of("/other/build/a.mlir"));
}

#[test]
fn matches_patterns_by_any_name_of_a_file() {
    let text = "exclude = [\"/top.mlir\", \"gen/v/\"]\n\
                [[overrides]]\nfiles = [\"/old.mlir\"]\nplacement.replace = true\n";
    let here = std::env::current_dir().expect("there is one");
    let name = here.file_name().expect("it has a name").to_str().expect("UTF-8");
    // The folder of the file, and paths from the current folder to it.
    for (root, ways) in [
        (
            here.clone(),
            vec![".".to_owned(), String::new(), format!("../{name}"), "q/..".to_owned()],
        ),
        (here.join("q"), vec!["q".to_owned(), "./q".to_owned(), format!("../{name}/q")]),
        (here.join("../q"), vec!["../q".to_owned(), "q/../../q".to_owned()]),
        (here.join(".."), vec!["..".to_owned(), format!("../{name}/..")]),
    ] {
        let config = Config::from_toml(text, &root, &Overrides::default()).expect("right");
        let whole = root.to_str().expect("UTF-8").to_owned();
        for way in ways.into_iter().chain([whole]) {
            let at = |it: &str| Path::new(&way).join(it);
            let replaces = |it: &str| config.for_path(&at(it)).expect("right").placement.replace;
            assert!(config.is_excluded(&at("top.mlir")), "{way}");
            assert!(config.is_excluded(&at("gen/v/a.mlir")), "{way}");
            assert!(!config.is_excluded(&at("v/top.mlir")), "{way}");
            assert!(!config.is_excluded(&at("x/gen/v/a.mlir")), "{way}");
            assert!(!config.is_excluded(&at("../other/top.mlir")), "{way}");
            assert!(replaces("old.mlir") && !replaces("v/old.mlir"), "{way}");
        }
    }
}

#[test]
fn reports_an_invalid_pattern_at_its_place() {
    check_problems(
        "exclude = [\"a\", \"[b\"]",
        &expect![[r#"
        1:17: no `]` closes the `[`
    "#]],
    );
    check_problems(
        "[[overrides]]\nfiles = [\"b\\\\\"]",
        &expect![[r#"
        2:10: nothing follows the `\` at the end
    "#]],
    );
    check_problems(
        "exclude = [\"[[:alfa:]]\"]",
        &expect![[r#"
        1:12: there is no class `[:alfa:]`
    "#]],
    );
    let config = config("exclude = [\"{a,b}\", \"[[:digit:]].mlir\"]", &[]);
    let of = |path: &str| config.is_excluded(Path::new(path));
    assert!(of("/repo/{a,b}/x.mlir") && of("/repo/1.mlir"));
    assert!(!of("/repo/a/x.mlir") && !of("/repo/b/x.mlir") && !of("/repo/d.mlir"));
}

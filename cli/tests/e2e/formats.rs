//! Every output format.

use expect_test::{Expect, expect};

use crate::tool::{CLEAN, Folder, TUTORIAL, UNDEFINED};

fn check(format: &str, wanted: &Expect) {
    let folder = Folder::with_files(&[
        ("a/clean.mlir", CLEAN),
        ("a/tutorial.mlir", TUTORIAL),
        ("b & c.mlir", UNDEFINED),
    ]);
    let run = folder.run(&["--output-format", format, "."]);
    assert_eq!((run.code, run.err.as_str()), (1, ""));
    wanted.assert_eq(&run.out);
}

#[test]
fn full() {
    check(
        "full",
        &expect![[r#"
            error[noise-overflow]: %5: noise may reach 48 bits, 22 over the 26-bit budget
                ╭─[ a/tutorial.mlir:7:8 ]
                │
              4 │   %2 = noisy.encode %0 : i5 -> !noisy.i32
                │        ───────┬───────
                │               ╰───────── %2: freshly encoded: 12
                │
              6 │   %4 = noisy.mul %2, %3 : !noisy.i32 // 24
                │        ────────┬───────
                │                ╰───────── %4: 12 + 12 = 24
              7 │   %5 = noisy.mul %4, %4 : !noisy.i32
                │        ────────┬───────
                │                ╰───────── %5: 24 + 24 = 48
                │
             10 │   %8 = noisy.decode %7 : !noisy.i32 -> i5
                │        ───────┬───────
                │               ╰───────── decoded here; the plaintext may be wrong
                │
                │ Help: Insert noisy.reduce_noise for %4 before this op, or use the quick fix (--fix). 2 later values also exceed the budget
            ────╯

            error[undefined-value]: use of undefined value %u
               ╭─[ b & c.mlir:1:7 ]
               │
             1 │ "t.😀"(%u) : (i32) -> ()
               │        ─┬
               │         ╰── use of an undefined value
               │
               │ Help: Define %u before this op, or pass it in as an argument
            ───╯

            2 errors in 2 of 3 files.
        "#]],
    );
}

#[test]
fn concise() {
    check(
        "concise",
        &expect![[r#"
            a/tutorial.mlir:7:8: error[noise-overflow] %5: noise may reach 48 bits, 22 over the 26-bit budget
            b & c.mlir:1:7: error[undefined-value] use of undefined value %u
            2 errors in 2 of 3 files.
        "#]],
    );
}

#[test]
fn json() {
    check(
        "json",
        &expect![[r#"
            [
            {"filename":"a/tutorial.mlir","category":"noise","severity":"error","code":"noise-overflow","message":"%5: noise may reach 48 bits, 22 over the 26-bit budget","help":"Insert noisy.reduce_noise for %4 before this op, or use the quick fix (--fix). 2 later values also exceed the budget","location":{"row":7,"column":8},"end_location":{"row":7,"column":24},"related":[{"message":"%2: freshly encoded: 12","location":{"row":4,"column":8},"end_location":{"row":4,"column":23}},{"message":"%4: 12 + 12 = 24","location":{"row":6,"column":8},"end_location":{"row":6,"column":24}},{"message":"%5: 24 + 24 = 48","location":{"row":7,"column":8},"end_location":{"row":7,"column":24}},{"message":"decoded here; the plaintext may be wrong","location":{"row":10,"column":8},"end_location":{"row":10,"column":23}}]},
            {"filename":"b & c.mlir","category":"name","severity":"error","code":"undefined-value","message":"use of undefined value %u","help":"Define %u before this op, or pass it in as an argument","location":{"row":1,"column":7},"end_location":{"row":1,"column":9}}
            ]
        "#]],
    );
}

#[test]
fn json_lines() {
    check(
        "json-lines",
        &expect![[r#"
            {"filename":"a/tutorial.mlir","category":"noise","severity":"error","code":"noise-overflow","message":"%5: noise may reach 48 bits, 22 over the 26-bit budget","help":"Insert noisy.reduce_noise for %4 before this op, or use the quick fix (--fix). 2 later values also exceed the budget","location":{"row":7,"column":8},"end_location":{"row":7,"column":24},"related":[{"message":"%2: freshly encoded: 12","location":{"row":4,"column":8},"end_location":{"row":4,"column":23}},{"message":"%4: 12 + 12 = 24","location":{"row":6,"column":8},"end_location":{"row":6,"column":24}},{"message":"%5: 24 + 24 = 48","location":{"row":7,"column":8},"end_location":{"row":7,"column":24}},{"message":"decoded here; the plaintext may be wrong","location":{"row":10,"column":8},"end_location":{"row":10,"column":23}}]}
            {"filename":"b & c.mlir","category":"name","severity":"error","code":"undefined-value","message":"use of undefined value %u","help":"Define %u before this op, or pass it in as an argument","location":{"row":1,"column":7},"end_location":{"row":1,"column":9}}
        "#]],
    );
}

#[test]
fn sarif() {
    let hint = "func.func @f(%a: !noisy.i32) { %0 = noisy.reduce_noise %a : !noisy.i32 return }";
    let folder = Folder::with_files(&[
        ("a b/tutorial.mlir", TUTORIAL),
        ("hint.mlir", hint),
        ("name.mlir", UNDEFINED),
    ]);
    let run = folder.run(&["--output-format", "sarif"]);
    let mut sarif: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let run = &mut sarif["runs"][0];
    // The texts of the catalogue are tested elsewhere.
    let rules = run["tool"]["driver"]["rules"].as_array_mut().expect("rules");
    for rule in rules.iter() {
        assert!(rule["help"]["markdown"].as_str().is_some_and(|it| it.len() > 50), "{rule}");
    }
    let ids: Vec<_> = rules.iter().map(|it| it["id"].clone()).collect();
    for result in run["results"].as_array_mut().expect("results") {
        let index = result["ruleIndex"].as_u64().expect("an index");
        assert_eq!(ids[index as usize], result["ruleId"]);
        result["ruleIndex"].take();
    }
    assert!(ids.contains(&"undefined-value".into()));
    run["tool"].take();
    expect![[r#"
        {
          "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
          "runs": [
            {
              "columnKind": "unicodeCodePoints",
              "results": [
                {
                  "level": "error",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "a%20b/tutorial.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 24,
                          "endLine": 7,
                          "startColumn": 8,
                          "startLine": 7
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "%5: noise may reach 48 bits, 22 over the 26-bit budget\nhelp: Insert noisy.reduce_noise for %4 before this op, or use the quick fix (--fix). 2 later values also exceed the budget"
                  },
                  "partialFingerprints": {
                    "noisy/v1": "b8c68241b7bf54f0"
                  },
                  "relatedLocations": [
                    {
                      "message": {
                        "text": "%2: freshly encoded: 12"
                      },
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "a%20b/tutorial.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 23,
                          "endLine": 4,
                          "startColumn": 8,
                          "startLine": 4
                        }
                      }
                    },
                    {
                      "message": {
                        "text": "%4: 12 + 12 = 24"
                      },
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "a%20b/tutorial.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 24,
                          "endLine": 6,
                          "startColumn": 8,
                          "startLine": 6
                        }
                      }
                    },
                    {
                      "message": {
                        "text": "%5: 24 + 24 = 48"
                      },
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "a%20b/tutorial.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 24,
                          "endLine": 7,
                          "startColumn": 8,
                          "startLine": 7
                        }
                      }
                    },
                    {
                      "message": {
                        "text": "decoded here; the plaintext may be wrong"
                      },
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "a%20b/tutorial.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 23,
                          "endLine": 10,
                          "startColumn": 8,
                          "startLine": 10
                        }
                      }
                    }
                  ],
                  "ruleId": "noise-overflow",
                  "ruleIndex": null
                },
                {
                  "fixes": [
                    {
                      "artifactChanges": [
                        {
                          "artifactLocation": {
                            "uri": "hint.mlir",
                            "uriBaseId": "%SRCROOT%"
                          },
                          "replacements": [
                            {
                              "deletedRegion": {
                                "endColumn": 71,
                                "endLine": 1,
                                "startColumn": 32,
                                "startLine": 1
                              },
                              "insertedContent": {
                                "text": ""
                              }
                            }
                          ]
                        }
                      ],
                      "description": {
                        "text": "Remove this reduce_noise"
                      }
                    }
                  ],
                  "level": "note",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "hint.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 58,
                          "endLine": 1,
                          "startColumn": 37,
                          "startLine": 1
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "redundant reduce_noise: noise of %a is at most 12 bits before and 12 after\nhelp: Use %a instead"
                  },
                  "partialFingerprints": {
                    "noisy/v1": "da301f2b743a7df4"
                  },
                  "ruleId": "redundant-reduce",
                  "ruleIndex": null
                },
                {
                  "fixes": [
                    {
                      "artifactChanges": [
                        {
                          "artifactLocation": {
                            "uri": "hint.mlir",
                            "uriBaseId": "%SRCROOT%"
                          },
                          "replacements": [
                            {
                              "deletedRegion": {
                                "endColumn": 71,
                                "endLine": 1,
                                "startColumn": 32,
                                "startLine": 1
                              },
                              "insertedContent": {
                                "text": ""
                              }
                            }
                          ]
                        }
                      ],
                      "description": {
                        "text": "Remove this op"
                      }
                    }
                  ],
                  "level": "note",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "hint.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 58,
                          "endLine": 1,
                          "startColumn": 37,
                          "startLine": 1
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "%0 is never used\nhelp: Remove this op"
                  },
                  "partialFingerprints": {
                    "noisy/v1": "2e1f1991a362b1af"
                  },
                  "ruleId": "unused-op",
                  "ruleIndex": null
                },
                {
                  "level": "error",
                  "locations": [
                    {
                      "physicalLocation": {
                        "artifactLocation": {
                          "uri": "name.mlir",
                          "uriBaseId": "%SRCROOT%"
                        },
                        "region": {
                          "endColumn": 9,
                          "endLine": 1,
                          "startColumn": 7,
                          "startLine": 1
                        }
                      }
                    }
                  ],
                  "message": {
                    "text": "use of undefined value %u\nhelp: Define %u before this op, or pass it in as an argument"
                  },
                  "partialFingerprints": {
                    "noisy/v1": "93d418470d1a7476"
                  },
                  "ruleId": "undefined-value",
                  "ruleIndex": null
                }
              ],
              "tool": null
            }
          ],
          "version": "2.1.0"
        }
    "#]].assert_eq(&format!("{sarif:#}\n"));
}

#[test]
fn fingerprints_stay_when_lines_move() {
    let folder = Folder::with_files(&[("a.mlir", TUTORIAL)]);
    let print = || {
        let out = folder.run(&["--output-format", "gitlab"]).out;
        let found: serde_json::Value = serde_json::from_str(&out).expect("JSON");
        found[0]["fingerprint"].clone()
    };
    let before = print();
    folder.write("a.mlir", format!("// One more line.\n\n{TUTORIAL}"));
    assert_eq!(print(), before);
    assert!(before.is_string());
}

#[test]
fn github() {
    check(
        "github",
        &expect![[r#"
            ::error title=noisy (noise-overflow),file=a/tutorial.mlir,line=7,col=8,endLine=7,endColumn=24::a/tutorial.mlir:7:8: noise-overflow %255: noise may reach 48 bits, 22 over the 26-bit budget
            ::error title=noisy (undefined-value),file=b & c.mlir,line=1,col=7,endLine=1,endColumn=9::b & c.mlir:1:7: undefined-value use of undefined value %25u
        "#]],
    );
}

#[test]
fn gitlab() {
    check(
        "gitlab",
        &expect![[r#"
            [
            {"check_name":"noise-overflow","description":"%5: noise may reach 48 bits, 22 over the 26-bit budget","fingerprint":"13ccbc232db3252c","location":{"path":"a/tutorial.mlir","positions":{"begin":{"column":8,"line":7},"end":{"column":24,"line":7}}},"severity":"major"},
            {"check_name":"undefined-value","description":"use of undefined value %u","fingerprint":"2248980e2d65f047","location":{"path":"b & c.mlir","positions":{"begin":{"column":7,"line":1},"end":{"column":9,"line":1}}},"severity":"major"}
            ]
        "#]],
    );
}

#[test]
fn junit() {
    check(
        "junit",
        &expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="noisy-check">
              <testsuite name="a/clean.mlir" tests="1" failures="0" errors="0" skipped="0">
                <testcase name="a/clean.mlir" classname="noisy-check"/>
              </testsuite>
              <testsuite name="a/tutorial.mlir" tests="1" failures="1" errors="0" skipped="0">
                <testcase name="noise-overflow 7:8" classname="a/tutorial.mlir">
                  <failure type="error" message="%5: noise may reach 48 bits, 22 over the 26-bit budget">a/tutorial.mlir:7:8: noise-overflow: %5: noise may reach 48 bits, 22 over the 26-bit budget</failure>
                </testcase>
              </testsuite>
              <testsuite name="b &amp; c.mlir" tests="1" failures="1" errors="0" skipped="0">
                <testcase name="undefined-value 1:7" classname="b &amp; c.mlir">
                  <failure type="error" message="use of undefined value %u">b &amp; c.mlir:1:7: undefined-value: use of undefined value %u</failure>
                </testcase>
              </testsuite>
            </testsuites>
        "#]],
    );
}

#[test]
fn checkstyle() {
    check(
        "checkstyle",
        &expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <checkstyle version="4.3">
              <file name="a/tutorial.mlir">
                <error line="7" column="8" severity="error" message="%5: noise may reach 48 bits, 22 over the 26-bit budget" source="noisy.noise-overflow"/>
              </file>
              <file name="b &amp; c.mlir">
                <error line="1" column="7" severity="error" message="use of undefined value %u" source="noisy.undefined-value"/>
              </file>
            </checkstyle>
        "#]],
    );
}

#[test]
fn rdjson() {
    check(
        "rdjson",
        &expect![[r#"
            {"source":{"name":"noisy-check"},"diagnostics":[
            {"code":{"value":"noise-overflow"},"location":{"path":"a/tutorial.mlir","range":{"end":{"column":24,"line":7},"start":{"column":8,"line":7}}},"message":"%5: noise may reach 48 bits, 22 over the 26-bit budget","severity":"ERROR"},
            {"code":{"value":"undefined-value"},"location":{"path":"b & c.mlir","range":{"end":{"column":12,"line":1},"start":{"column":10,"line":1}}},"message":"use of undefined value %u","severity":"ERROR"}
            ]}
        "#]],
    );
}

#[test]
fn formats_are_valid_without_findings() {
    let folder = Folder::with_files(&[("clean.mlir", CLEAN)]);
    for format in ["json", "gitlab", "sarif", "rdjson"] {
        let run = folder.run(&["--output-format", format]);
        assert_eq!(run.code, 0);
        assert!(
            serde_json::from_str::<serde_json::Value>(&run.out).is_ok(),
            "{format}: {}",
            run.out
        );
    }
    for format in ["json-lines", "github"] {
        assert_eq!(folder.run(&["--output-format", format]).out, "", "{format}");
    }
}

#[test]
fn the_format_may_come_from_the_environment() {
    let folder = Folder::with_files(&[("clean.mlir", CLEAN)]);
    assert_eq!(folder.run_with(&[], "", &[("NOISY_OUTPUT_FORMAT", "json")]).out, "[\n\n]\n");
    assert_eq!(folder.run_with(&[], "", &[("NOISY_OUTPUT_FORMAT", "cuneiform")]).code, 2);
}

#[test]
fn colors_when_wanted() {
    let folder = Folder::with_files(&[("tutorial.mlir", TUTORIAL)]);
    let colored =
        |args: &[&str], env: &[(&str, &str)]| folder.run_with(args, "", env).out.contains('\u{1b}');
    assert!(!colored(&[], &[]), "not into a pipe");
    folder.write(
        "hint.mlir",
        "func.func @f(%a: !noisy.i32) { %0 = noisy.reduce_noise %a : !noisy.i32 return }",
    );
    assert!(!colored(&["hint.mlir"], &[]) && colored(&["hint.mlir", "--color", "always"], &[]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn draws_unusual_lines() {
    let long = format!(
        "\"t.a\"() {{s = \"{}\"}} : () -> () \"t.b\"(%u) : (i32) -> ()\n",
        "x".repeat(100_000)
    );
    for text in [
        "\"t.a\"(%u) : (i32) -> () // \u{2028}\u{85}\u{c}\u{b}\n\"t.b\"(%v) : (i32) -> ()",
        "\"t.a\"(%u)\r\n: (i32) -> ()\r\r\n\"t.b\"(%v) : (i32) -> ()\r",
        "\t\"t.\u{4e2d}\"(%u) : (i32) -> ()",
        "func.func @f(",
        "}",
        "\u{feff}}",
        "\0",
        &long,
    ] {
        let folder = Folder::with_files(&[("a.mlir", text)]);
        let run = folder.run(&["a.mlir"]);
        assert_eq!(run.err, "", "{text:.60}");
        assert!(run.code == 1 || text == "\0", "{text:.60}: {run:?}");
        assert!(run.out.len() < 5000, "{text:.60}");
    }
}

#[test]
fn statistics_count_the_codes() {
    let folder =
        Folder::with_files(&[("a.mlir", UNDEFINED), ("b.mlir", UNDEFINED), ("c.mlir", TUTORIAL)]);
    let run = folder.run(&["--statistics", "--output-format", "json-lines"]);
    assert_eq!(run.err, "       2  undefined-value\n       1  noise-overflow\n");
}

#[test]
fn statistics_show_the_proof_of_a_placement() {
    let folder = Folder::with_files(&[("c.mlir", TUTORIAL)]);
    let run = folder.run(&["--fix", "--statistics", "--output-format", "json-lines"]);
    let proof = "c.mlir: @tutorial: cost 3, proven lower bound 3; conflict cores prove 3 of it; disjoint cores: 3\n";
    assert!(run.err.contains(proof), "{run:?}");
    let line = run.out.lines().find(|it| it.contains("\"placement\"")).expect("an object");
    let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
    let expected = serde_json::json!({
        "functions": ["tutorial"], "inserted": 3, "removed": 0, "cost": 3, "lower_bound": 3,
        "certified": 3, "unit": 1, "disjoint_cores": 3,
    });
    assert_eq!(object["placement"], expected);
    // Without the option, no placement is printed.
    let folder = Folder::with_files(&[("c.mlir", TUTORIAL)]);
    assert!(!folder.run(&["--fix", "--output-format", "json-lines"]).out.contains("placement"));
}

#[test]
fn a_long_chain_shows_the_number_of_omitted_steps() {
    let ops: Vec<String> =
        (1..40).map(|n| format!("  %{n} = noisy.add %{}, %a : !noisy.i32\n", n - 1)).collect();
    let ops = ops.concat();
    let text = format!(
        "func.func @f(%a: !noisy.i32) -> !noisy.i32 {{\n  %0 = noisy.add %a, %a : !noisy.i32\n{ops}  return %39 : !noisy.i32\n}}\n"
    );
    let folder = Folder::with_files(&[("a.mlir", &text)]);
    let run = folder.run(&["a.mlir"]);
    let steps = run.out.lines().filter(|it| it.contains("╰─") && it.contains(": ")).count();
    let left_out = run
        .out
        .split_once("... ")
        .and_then(|it| it.1.split_once(" steps not shown"))
        .map(|it| it.0);
    let left_out: usize = left_out.expect("a gap").parse().expect("a number");
    // %a has 12 bits, and each addition adds one: the fifteenth has 27.
    assert_eq!(steps + left_out, 16, "{}", run.out);
    assert!(run.out.contains("a.mlir:16:"), "{}", run.out);
}

#[test]
fn grouped() {
    let folder =
        Folder::with_files(&[("a/x.mlir", UNDEFINED), ("b.mlir", UNDEFINED), ("c.mlir", CLEAN)]);
    let run = folder.run(&["--output-format", "grouped"]);
    let line = "  1:7 error[undefined-value] use of undefined value %u\n\n";
    assert_eq!(run.out, format!("a/x.mlir:\n{line}b.mlir:\n{line}2 errors in 2 of 3 files.\n"));
}

#[test]
fn azure() {
    let folder = Folder::with_files(&[("50%;[a].mlir", UNDEFINED)]);
    let run = folder.run(&["--output-format", "azure"]);
    assert_eq!(
        run.out,
        "##vso[task.logissue type=error;sourcepath=50%AZP25%3B[a%5D.mlir;linenumber=1;columnnumber=7;code=undefined-value;]\
         use of undefined value %AZP25u\n"
    );
}

//! An edit allocates memory in proportion to its size: it copies no table of the size of the file.

use noisy_analyses::Document;

/// Returns a function with `n` ops of the kind `shape`. Each op uses the result of the preceding
/// op, because a long list of uses of one value would be reallocated.
fn program(shape: &str, n: usize) -> String {
    let line = |k: usize| {
        let m = k + 1;
        match shape {
            "noisy" => format!("  %v{m} = noisy.add %v{k}, %v{k} : !noisy.i32\n"),
            "constants" => format!("  %v{m} = arith.constant {k} : i64\n"),
            "loops" => format!(
                "  %v{m} = arith.constant true\n  scf.if %v{m} {{\n    %w{k} = arith.constant 1 : i8\n  }}\n"
            ),
            "blocks" => {
                format!("  cf.br ^bb{k}(%v{k} : !noisy.i32)\n^bb{k}(%v{m}: !noisy.i32):\n")
            }
            _ => format!("  %v{m} = \"t.op{k}\"() {{a{k} = #t.a<{k}>}} : () -> !t.b<{k}>\n"),
        }
    };
    let body: String = (0..n).map(line).collect();
    format!("{HEAD}{body}  return\n}}\n")
}

const HEAD: &str = "func.func @f(%a: !noisy.i32, %v0: !noisy.i32, %c: i1) {\n";

/// Makes edits after the first op, such as lines with new names. Returns the largest number of
/// bytes that an edit allocates.
fn most_allocated(shape: &str, n: usize) -> u64 {
    let mut text = program(shape, n);
    let mut document = Document::new(&text);
    let mut most = 0;
    let mut edit = |at: usize, old: &str, new: &str| {
        assert_eq!(&text[at..at + old.len()], old);
        text.replace_range(at..at + old.len(), new);
        let count = allocation_counter::measure(|| {
            document.edit(at..at + old.len(), new);
        });
        most = most.max(count.bytes_total);
    };
    let body = HEAD.len();
    for k in 0..8 {
        let line = format!("  %new{k} = noisy.add %a, %a : !noisy.i32\n");
        edit(body, "", &line);
        let at = body + line.find("add").expect("an op");
        edit(at, "add", &format!("addx{k}"));
        edit(at, &format!("addx{k}"), "mul");
        edit(body, "", &format!("  %one{k} = arith.constant {k} : i{}\n", 9 + k));
        edit(body, "", &format!("  scf.if %c {{\n    \"t.new{k}\"() : () -> !t.new<{k}>\n  }}\n"));
    }
    most
}

#[test]
fn allocations_of_edits_do_not_grow_with_the_file() {
    // A copy of a table with 12,000 entries of one byte would exceed this.
    let slack = 8_000;
    for shape in ["noisy", "constants", "loops", "blocks", "unknown"] {
        let few = most_allocated(shape, 1_000);
        for n in [12_000, 16_384] {
            let many = most_allocated(shape, n);
            assert!(many < few + slack, "{shape}: {few} bytes with 1000 ops, {many} with {n}");
        }
    }
}

/// Returns a switch over a known value, with an error in every case.
fn switch(n: usize) -> String {
    let case = |k: usize| format!("  case {k} {{\n    scf.yield %undefined : i32\n  }}\n");
    let cases: String = (0..n).map(case).collect();
    format!(
        "func.func @f() -> i32 {{\n  %i = arith.constant 1 : index\n  %0 = scf.index_switch %i -> i32\n{cases}  \
         default {{\n    scf.yield %undefined : i32\n  }}\n  return %0 : i32\n}}\n"
    )
}

/// Like [`switch`], with blocks.
fn switch_of_blocks(n: usize) -> String {
    let (mut ways, mut cases) = (String::new(), String::new());
    for k in 0..n {
        ways += &format!(",\n    {k}: ^case{k}");
        cases += &format!("^case{k}:\n  return %undefined : i32\n");
    }
    format!(
        "func.func @f() -> i32 {{\n  %i = arith.constant 1 : i32\n  cf.switch %i : i32, [\n    default: ^case0{ways}\n  ]\n{cases}}}\n"
    )
}

#[test]
fn a_switch_costs_in_proportion_to_its_cases() {
    for program in [switch, switch_of_blocks] {
        let allocated = |n: usize| {
            let text = program(n);
            let mut found = 0;
            let count =
                allocation_counter::measure(|| found = Document::new(&text).diagnostics().len());
            assert!(found > 0);
            count.bytes_total
        };
        // Creates static data before the measurement.
        allocated(10);
        let (few, many) = (allocated(2_000), allocated(8_000));
        assert!(many < 6 * few, "{few} bytes with 2000 cases, {many} with 8000");
    }
}

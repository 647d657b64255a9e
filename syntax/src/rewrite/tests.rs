//! Tests of the laws of programs without text, with examples and random scripts.

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::{Region, Source, print};

/// Checks that all tables agree with the ops.
pub(crate) fn check_tables(ir: &Ir) {
    let mut uses: Vec<(Value, (Op, u32))> = Vec::new();
    let mut preds: Vec<(Block, (Op, u32))> = Vec::new();
    let mut n_ops = 0;
    let mut regions = vec![ir.root()];
    let mut alive: Vec<Value> = Vec::new();
    let mut blocks: Vec<Block> = Vec::new();
    while let Some(region) = regions.pop() {
        for op in ir.items(region) {
            n_ops += 1;
            let data = ir.op(op);
            assert!(ir.is_alive(op), "{op:?} is in the program and alive");
            assert_eq!(data.parent, region);
            for (index, operand) in data.operands.iter().enumerate() {
                let Some(value) = operand.value else { continue };
                uses.push((value, (op, index as u32)));
                assert_eq!(ir.value(value).uses[operand.slot as usize], (op, index as u32));
                assert_eq!(operand.ty, ir.value(value).ty);
            }
            for (index, successor) in ir.extra(op).successors.iter().enumerate() {
                let Some(block) = successor.block else { continue };
                preds.push((block, (op, index as u32)));
                assert!(successor.operands.end as usize <= data.operands.len());
            }
            if data.kind == OpKind::Label {
                let block = ir.label_block(op);
                assert_eq!(ir.block(block).label, Some(op));
                assert_eq!(ir.block(block).region, region);
                assert_eq!(ir.block(block).args.as_slice(), data.results.as_slice());
                for (index, &it) in ir.block(block).args.iter().enumerate() {
                    assert_eq!(ir.value(it).def, Def::Argument(block, index as u32));
                    alive.push(it);
                }
                blocks.push(block);
            } else {
                for (index, &it) in data.results.iter().enumerate() {
                    assert_eq!(ir.value(it).def, Def::Result(op, index as u32));
                    alive.push(it);
                }
            }
            if let Some((name, _)) = ir.extra(op).symbol {
                assert!(ir.symbol_defs(region, name).contains(&op));
            }
            for &(last, _, _) in &ir.extra(op).symbol_uses {
                assert!(ir.symbol_users(last).contains(&op));
            }
            for &(_, inner) in &data.regions {
                assert_eq!(ir.region(inner).parent, Some(op));
                regions.push(inner);
            }
        }
    }
    let mut found: Vec<_> =
        alive.iter().flat_map(|&it| ir.value(it).uses.iter().map(move |&by| (it, by))).collect();
    found.sort_unstable();
    uses.sort_unstable();
    assert_eq!(found, uses, "the uses of values are the operands");
    let mut found: Vec<_> =
        blocks.iter().flat_map(|&it| ir.block(it).preds.iter().map(move |&by| (it, by))).collect();
    found.sort_unstable();
    preds.sort_unstable();
    assert_eq!(found, preds, "the predecessors of blocks are the successors");
    for (region, name) in ir.all_symbols() {
        let defs = ir.symbol_defs(region, name);
        assert!(defs.iter().all(|&it| ir.is_alive(it) && ir.op(it).parent == region));
        assert!(defs.windows(2).all(|it| ir.is_before(it[0], it[1])));
    }
    assert_eq!(ir.n_slots().0, n_ops + ir.free_ops.len(), "what is not in the program is free");
}

/// Checks that the printed program parses to an equal program, in both forms.
fn check_print(ir: &Ir) {
    let generic = print::generic(ir);
    for text in [&generic, &print::custom(ir)] {
        let again = Source::new(text);
        assert_eq!(print::generic(again.ir()), generic, "{text}");
        assert_eq!(print::generic(&again.into_ir()), generic, "{text}");
    }
}

fn check_printed(ir: &Ir, expected: &Expect) {
    check_tables(ir);
    check_print(ir);
    expected.assert_eq(&print::custom(ir));
}

fn read(text: &str) -> Ir {
    let source = Source::new(text);
    assert!(source.problems().is_empty(), "{:?}", source.problems());
    let ir = source.into_ir();
    check_tables(&ir);
    ir
}

fn find(ir: &Ir, name: &str) -> Op {
    let mut found = None;
    ir.walk(ir.root(), &mut |op| {
        if ir.op_name(op) == name && found.is_none() {
            found = Some(op);
        }
    });
    found.expect("the op is there")
}

const LOOP: &str = "func.func @f(%n: index, %x: !noisy.i32) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (!noisy.i32) {
    %s = noisy.add %a, %x : !noisy.i32
    scf.yield %s : !noisy.i32
  }
  scf.for %i = %c0 to %n step %c1 {
    affine.for %j = 0 to 4 {
    }
  }
  return %r : !noisy.i32
}
func.func private @g(i32)
";

#[test]
fn detaching_adds_implicit_parts() {
    let text = Source::new(LOOP);
    let generic = print::generic(text.ir());
    let ir = read(LOOP);
    assert_eq!(print::generic(&ir), generic);
    assert_eq!(ir.verify(), []);
    let origin = ir.origin(find(&ir, "noisy.add")).expect("it was read");
    assert_eq!(&LOOP[origin], "%s = noisy.add %a, %x : !noisy.i32");
    let yields = |ir: &Ir| {
        let mut n = 0;
        ir.walk(ir.root(), &mut |op| n += usize::from(ir.op_name(op).ends_with(".yield")));
        n
    };
    assert_eq!((yields(text.ir()), yields(&ir)), (1, 3));
    check_print(&ir);
}

#[test]
fn ops_are_built_inserted_and_rewired() {
    let mut ir = read(LOOP);
    let add = find(&ir, "noisy.add");
    let result = ir.op(add).results[0];
    let reduce = NewOp::new("noisy.reduce_noise").operands(&[result]).results(&[Type::NOISY]);
    let reduce = ir.insert(reduce, InsertionPoint::After(add));
    let reduced = ir.op(reduce).results[0];
    ir.replace_uses_if(result, reduced, |op, _| op != reduce);
    assert_eq!(ir.verify(), []);
    check_printed(
        &ir,
        &expect![[r#"
        module {
          func.func @f(%arg0: index, %arg1: !noisy.i32) -> !noisy.i32 {
            %0 = arith.constant 0 : index
            %1 = arith.constant 1 : index
            %2 = scf.for %arg2 = %0 to %arg0 step %1 iter_args(%arg3 = %arg1) -> (!noisy.i32) {
              %3 = noisy.add %arg3, %arg1 : !noisy.i32
              %4 = noisy.reduce_noise %3 : !noisy.i32
              scf.yield %4 : !noisy.i32
            }
            scf.for %arg2 = %0 to %arg0 step %1 {
              affine.for %arg3 = 0 to 4 {
              }
            }
            return %2 : !noisy.i32
          }
          func.func private @g(i32)
        }
    "#]],
    );
}

#[test]
fn branches_store_segment_sizes() {
    let mut ir = Ir::new();
    let top = InsertionPoint::End(ir.top_block());
    let (func, entry) = Builder::new(&mut ir, top).insert_func("f", &[Type::I1, Type::INDEX], &[]);
    let body = ir.op(func).regions[0].1;
    let target = ir.add_block(body, &[Type::INDEX]);
    let end = ir.add_block(body, &[]);
    let args = ir.block(entry).args.clone();
    let mut builder = Builder::new(&mut ir, InsertionPoint::End(entry));
    let branch = NewOp::new("cf.cond_br").operands(&args[..1]);
    let branch = builder.insert(branch.successor(target, &args[1..]).successor(end, &[]));
    builder.set_insertion_point(InsertionPoint::End(target));
    builder.insert(NewOp::new("cf.br").successor(end, &[]));
    builder.set_insertion_point(InsertionPoint::End(end));
    builder.insert(NewOp::new("func.return"));
    assert_eq!(ir.verify(), []);
    check_printed(
        &ir,
        &expect![[r#"
        module {
          func.func @f(%arg0: i1, %arg1: index) {
            cf.cond_br %arg0, ^bb1(%arg1 : index), ^bb2
          ^bb1(%0: index):
            cf.br ^bb2
          ^bb2:
            return
          }
        }
    "#]],
    );
    // Adds an argument, and passes a value for it.
    let argument = ir.add_argument(end, Type::I1);
    ir.set_successor(branch, 1, end, &args[..1]);
    let jump = ir.block(end).preds.iter().find(|it| it.0 != branch).map(|it| it.0);
    ir.set_successor(jump.expect("the other branch"), 0, end, &args[..1]);
    ir.set_operands(branch, &args[..1]);
    assert_eq!(ir.verify(), []);
    check_printed(
        &ir,
        &expect![[r#"
        module {
          func.func @f(%arg0: i1, %arg1: index) {
            cf.cond_br %arg0, ^bb1(%arg1 : index), ^bb2(%arg0 : i1)
          ^bb1(%0: index):
            cf.br ^bb2(%arg0 : i1)
          ^bb2(%1: i1):
            return
          }
        }
    "#]],
    );
    assert_eq!(ir.erase_block(end), Err(InUse::Block(end)));
    assert_eq!(ir.erase_argument(end, 0), Ok(()));
    assert_eq!(ir.value(argument).uses.len(), 0);
    assert!(!ir.verify().is_empty(), "the branches pass an argument too many");
}

#[test]
fn does_not_erase_used_ops() {
    let mut ir = read(LOOP);
    let constant = find(&ir, "arith.constant");
    let value = ir.op(constant).results[0];
    assert_eq!(ir.erase(constant), Err(InUse::Value(value)));
    let func = find(&ir, "func.func");
    ir.erase(func).expect("nothing outside uses what is in it");
    check_printed(
        &ir,
        &expect![[r#"
        module {
          func.func private @g(i32)
        }
    "#]],
    );
}

#[test]
fn moves_ops_with_their_contents() {
    let mut ir = read(LOOP);
    let outer = find(&ir, "scf.for");
    let inner = find(&ir, "affine.for");
    ir.move_op(inner, InsertionPoint::Before(outer));
    assert_eq!(ir.verify(), []);
    check_printed(
        &ir,
        &expect![[r#"
        module {
          func.func @f(%arg0: index, %arg1: !noisy.i32) -> !noisy.i32 {
            %0 = arith.constant 0 : index
            %1 = arith.constant 1 : index
            affine.for %arg2 = 0 to 4 {
            }
            %2 = scf.for %arg2 = %0 to %arg0 step %1 iter_args(%arg3 = %arg1) -> (!noisy.i32) {
              %3 = noisy.add %arg3, %arg1 : !noisy.i32
              scf.yield %3 : !noisy.i32
            }
            scf.for %arg2 = %0 to %arg0 step %1 {
            }
            return %2 : !noisy.i32
          }
          func.func private @g(i32)
        }
    "#]],
    );
}

#[test]
fn blocks_are_split() {
    let mut ir = read("func.func @f(%a: i1) {\n  %b = arith.addi %a, %a : i1\n  return\n}");
    let ret = find(&ir, "func.return");
    let block = ir.block_of(ret);
    let after = ir.split_before(ret, &[]);
    assert!(!ir.verify().is_empty(), "the first block has no terminator");
    ir.insert(NewOp::new("cf.br").successor(after, &[]), InsertionPoint::End(block));
    assert_eq!(ir.verify(), []);
    check_printed(
        &ir,
        &expect![[r#"
        module {
          func.func @f(%arg0: i1) {
            %0 = arith.addi %arg0, %arg0 : i1
            cf.br ^bb1
          ^bb1:
            return
          }
        }
    "#]],
    );
}

#[test]
fn symbols_follow_their_attributes() {
    let mut ir =
        read("func.func @f() {\n  call @g() : () -> ()\n  return\n}\nfunc.func private @g()");
    let name = ir.interner.intern_name("h");
    let attr = ir.interner.intern_attr(AttrData::String(name, None));
    let mut ops = ir.functions();
    let g = ops.pop().expect("two functions");
    ir.set_attr(g, "sym_name", attr);
    check_tables(&ir);
    let codes: Vec<_> = ir.verify().iter().map(|it| it.1.code).collect();
    assert_eq!(codes, [crate::Code::UnknownFunction]);
    let callee = ir.interner.intern_attr(AttrData::Symbol([name].into()));
    let call = find(&ir, "func.call");
    ir.set_attr(call, "callee", callee);
    assert_eq!(ir.verify(), []);
    assert_eq!(ir.symbol_users(name), [call]);
}

/// One step of a random script: the action, and three numbers that select its operands.
type ScriptStep = (u8, u32, u32, u32);

/// Runs a step if it is possible. Values are used only where their names are visible.
fn run_step(ir: &mut Ir, (what, a, b, c): ScriptStep) {
    let mut ops = Vec::new();
    ir.walk(ir.root(), &mut |op| ops.push(op));
    let mut blocks: Vec<Block> = vec![ir.top_block()];
    let mut regions: Vec<Region> = Vec::new();
    for &op in &ops {
        for &(_, region) in &ir.op(op).regions {
            regions.push(region);
            let labeled = ir.blocks(region).into_iter();
            blocks.extend(labeled.filter(|it| ir.block(*it).label.is_some()));
        }
    }
    let pick = |n: usize, by: u32| (n > 0).then(|| by as usize % n);
    let block = blocks[a as usize % blocks.len()];
    let op = pick(ops.len(), a).map(|it| ops[it]);
    // Values whose printed names are visible in a region. An isolated op numbers its own values
    // from 0.
    let visible = |ir: &Ir, region: Region| -> Vec<Value> {
        let mut out = Vec::new();
        let mut add = |values: &[Value], at: Region| {
            let mut inner = region;
            while inner != at {
                match ir.region(inner).parent {
                    Some(op) if !ir.op(op).kind.has(crate::Traits::ISOLATED) => {
                        inner = ir.op(op).parent;
                    }
                    _ => return,
                }
            }
            out.extend_from_slice(values);
        };
        for &block in &blocks {
            add(&ir.block(block).args, ir.block(block).region);
        }
        for &op in &ops {
            add(&ir.op(op).results, ir.op(op).parent);
        }
        out
    };
    match what % 12 {
        0..=2 => {
            let values = visible(ir, ir.block(block).region);
            let operands: Vec<Value> =
                (0..c % 3).filter_map(|n| pick(values.len(), b + n).map(|it| values[it])).collect();
            let types = [Type::I1, Type::INDEX];
            let new = NewOp::new("x.y").operands(&operands).results(&types[..(b % 3) as usize]);
            ir.insert(new.regions((c % 5 / 4) as usize), InsertionPoint::End(block));
        }
        3 => {
            if let Some(at) = pick(regions.len(), a) {
                ir.add_block(regions[at], &[Type::I1][..(b % 2) as usize]);
            }
        }
        4 => {
            if let Some(op) = op {
                let _ = ir.erase(op);
            }
        }
        5 => {
            if let (Some(op), false) = (op, ir.block(block).label.is_none() && b % 4 > 0) {
                // Only if the op may be moved there, and its results remain visible to their users.
                let other = blocks[b as usize % blocks.len()];
                let to = ir.block(other).region;
                let inside = ir.op(op).regions.iter().any(|&(_, it)| ir.region_encloses(it, to));
                let users_see =
                    ir.op(op).results.iter().all(|&it| {
                        ir.value(it).uses.iter().all(|&(user, _)| ir.encloses(to, user))
                    });
                if !inside && users_see && to == ir.op(op).parent {
                    let at = if c % 2 == 0 {
                        InsertionPoint::Start(other)
                    } else {
                        InsertionPoint::End(other)
                    };
                    ir.move_op(op, at);
                }
            }
        }
        6 => {
            if let Some(op) = op.filter(|it| !ir.op(*it).operands.is_empty()) {
                let values = visible(ir, ir.op(op).parent);
                let index = b as usize % ir.op(op).operands.len();
                if let Some(at) = pick(values.len(), c) {
                    ir.set_operand(op, index, values[at]);
                }
            }
        }
        7 => {
            if let Some(op) = op {
                let values = visible(ir, ir.op(op).parent);
                let operands: Vec<Value> =
                    values.into_iter().skip(b as usize % 4).take((c % 4) as usize).collect();
                ir.set_operands(op, &operands);
            }
        }
        8 => {
            if let Some(op) = op {
                let block = ir.block_of(op);
                if ir.block(block).label.is_some() {
                    ir.split_before(op, &[]);
                }
            }
        }
        9 => {
            if ir.block(block).label.is_some() {
                let _ = if b % 2 == 0 {
                    ir.add_argument(block, Type::I1);
                    Ok(())
                } else if ir.block(block).args.is_empty() {
                    ir.erase_block(block)
                } else {
                    ir.erase_argument(block, c as usize % ir.block(block).args.len())
                };
            }
        }
        10 => {
            if let Some(op) = op {
                let unit = Attr::UNIT;
                let name = ["a", "sym_name", "b.c"][b as usize % 3];
                if c % 3 == 0 {
                    ir.remove_attr(op, name);
                } else {
                    ir.set_attr(op, name, unit);
                }
            }
        }
        _ => {
            // A branch to a block of the same region other than the first.
            let region = ir.block(block).region;
            let targets: Vec<Block> = ir
                .blocks(region)
                .into_iter()
                .skip(1)
                .filter(|it| ir.block(*it).label.is_some())
                .collect();
            if let Some(at) = pick(targets.len(), b) {
                let values = visible(ir, region);
                let passed: Vec<Value> = values.into_iter().take((c % 3) as usize).collect();
                ir.insert(
                    NewOp::new("cf.br").successor(targets[at], &passed),
                    InsertionPoint::End(block),
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_scripts_keep_the_laws(steps in prop::collection::vec(any::<ScriptStep>(), 1..60)) {
        let mut ir = read(LOOP);
        let mut done = String::new();
        for it in steps {
            let _ = writeln!(done, "{it:?}");
            run_step(&mut ir, it);
            check_tables(&ir);
        }
        let generic = print::generic(&ir);
        let again = Source::new(&generic);
        prop_assert_eq!(print::generic(again.ir()), generic.clone(), "{}", done);
        let custom = print::custom(&ir);
        let again = Source::new(&custom);
        prop_assert_eq!(print::generic(again.ir()), generic, "{}\n{}", done, custom);
    }
}

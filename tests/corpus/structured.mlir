// scf: loops, branches, while, switch, parallel.
func.func @for(%n: index, %a: i32) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    "ex.use"(%i) : (index) -> ()
  }
  %0 = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (i32) {
    %1 = arith.addi %x, %x : i32
    scf.yield %1 : i32
  }
  %2:2 = scf.for %i = %zero to %n step %one iter_args(%x = %0, %y = %a) -> (i32, i32) {
    scf.yield %y, %x : i32, i32
  }
  return %2#0 : i32
}
// -----
func.func @typed_for(%lower: i32, %upper: i32, %step: i32) {
  scf.for %i = %lower to %upper step %step : i32 {
    "ex.use"(%i) : (i32) -> ()
  }
  return
}
// -----
func.func @if(%c: i1, %a: i32) -> i32 {
  scf.if %c {
    "ex.then"() : () -> ()
  }
  scf.if %c {
    "ex.then"() : () -> ()
  } else {
    "ex.else"() : () -> ()
  }
  %0:2 = scf.if %c -> (i32, i32) {
    scf.yield %a, %a : i32, i32
  } else {
    %1 = arith.addi %a, %a : i32
    scf.yield %1, %a : i32, i32
  }
  return %0#1 : i32
}
// -----
func.func @while(%a: i32, %limit: i32) -> i32 {
  %0 = scf.while (%x = %a) : (i32) -> i32 {
    %c = arith.cmpi slt, %x, %limit : i32
    scf.condition(%c) %x : i32
  } do {
  ^bb0(%y: i32):
    %1 = arith.addi %y, %y : i32
    scf.yield %1 : i32
  }
  scf.while : () -> () {
    %t = arith.constant true
    scf.condition(%t)
  } do {
    scf.yield
  }
  return %0 : i32
}
// -----
func.func @switch(%i: index) -> i32 {
  %0 = scf.index_switch %i -> i32
  case 2 {
    %1 = arith.constant 10 : i32
    scf.yield %1 : i32
  }
  case 5 {
    %2 = arith.constant 20 : i32
    scf.yield %2 : i32
  }
  default {
    %3 = arith.constant 30 : i32
    scf.yield %3 : i32
  }
  return %0 : i32
}
// -----
func.func @parallel(%n: index, %x: f32) -> f32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.parallel (%i, %j) = (%zero, %zero) to (%n, %n) step (%one, %one) {
    "ex.use"(%i, %j) : (index, index) -> ()
    scf.reduce
  }
  %0 = scf.parallel (%i) = (%zero) to (%n) step (%one) init (%x) -> f32 {
    scf.reduce(%x : f32) {
    ^bb0(%a: f32, %b: f32):
      %1 = arith.addf %a, %b : f32
      scf.reduce.return %1 : f32
    }
  }
  return %0 : f32
}
// -----
func.func @execute(%a: i32) -> i32 {
  %0 = scf.execute_region -> i32 {
    cf.br ^bb1(%a : i32)
  ^bb1(%x: i32):
    scf.yield %x : i32
  }
  return %0 : i32
}

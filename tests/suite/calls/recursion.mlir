// Each turn adds one: over in the end.
func.func @adds(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.if %c -> (!noisy.i32) {  // noise: over
    %1 = func.call @adds(%a, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
    %2 = noisy.add %1, %a : !noisy.i32  // noise: over
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 27 bits at recursion depth 16, 1 over the 26-bit budget
    scf.yield %2 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %0 : !noisy.i32
}

// Each turn reduces: legal.
func.func @reduces(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.if %c -> (!noisy.i32) {  // noise: 12
    %1 = func.call @reduces(%a, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
    %2 = noisy.mul %1, %a : !noisy.i32  // noise: 24
    %3 = noisy.reduce_noise %2 : !noisy.i32  // noise: 12
    scf.yield %3 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %0 : !noisy.i32
}

// On the way down: each call is a context of its own.
func.func @down(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: over
  %0 = scf.if %c -> (!noisy.i32) {  // noise: over
    %1 = noisy.add %a, %a : !noisy.i32  // noise: over
    //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %1: noise may reach 27 bits, 1 over the 26-bit budget
    %2 = func.call @down(%1, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
    scf.yield %2 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %0 : !noisy.i32
}

// Two that call each other and stay in bounds.
func.func @even(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = scf.if %c -> (!noisy.i32) {  // noise: 12
    %1 = func.call @odd(%a, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: 24
    %2 = noisy.reduce_noise %1 : !noisy.i32  // noise: 12
    scf.yield %2 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  return %0 : !noisy.i32
}

func.func private @odd(%a: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 12
  %0 = call @even(%a, %c) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  %1 = noisy.mul %0, %a : !noisy.i32  // noise: 24
  return %1 : !noisy.i32
}

// Never returns: what follows is never computed.
func.func @forever(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = call @forever(%a) : (!noisy.i32) -> !noisy.i32  // noise: unreached
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unreached
  return %1 : !noisy.i32
}

// A function in the midst of one of its contexts is entered in the other: (12, 14) and (14, 12) stay apart.
func.func private @swaps(%a: !noisy.i32, %b: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 14, 14
  %0 = scf.if %c -> (!noisy.i32) {  // noise: 14
    %1 = func.call @swaps(%b, %a, %c) : (!noisy.i32, !noisy.i32, i1) -> !noisy.i32  // noise: 12
    scf.yield %1 : !noisy.i32
  } else {
    scf.yield %a : !noisy.i32
  }
  %2 = noisy.mul %a, %b : !noisy.i32  // noise: 26
  %3 = noisy.reduce_noise %2 : !noisy.i32  // noise: 12
  return %3 : !noisy.i32
}

func.func @swapped(%a: !noisy.i32, %n: !noisy.i32 {noisy.bound = 14 : i64}, %c: i1) -> !noisy.i32 {  // noise: 12, 14
  %0 = call @swaps(%a, %n, %c) : (!noisy.i32, !noisy.i32, i1) -> !noisy.i32  // noise: 12
  return %0 : !noisy.i32
}

// The same in a cycle of blocks, in which the function calls itself with another noise.
func.func private @rounds(%a: !noisy.i32, %b: !noisy.i32, %c: i1) -> !noisy.i32 {  // noise: 14, 14
  cf.br ^bb1(%a : !noisy.i32)
^bb1(%0: !noisy.i32):  // noise: 14
  %1 = func.call @rounds(%b, %a, %c) : (!noisy.i32, !noisy.i32, i1) -> !noisy.i32  // noise: 14
  %2 = noisy.mul %a, %b : !noisy.i32  // noise: 26
  %3 = noisy.reduce_noise %2 : !noisy.i32  // noise: 12
  cf.cond_br %c, ^bb1(%3 : !noisy.i32), ^bb2
^bb2:
  return %0 : !noisy.i32
}

func.func @rounded(%a: !noisy.i32, %n: !noisy.i32 {noisy.bound = 14 : i64}, %c: i1) -> !noisy.i32 {  // noise: 12, 14
  %0 = call @rounds(%a, %n, %c) : (!noisy.i32, !noisy.i32, i1) -> !noisy.i32  // noise: 12
  return %0 : !noisy.i32
}

// -----

// What a recursion inside of a recursion finds counts for the one around: what @d returns was found late.
func.func @h(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %1 = func.call @a(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
  %2 = func.call @b(%1) : (!noisy.i32) -> !noisy.i32  // noise: over
  return %x : !noisy.i32
}
func.func private @a(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %r = scf.if %k -> (!noisy.i32) {  // noise: over
    scf.yield %x : !noisy.i32
  } else {
    %c = func.call @c(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
    scf.yield %c : !noisy.i32
  }
  %h = func.call @h(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  return %r : !noisy.i32
}
func.func private @c(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %r = func.call @a(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: over
  %s = noisy.add %r, %x : !noisy.i32  // noise: over
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %s: noise may reach 27 bits at recursion depth 16, 1 over the 26-bit budget
  return %s : !noisy.i32
}
func.func private @b(%x: !noisy.i32) -> !noisy.i32 {  // noise: over
  return %x : !noisy.i32
}

// -----

// @d is reached only when the recursion below @a is solved.
func.func @h(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %1 = func.call @a(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  %2 = func.call @d(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  %3 = noisy.mul %2, %2 : !noisy.i32  // noise: 24
  %4 = noisy.mul %3, %3 : !noisy.i32  // noise: over 48
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %4: noise may reach 48 bits at recursion depth 2, 22 over the 26-bit budget
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %4 is never used
  return %x : !noisy.i32
}
func.func private @a(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %r = scf.if %k -> (!noisy.i32) {  // noise: 12
    scf.yield %x : !noisy.i32
  } else {
    %c = func.call @c(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
    scf.yield %c : !noisy.i32
  }
  %h = func.call @h(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  return %r : !noisy.i32
}
func.func private @c(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %r = func.call @a(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  %s = noisy.reduce_noise %r : !noisy.i32  // noise: 12
  //   ^^^^^^^^^^^^^^^^^^^^^ hint[redundant-reduce]: redundant reduce_noise: noise of %r is at most 12 bits before and 12 after
  return %s : !noisy.i32
}
func.func private @d(%x: !noisy.i32, %k: i1) -> !noisy.i32 {  // noise: 12
  %r = func.call @c(%x, %k) : (!noisy.i32, i1) -> !noisy.i32  // noise: 12
  return %r : !noisy.i32
}

// Eleven loops of three rounds, none of which begins with the same noise as another: 3^11 rounds are not followed. What does not depend on what they carry is judged.
func.func @nest(%x: !noisy.i32, %y: i5) -> !noisy.i32 {  // noise: 12
  %0 = affine.for %i0 = 0 to 3 iter_args(%a0 = %x) -> !noisy.i32 {  // noise: unknown, unknown
  //   ^^^^^^^^^^ hint[undecided]: noise of this loop is unknown: its iterations take too many steps to compute
  %1 = affine.for %i1 = 0 to 3 iter_args(%a1 = %a0) -> !noisy.i32 {  // noise: unknown, unknown
  %2 = affine.for %i2 = 0 to 3 iter_args(%a2 = %a1) -> !noisy.i32 {  // noise: unknown, unknown
  %3 = affine.for %i3 = 0 to 3 iter_args(%a3 = %a2) -> !noisy.i32 {  // noise: unknown, unknown
  %4 = affine.for %i4 = 0 to 3 iter_args(%a4 = %a3) -> !noisy.i32 {  // noise: unknown, unknown
  %5 = affine.for %i5 = 0 to 3 iter_args(%a5 = %a4) -> !noisy.i32 {  // noise: unknown, unknown
  %6 = affine.for %i6 = 0 to 3 iter_args(%a6 = %a5) -> !noisy.i32 {  // noise: unknown, unknown
  %7 = affine.for %i7 = 0 to 3 iter_args(%a7 = %a6) -> !noisy.i32 {  // noise: unknown, unknown
  %8 = affine.for %i8 = 0 to 3 iter_args(%a8 = %a7) -> !noisy.i32 {  // noise: unknown, unknown
  %9 = affine.for %i9 = 0 to 3 iter_args(%a9 = %a8) -> !noisy.i32 {  // noise: unknown, unknown
  %10 = affine.for %i10 = 0 to 3 iter_args(%a10 = %a9) -> !noisy.i32 {  // noise: unknown, unknown
  %e = noisy.encode %y : i5 -> !noisy.i32  // noise: 12
  %p = noisy.mul %e, %e : !noisy.i32  // noise: 24
  %q = noisy.mul %p, %p : !noisy.i32  // noise: over 48
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %q: noise may reach 48 bits, 22 over the 26-bit budget
  %d = noisy.decode %q : !noisy.i32 -> i5
  "t.use"(%d) : (i5) -> ()
  %11 = noisy.add %a10, %x : !noisy.i32  // noise: unknown
  affine.yield %11 : !noisy.i32
  }
  affine.yield %10 : !noisy.i32
  }
  affine.yield %9 : !noisy.i32
  }
  affine.yield %8 : !noisy.i32
  }
  affine.yield %7 : !noisy.i32
  }
  affine.yield %6 : !noisy.i32
  }
  affine.yield %5 : !noisy.i32
  }
  affine.yield %4 : !noisy.i32
  }
  affine.yield %3 : !noisy.i32
  }
  affine.yield %2 : !noisy.i32
  }
  affine.yield %1 : !noisy.i32
  }
  %r = noisy.reduce_noise %0 : !noisy.i32  // noise: 12
  return %r : !noisy.i32
}

// Values outside of an undecided cycle of blocks are checked as usual, in each context.
func.func private @cycle(%x: !noisy.i32, %k: i1) {  // noise: 12
  %q = noisy.mul %x, %x : !noisy.i32  // noise: 24
  %z = noisy.mul %q, %q : !noisy.i32  // noise: over 48
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %z: noise may reach 48 bits, 22 over the 26-bit budget
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %z is never used
  cf.br ^head(%x : !noisy.i32)
^head(%p: !noisy.i32):  // noise: unknown
//@1-6 hint[undecided]: noise of the cycle of blocks that starts here is unknown: it takes too many steps to compute
  %l0 = affine.for %i0 = 0 to 3 iter_args(%a0 = %p) -> !noisy.i32 {  // noise: unknown, unknown
  %l1 = affine.for %i1 = 0 to 3 iter_args(%a1 = %a0) -> !noisy.i32 {  // noise: unknown, unknown
  %l2 = affine.for %i2 = 0 to 3 iter_args(%a2 = %a1) -> !noisy.i32 {  // noise: unknown, unknown
  %l3 = affine.for %i3 = 0 to 3 iter_args(%a3 = %a2) -> !noisy.i32 {  // noise: unknown, unknown
  %l4 = affine.for %i4 = 0 to 3 iter_args(%a4 = %a3) -> !noisy.i32 {  // noise: unknown, unknown
  %l5 = affine.for %i5 = 0 to 3 iter_args(%a5 = %a4) -> !noisy.i32 {  // noise: unknown, unknown
  %l6 = affine.for %i6 = 0 to 3 iter_args(%a6 = %a5) -> !noisy.i32 {  // noise: unknown, unknown
  %l7 = affine.for %i7 = 0 to 3 iter_args(%a7 = %a6) -> !noisy.i32 {  // noise: unknown, unknown
  %l8 = affine.for %i8 = 0 to 3 iter_args(%a8 = %a7) -> !noisy.i32 {  // noise: unknown, unknown
  %in = noisy.add %a8, %a8 : !noisy.i32  // noise: unknown
  affine.yield %in : !noisy.i32
  }
  affine.yield %l8 : !noisy.i32
  }
  affine.yield %l7 : !noisy.i32
  }
  affine.yield %l6 : !noisy.i32
  }
  affine.yield %l5 : !noisy.i32
  }
  affine.yield %l4 : !noisy.i32
  }
  affine.yield %l3 : !noisy.i32
  }
  affine.yield %l2 : !noisy.i32
  }
  affine.yield %l1 : !noisy.i32
  }
  %e = noisy.mul %q, %q : !noisy.i32  // noise: over 48
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %e: noise may reach 48 bits, 22 over the 26-bit budget
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %e is never used
  cf.cond_br %k, ^head(%l0 : !noisy.i32), ^end
^end:
  %after = noisy.mul %q, %q : !noisy.i32  // noise: over 48
  //       ^^^^^^^^^^^^^^^^ error[noise-overflow]: %after: noise may reach 48 bits, 22 over the 26-bit budget
  //       ^^^^^^^^^^^^^^^^ hint[unused-op]: %after is never used
  return
}
func.func @calls_cycle(%x: !noisy.i32, %k: i1) {  // noise: 12
  %y = noisy.reduce_noise %x : !noisy.i32  // noise: 12
  //   ^^^^^^^^^^^^^^^^^^^^^ hint[redundant-reduce]: redundant reduce_noise: noise of %x is at most 12 bits before and 12 after
  func.call @cycle(%y, %k) : (!noisy.i32, i1) -> ()
  return
}

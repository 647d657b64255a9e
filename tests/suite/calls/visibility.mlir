// Public: fresh, and what is passed here.
func.func @open(%a: !noisy.i32) -> !noisy.i32 {  // noise: 20
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 21
  return %0 : !noisy.i32
}

// Private: only what is passed here.
func.func private @closed(%a: !noisy.i32) -> !noisy.i32 {  // noise: 20
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 21
  return %0 : !noisy.i32
}

// Private and never called: dead.
func.func private @lonely(%a: !noisy.i32) -> !noisy.i32 {  // noise: unreached
  %0 = noisy.mul %a, %a : !noisy.i32  // noise: unreached
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: unreached
  return %1 : !noisy.i32
}

// Only called from what is dead.
func.func private @by_lonely(%a: !noisy.i32) -> !noisy.i32 {  // noise: unreached
  %0 = call @by_lonely(%a) : (!noisy.i32) -> !noisy.i32  // noise: unreached
  return %0 : !noisy.i32
}

// Private, but taken as a value: anybody may call it.
func.func private @taken(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  return %a : !noisy.i32
}

func.func @main(%a: !noisy.i32 {noisy.bound = 20 : i64}, %c: i1) -> (!noisy.i32, !noisy.i32, !noisy.i32) {  // noise: 20
  %0 = call @open(%a) : (!noisy.i32) -> !noisy.i32  // noise: 21
  %1 = call @closed(%a) : (!noisy.i32) -> !noisy.i32  // noise: 21
  %f = func.constant @taken : (!noisy.i32) -> !noisy.i32
  %2 = func.call_indirect %f(%a) : (!noisy.i32) -> !noisy.i32  // noise: unknown
  return %0, %1, %2 : !noisy.i32, !noisy.i32, !noisy.i32
}

// Nothing, the wrong number, and what is no function: unknown.
func.func @nothing(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = call @nobody(%a) : (!noisy.i32) -> !noisy.i32  // noise: unknown
  //        ^^^^^^^ error[unknown-function]: no function @nobody in this file
  %1 = call @open(%a, %a) : (!noisy.i32, !noisy.i32) -> !noisy.i32  // noise: unknown
  //   ^^^^ error[call-operands]: the call passes 2 operands, but @open takes 1
  %2 = noisy.mul %0, %1 : !noisy.i32  // noise: unknown
  %3 = noisy.mul %2, %2 : !noisy.i32  // noise: unknown
  return %3 : !noisy.i32
}

// A symbol in an attribute of a dialect is a use, so the function may have unknown callers.
func.func @dispatch() {
  "a.b"() {callee = #foo.bar<"@not", @dispatched>} : () -> ()
  return
}
func.func private @dispatched(%x: !noisy.i32) {  // noise: 12
  %q = noisy.mul %x, %x : !noisy.i32  // noise: 24
  %r = noisy.mul %q, %q : !noisy.i32  // noise: over 48
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %r: noise may reach 48 bits, 22 over the 26-bit budget
  //   ^^^^^^^^^^^^^^^^ hint[unused-op]: %r is never used
  return
}

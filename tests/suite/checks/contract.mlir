func.func private @takes(!noisy.i32 {noisy.bound = 12 : i64}, !noisy.i32)
func.func private @gives() -> (!noisy.i32 {noisy.bound = 20 : i64})
func.func private @silent(!noisy.i32) -> (i32, !noisy.i32)
//                ^^^^^^^ warning[missing-contract]: noise of result 1 of @silent is unknown: the function has no body and declares no bound

func.func @calls(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 13
  call @takes(%a, %0) : (!noisy.i32, !noisy.i32) -> ()
  call @takes(%0, %a) : (!noisy.i32, !noisy.i32) -> ()
  //          ^^ error[contract-violated]: %0: noise may reach 13 bits, 1 over the 12-bit bound of argument 0 of @takes
  %1 = call @gives() : () -> !noisy.i32  // noise: 20
  %2:2 = call @silent(%0) : (!noisy.i32) -> (i32, !noisy.i32)  // noise: unknown
  %3 = noisy.mul %2#1, %1 : !noisy.i32  // noise: unknown
  // Over the budget: told where it goes over, not again at the call.
  %4 = noisy.mul %1, %1 : !noisy.i32  // noise: over 40
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %4: noise may reach 40 bits, 14 over the 26-bit budget
  call @takes(%4, %3) : (!noisy.i32, !noisy.i32) -> ()
  return %1 : !noisy.i32
}

func.func @keeps(%a: !noisy.i32 {noisy.bound = 20 : i64}) -> (!noisy.i32 {noisy.bound = 20 : i64}, !noisy.i32 {noisy.bound = 20 : i64}) {  // noise: 20
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 21
  return %a, %0 : !noisy.i32, !noisy.i32
  //         ^^ error[contract-violated]: %0: noise may reach 21 bits, 1 over the 20-bit bound of result 1 of @keeps
}

// Neither of these is a bound: what it is about is unknown.
func.func @wrong(%a: !noisy.i32 {noisy.bound = -1 : i64}, %b: !noisy.i32 {noisy.bound = "ten"}, %c: !noisy.i32 {noisy.bound = 27 : i64}) -> (!noisy.i32 {noisy.bound = 1.0}) {  // noise: unknown, unknown, over 27
//                               ^^^^^^^^^^^^^^^^^^^^^^ error[invalid-contract]: noisy.bound is not an integer from 0 to 26 (bits)
//                                                                        ^^^^^^^^^^^^^^^^^^^ error[invalid-contract]: noisy.bound is not an integer from 0 to 26 (bits)
//                                                                                                              ^^^^^^^^^^^^^^^^^^^^^^ error[invalid-contract]: the declared bound of 27 bits is 1 over the 26-bit budget
//                                                                                                                                                       ^^^^^^^^^^^^^^^^^ error[invalid-contract]: noisy.bound is not an integer from 0 to 26 (bits)
  %0 = noisy.mul %a, %b : !noisy.i32  // noise: unknown
  %1 = noisy.mul %0, %c : !noisy.i32  // noise: unknown
  return %1 : !noisy.i32
}

"func.func"() <{arg_attrs = [{noisy.bound = 20 : i64}], function_type = (!noisy.i32) -> !noisy.i32, res_attrs = [{noisy.bound = 3 : i64}], sym_name = "generic"}> ({
^bb0(%a: !noisy.i32):  // noise: 20
  "func.return"(%a) : (!noisy.i32) -> ()
  //            ^^ error[contract-violated]: %a: noise may reach 20 bits, 17 over the 3-bit bound of result 0 of @generic
}) : () -> ()

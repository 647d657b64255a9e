func.func private @takes(!noisy.i32 {noisy.bound = 12 : i64}, !noisy.i32)
func.func private @gives() -> (!noisy.i32 {noisy.bound = 20 : i64})
func.func private @silent(!noisy.i32) -> (i32, !noisy.i32)
//                ^^^^^^^ warning[missing-contract]: the noise of what @silent gives is not known

func.func @calls(%a: !noisy.i32) -> !noisy.i32 {  // noise: 12
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 13
  call @takes(%a, %0) : (!noisy.i32, !noisy.i32) -> ()
  call @takes(%0, %a) : (!noisy.i32, !noisy.i32) -> ()
  //          ^^ error[contract-violated]: noise 13 is more than the contract allows: @takes takes at most 12
  %1 = call @gives() : () -> !noisy.i32  // noise: 20
  %2:2 = call @silent(%0) : (!noisy.i32) -> (i32, !noisy.i32)  // noise: unknown
  %3 = noisy.mul %2#1, %1 : !noisy.i32  // noise: unknown
  // Over the budget: told where it goes over, not again at the call.
  %4 = noisy.mul %1, %1 : !noisy.i32  // noise: over 40
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: noise 40 exceeds the budget of 26
  call @takes(%4, %3) : (!noisy.i32, !noisy.i32) -> ()
  return %1 : !noisy.i32
}

func.func @keeps(%a: !noisy.i32 {noisy.bound = 20 : i64}) -> (!noisy.i32 {noisy.bound = 20 : i64}, !noisy.i32 {noisy.bound = 20 : i64}) {  // noise: 20
  %0 = noisy.add %a, %a : !noisy.i32  // noise: 21
  return %a, %0 : !noisy.i32, !noisy.i32
  //         ^^ error[contract-violated]: noise 21 is more than the contract allows: @keeps promises at most 20
}

// Neither of these is a bound: what it is about is unknown.
func.func @wrong(%a: !noisy.i32 {noisy.bound = -1 : i64}, %b: !noisy.i32 {noisy.bound = "ten"}, %c: !noisy.i32 {noisy.bound = 27 : i64}) -> (!noisy.i32 {noisy.bound = 1.0}) {  // noise: unknown, unknown, over 27
//                               ^^^^^^^^^^^^^^^^^^^^^^ error[invalid-contract]: expected a number of bits from 0 to 26
//                                                                        ^^^^^^^^^^^^^^^^^^^ error[invalid-contract]: expected a number of bits from 0 to 26
//                                                                                                              ^^^^^^^^^^^^^^^^^^^^^^ error[invalid-contract]: the bound 27 exceeds the budget of 26
//                                                                                                                                                       ^^^^^^^^^^^^^^^^^ error[invalid-contract]: expected a number of bits from 0 to 26
  %0 = noisy.mul %a, %b : !noisy.i32  // noise: unknown
  %1 = noisy.mul %0, %c : !noisy.i32  // noise: unknown
  return %1 : !noisy.i32
}

"func.func"() <{arg_attrs = [{noisy.bound = 20 : i64}], function_type = (!noisy.i32) -> !noisy.i32, res_attrs = [{noisy.bound = 3 : i64}], sym_name = "generic"}> ({
^bb0(%a: !noisy.i32):  // noise: 20
  "func.return"(%a) : (!noisy.i32) -> ()
  //            ^^ error[contract-violated]: noise 20 is more than the contract allows: @generic promises at most 3
}) : () -> ()

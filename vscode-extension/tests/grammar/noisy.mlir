// SYNTAX TEST "source.mlir.base" "the base grammar with the noisy injection"

func.func @square(%arg0: !noisy.i32) -> !noisy.i32 {
// <--------- keyword.control.op.mlir
//        ^^^^^^^ entity.name.function.symbol.mlir
//                ^^^^^ variable.other.value.mlir
//                       ^^^^^^^^^^ support.type.noisy
//                                   ^^ keyword.operator.arrow.mlir
  %0 = noisy.mul %arg0, %arg0 : !noisy.i32  // noisy.mul in a comment
//^^ variable.other.value.mlir
//   ^ keyword.operator.assignment.mlir
//     ^^^^^^^^^ keyword.other.noisy
//                              ^^^^^^^^^^ support.type.noisy
//                                          ^^^^^^^^^^^^ comment.line.double-slash.mlir - keyword
  %r-1.x = noisy.reduce_noise %0 : !noisy.i32
//^^^^^^ variable.other.value.mlir
//         ^^^^^^^^^^^^^^^^^^ keyword.control.noisy
  %2:2 = "test.pair"(%0) {name = "a\22b", on = true} : (!noisy.i32) -> (i32, tensor<4x?xf32>)
//        ^^^^^^^^^ support.function.op.mlir
//                               ^^^^^^^ string.quoted.double.mlir
//                                 ^^^ constant.character.escape.mlir
//                                             ^^^^ constant.language.mlir
//                                                                      ^^^ support.type.primitive.mlir
//                                                                           ^^^^^^ support.type.mlir
//                                                                                  ^^^^ constant.numeric.shape.mlir
//                                                                                      ^^^ support.type.primitive.mlir
  %c = arith.constant -5 : i5
//     ^^^^^^^^^^^^^^ support.function.op.mlir
//                    ^^ constant.numeric.mlir
//                         ^^ support.type.primitive.mlir
  %3 = arith.addi %2#0, %c : !alias
//                ^^^^ variable.other.value.mlir
//                           ^^^^^^ entity.name.type.mlir
  cf.br ^bb1(%0 : !noisy.i32)
//^^^^^ keyword.control.op.mlir
//      ^^^^ entity.name.label.block.mlir
^bb1(%a: !noisy.i32):
// <---- entity.name.label.block.mlir
  return %a : !noisy.i32
//^^^^^^ keyword.control.mlir
}
#map = affine_map<(d0) -> (d0)>
// <---- variable.other.constant.attribute.mlir
//     ^^^^^^^^^^ keyword.control.mlir

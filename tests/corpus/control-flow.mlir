// Blocks, branches with operands, switches, assertions.
func.func @branches(%c: i1, %a: i32) -> i32 {
  cf.cond_br %c, ^left(%a : i32), ^right
^left(%x: i32):
  %0 = arith.addi %x, %x : i32
  cf.br ^join(%0 : i32)
^right:
  cf.br ^join(%a : i32)
^join(%y: i32):
  return %y : i32
}
// -----
func.func @loop(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  cf.br ^head(%zero : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^exit
^body:
  %next = arith.addi %i, %one : index
  cf.br ^head(%next : index)
^exit:
  return
}
// -----
func.func @switch(%flag: i32, %a: i32, %b: i32) -> i32 {
  cf.switch %flag : i32, [
    default: ^other(%a : i32),
    42: ^first(%b : i32),
    43: ^second
  ]
^other(%x: i32):
  return %x : i32
^first(%y: i32):
  return %y : i32
^second:
  return %flag : i32
}
// -----
func.func @default_only(%flag: i8) {
  cf.switch %flag : i8, [
    default: ^bb1
  ]
^bb1:
  return
}
// -----
func.func @assertion(%c: i1) {
  cf.assert %c, "a \"quoted\" message\0A"
  return
}
// -----
func.func @unreachable() {
  return
^bb1:
  cf.br ^bb2
^bb2:
  cf.br ^bb1
}

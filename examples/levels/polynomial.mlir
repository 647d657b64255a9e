// x^8 + c x^4 by squarings, and a sum of rotations: multiplicative depth four, with only three levels.
func.func @polynomial(%x: !ckks.ct, %c: !ckks.pt) -> !ckks.ct {
  %x2 = "ckks.mul"(%x, %x) : (!ckks.ct, !ckks.ct) -> !ckks.ct
  %x4 = "ckks.mul"(%x2, %x2) : (!ckks.ct, !ckks.ct) -> !ckks.ct
  %x8 = "ckks.mul"(%x4, %x4) : (!ckks.ct, !ckks.ct) -> !ckks.ct
  %y = "ckks.mul_plain"(%x4, %c) : (!ckks.ct, !ckks.pt) -> !ckks.ct
  %s = "ckks.add"(%x8, %y) : (!ckks.ct, !ckks.ct) -> !ckks.ct
  %r = "ckks.rotate"(%s) {offset = 1 : i64} : (!ckks.ct) -> !ckks.ct
  %t = "ckks.add"(%s, %r) : (!ckks.ct, !ckks.ct) -> !ckks.ct
  %u = "ckks.mul"(%t, %s) : (!ckks.ct, !ckks.ct) -> !ckks.ct
  return %u : !ckks.ct
}

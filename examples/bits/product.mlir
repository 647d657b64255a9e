// A product of sums, squared three times.
func.func @product(%a: !bgv.ct<32768, 65537>, %b: !bgv.ct<32768, 65537> {noisy.bound = 60 : i64}) -> !bgv.ct<32768, 65537> {
  %0 = "bgv.add"(%a, %b) : (!bgv.ct<32768, 65537>, !bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %1 = "bgv.mul"(%0, %a) {bits = 31 : i64} : (!bgv.ct<32768, 65537>, !bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %2 = "bgv.mul"(%1, %1) {bits = 31 : i64} : (!bgv.ct<32768, 65537>, !bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %3 = "bgv.switch_key"(%2) : (!bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %4 = "bgv.mul"(%3, %3) {bits = 31 : i64} : (!bgv.ct<32768, 65537>, !bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %5 = "bgv.switch_key"(%4) {bits = 20 : i64} : (!bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %6 = "bgv.mul"(%5, %5) {bits = 31 : i64} : (!bgv.ct<32768, 65537>, !bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  %7 = "bgv.mul"(%6, %5) {bits = 31 : i64} : (!bgv.ct<32768, 65537>, !bgv.ct<32768, 65537>) -> !bgv.ct<32768, 65537>
  return %7 : !bgv.ct<32768, 65537>
}

func.func @allowed(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  %2 = noisy.mul %1, %1 : !noisy.i32 // noisy: allow(noise-overflow)  // noise: over 48
  // noisy: allow(decode-over-budget)
  %3 = noisy.decode %2 : !noisy.i32 -> i5
  %4 = noisy.decode %2 : !noisy.i32 -> i5 // noisy: allow(unused-op)
  //   ^^^^^^^^^^^^^^^ error[decode-over-budget]: %2: noise may reach 48 bits, 22 over the 26-bit budget; the decoded plaintext may be wrong
  return %3 : i5
}

func.func @not_needed(%x: i5) -> !noisy.i32 {
  %0 = noisy.encode %x : i5 -> !noisy.i32 // noisy: allow(noise-overflow)  // noise: 12
  //                                                      ^^^^^^^^^^^^^^ warning[unused-suppression]: unused suppression: noise-overflow is not reported on this line
  // noisy: allow(unused-op, noise-overfow)
  //                         ^^^^^^^^^^^^^ warning[unused-suppression]: unknown code "noise-overfow" in a suppression comment; did you mean noise-overflow?
  // A comment between.
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  // noisy: allow(unused-op)
  //              ^^^^^^^^^ warning[unused-suppression]: unused suppression of unused-op: no op follows this comment

  "other.op"() {text = "// noisy: allow(unused-op)"} : () -> ()
  return %0 : !noisy.i32
}

// What a decode gives is wrong because of an error that is told: it is named there.
func.func @told(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  %2 = noisy.mul %1, %0 : !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: %2: noise may reach 36 bits, 10 over the 26-bit budget
  %3 = noisy.decode %2 : !noisy.i32 -> i5
  return %3 : i5
}

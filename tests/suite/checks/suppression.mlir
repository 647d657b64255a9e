func.func @allowed(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  %2 = noisy.mul %1, %1 : !noisy.i32 // noisy: allow(noise-overflow)  // noise: over 48
  // noisy: allow(decode-over-budget)
  %3 = noisy.decode %2 : !noisy.i32 -> i5
  %4 = noisy.decode %2 : !noisy.i32 -> i5 // noisy: allow(unused-op)
  //   ^^^^^^^^^^^^^^^ error[decode-over-budget]: noise 48 of what is decoded exceeds the budget of 26
  return %3 : i5
}

func.func @not_needed(%x: i5) -> !noisy.i32 {
  %0 = noisy.encode %x : i5 -> !noisy.i32 // noisy: allow(noise-overflow)  // noise: 12
  //                                                      ^^^^^^^^^^^^^^ warning[unused-suppression]: nothing here is told as noise-overflow
  // noisy: allow(unused-op, noise-overfow)
  //                         ^^^^^^^^^^^^^ warning[unused-suppression]: there is no code "noise-overfow"
  // A comment between.
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  // noisy: allow(unused-op)
  //              ^^^^^^^^^ warning[unused-suppression]: no op follows that this could be about

  "other.op"() {text = "// noisy: allow(unused-op)"} : () -> ()
  return %0 : !noisy.i32
}

// What a decode gives is wrong because of an error that is told: it is named there.
func.func @told(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32  // noise: 12
  %1 = noisy.mul %0, %0 : !noisy.i32  // noise: 24
  %2 = noisy.mul %1, %0 : !noisy.i32  // noise: over 36
  //   ^^^^^^^^^^^^^^^^ error[noise-overflow]: noise 36 exceeds the budget of 26
  %3 = noisy.decode %2 : !noisy.i32 -> i5
  return %3 : i5
}

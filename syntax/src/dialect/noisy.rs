//! Rows of `noisy`: integers whose low bits are noise.

macro_rules! noisy {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Adds two noisy integers. The noise of the result is the larger of the two, plus 1.
        NoisyAdd = "noisy.add", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Subtracts two noisy integers. The noise of the result is the larger of the two, plus 1.
        NoisySub = "noisy.sub", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Multiplies two noisy integers. The noise of the result is the sum of both.
        NoisyMul = "noisy.mul", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Encodes an integer of 1 to 5 bits as a noisy integer, with fresh noise.
        NoisyEncode = "noisy.encode", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), ARROW, Element::Type(Bind::Result)];
        /// Decodes a noisy integer to one of 1 to 5 bits. The noise of its operand must be within the budget.
        NoisyDecode = "noisy.decode", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), ARROW, Element::Type(Bind::Result)];
        /// Resets the noise of a noisy integer to that of a fresh one (bootstrapping). Costly, and its operand must be within the budget.
        NoisyReduceNoise = "noisy.reduce_noise", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::All)];
    } };
}

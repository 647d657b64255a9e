//! Rows of `noisy`: integers whose low bits are noise.

macro_rules! noisy {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Adds two noisy integers. The noise of the result is the larger of the two, plus 1.
        NoisyAdd = "noisy.add" {
            traits: Traits::COMMUTATIVE,
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
            form: &[Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..OpSpec::PURE
        }
        /// Subtracts two noisy integers. The noise of the result is the larger of the two, plus 1.
        NoisySub = "noisy.sub" {
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
            form: &[Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..OpSpec::PURE
        }
        /// Multiplies two noisy integers. The noise of the result is the sum of both.
        NoisyMul = "noisy.mul" {
            traits: Traits::COMMUTATIVE,
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
            form: &[Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..OpSpec::PURE
        }
        /// Encodes an integer of 1 to 5 bits as a noisy integer, with fresh noise.
        NoisyEncode = "noisy.encode" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Plain], &[TypeClass::Noisy]),
            form: &[
                Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), ARROW,
                Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// Decodes a noisy integer to one of 1 to 5 bits. The noise of its operand must be within the budget.
        NoisyDecode = "noisy.decode" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Plain]),
            speculation: Speculation::Never,
            form: &[
                Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), ARROW,
                Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// Resets the noise of a noisy integer to that of a fresh one (bootstrapping). Costly, and its operand must be within the budget.
        NoisyReduceNoise = "noisy.reduce_noise" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
            speculation: Speculation::Never,
            form: &[Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::All)],
            ..OpSpec::PURE
        }
    } };
}

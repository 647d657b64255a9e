//! Rows of `vector`: the accesses that accesses of `affine` become. The other ops of the dialect are unknown.

macro_rules! vector {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Reads a vector from neighbouring elements of a memref.
        VectorLoad = "vector.load" {
            operands: Count::at_least(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::Vector]),
            attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
            effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
            form: &[
                Element::Uses(1), Element::Indices(TokenKind::LSquare), Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), COMMA, Element::Type(Bind::Result),
            ],
            ..OpSpec::NONE
        }
        /// Writes a vector to neighbouring elements of a memref.
        VectorStore = "vector.store" {
            operands: Count::at_least(2),
            types: TypeRule::new(&[TypeClass::Vector, TypeClass::RankedMemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
            effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
            form: &[
                Element::Uses(1), COMMA, Element::Uses(1), Element::Indices(TokenKind::LSquare), Element::AttrDict,
                COLON, Element::Type(Bind::Operand(1)), COMMA, Element::Type(Bind::Operand(0)),
            ],
            ..OpSpec::NONE
        }
    } };
}

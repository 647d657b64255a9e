//! A row for the tests: one op, added as any op is, that no program has.

#[cfg(not(test))]
macro_rules! example {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)* } };
}

#[cfg(test)]
macro_rules! example {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Blends two integers by a weight. This op stands in no program.
        ExampleBlend = "example.blend" {
            traits: Traits::COMMUTATIVE,
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike]).agree(Agreement::Same),
            attrs: &[
                AttrSpec::required("note", AttrClass::Str),
                AttrSpec::with_default("weight", AttrClass::I32, "1 : i32"),
            ],
            parents: &[OpKind::FuncFunc],
            form: &[
                Element::StrAttr("note"), COMMA, Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All),
            ],
            ..OpSpec::PURE
        }
    } };
}

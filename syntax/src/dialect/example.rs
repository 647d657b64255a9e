//! Rows for the tests: ops, added as any op is, that no program has.

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
        /// Runs its region once and notes that in a buffer. This op stands in no program.
        ExampleScope = "example.scope" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::exactly(1),
            regions: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef], &[]),
            implicit_terminator: Some(OpKind::ExampleEnd),
            effects: Effects::Known(&[(Access::Write, Buffer::Operand(0))]),
            form: &[
                Element::Uses(1), COLON, Element::Type(Bind::Operands), Element::Region, Element::AttrDict,
            ],
            ..OpSpec::NONE
        }
        /// Ends `example.scope`. This op stands in no program.
        ExampleEnd = "example.end" {
            operands: Count::exactly(0),
            parents: &[OpKind::ExampleScope],
            form: &[Element::AttrDict],
            ..OpSpec::TERMINATOR
        }
    } };
}

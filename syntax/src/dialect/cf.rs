//! Rows of `cf`: branches between blocks.

macro_rules! cf {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Goes to a block, passing its arguments.
        CfBr = "cf.br" {
            successors: Count::exactly(1),
            form: &[Element::Successor, Element::AttrDict],
            ..OpSpec::TERMINATOR
        }
        /// Goes to the first block if the condition is true, else to the second.
        CfCondBr = "cf.cond_br" {
            operands: Count::at_least(1),
            segments: &[Count::exactly(1), Count::ANY, Count::ANY],
            successors: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::I1, TypeClass::Any], &[]),
            attrs: &[
                AttrSpec::optional("branch_weights", AttrClass::Any),
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
            ],
            form: &[
                Element::Use(Type::I1), Element::OptWeights, COMMA, Element::Successor, COMMA, Element::Successor,
                Element::AttrDict, Element::SuccessorSegments,
            ],
            ..OpSpec::TERMINATOR
        }
        /// Goes to the block of the case that the flag equals, else to the default.
        CfSwitch = "cf.switch" {
            operands: Count::at_least(1),
            segments: &[Count::exactly(1), Count::ANY, Count::ANY],
            successors: Count::at_least(1),
            types: TypeRule::new(&[TypeClass::Integer, TypeClass::Any], &[]),
            attrs: &[
                AttrSpec::required("case_operand_segments", AttrClass::DenseI32),
                AttrSpec::optional("case_values", AttrClass::IntElements),
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
            ],
            form: &[
                Element::Use(Type::UNKNOWN), COLON, Element::Type(Bind::Operand(0)), COMMA,
                Element::Punct(TokenKind::LSquare), Element::Switch, Element::Punct(TokenKind::RSquare),
                Element::AttrDict,
            ],
            ..OpSpec::TERMINATOR
        }
        /// Stops the program with a message unless the condition is true.
        CfAssert = "cf.assert" {
            operands: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::I1], &[]),
            attrs: &[AttrSpec::required("msg", AttrClass::Str)],
            form: &[Element::Use(Type::I1), COMMA, Element::StrAttr("msg"), Element::AttrDict],
            ..OpSpec::NONE
        }
    } };
}

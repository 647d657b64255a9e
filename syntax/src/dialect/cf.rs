//! Rows of `cf`: branches between blocks.

macro_rules! cf {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Goes to a block, passing its arguments.
        CfBr = "cf.br", PURE|TERMINATOR|BRANCH, [], [Element::Successor, Element::AttrDict];
        /// Goes to the first block if the condition is true, else to the second.
        CfCondBr = "cf.cond_br", PURE|TERMINATOR|BRANCH, [("branch_weights", ""), ("operandSegmentSizes", "")], [Element::Use(Type::I1), Element::OptWeights, COMMA, Element::Successor, COMMA, Element::Successor, Element::AttrDict, Element::SuccessorSegments];
        /// Goes to the block of the case that the flag equals, else to the default.
        CfSwitch = "cf.switch", PURE|TERMINATOR|BRANCH, [("case_operand_segments", ""), ("case_values", ""), ("operandSegmentSizes", "")], [Element::Use(Type::UNKNOWN), COLON, Element::Type(Bind::Operand(0)), COMMA, Element::Punct(TokenKind::LSquare), Element::Switch, Element::Punct(TokenKind::RSquare), Element::AttrDict];
        /// Stops the program with a message unless the condition is true.
        CfAssert = "cf.assert", NONE, [("msg", "")], [Element::Use(Type::I1), COMMA, Element::StrAttr("msg"), Element::AttrDict];
    } };
}

//! Rows of `cf`: branches between blocks.

macro_rules! cf {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Goes to a block, passing its arguments.
        CfBr = "cf.br", PURE|TERMINATOR|BRANCH, [], [E::Successor, E::AttrDict];
        /// Goes to the first block if the condition is true, else to the second.
        CfCondBr = "cf.cond_br", PURE|TERMINATOR|BRANCH, [("branch_weights", ""), ("operandSegmentSizes", "")], [E::Use(Type::I1), E::OptWeights, COMMA, E::Successor, COMMA, E::Successor, E::AttrDict, E::SuccessorSegments];
        /// Goes to the block of the case that the flag equals, else to the default.
        CfSwitch = "cf.switch", PURE|TERMINATOR|BRANCH, [("case_operand_segments", ""), ("case_values", ""), ("operandSegmentSizes", "")], [E::Use(Type::UNKNOWN), COLON, E::Type(Bind::Operand(0)), COMMA, E::Punct(T::LSquare), E::Switch, E::Punct(T::RSquare), E::AttrDict];
        /// Stops the program with a message unless the condition is true.
        CfAssert = "cf.assert", NONE, [("msg", "")], [E::Use(Type::I1), COMMA, E::StrAttr("msg"), E::AttrDict];
    } };
}

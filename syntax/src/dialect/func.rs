//! Rows of `func`: functions and calls.

macro_rules! func {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A function: a symbol with arguments, results and, unless it is a declaration, a body that uses no values from outside.
        FuncFunc = "func.func", ISOLATED|SYMBOL, [("arg_attrs", ""), ("function_type", ""), ("no_inline", ""), ("res_attrs", ""), ("sym_name", ""), ("sym_visibility", "")], [E::Visibility, E::SymbolName, E::FuncSignature, E::AttrDictWithKeyword, E::OptRegion];
        /// Calls the function of this name; operands and results have the types of its signature.
        FuncCall = "func.call", NONE, [("arg_attrs", ""), ("callee", ""), ("no_inline", ""), ("res_attrs", "")], [E::SymbolUse("callee"), E::ParenUses(Type::UNKNOWN), E::OptFlags(&format::NO_INLINE), E::AttrDict, COLON, E::FunctionType(0)];
        /// Calls a value of function type.
        FuncCallIndirect = "func.call_indirect", NONE, [("arg_attrs", ""), ("res_attrs", "")], [E::Use(Type::UNKNOWN), E::ParenUses(Type::UNKNOWN), E::AttrDict, COLON, E::FunctionType(1)];
        /// A function of this name as a value.
        FuncConstant = "func.constant", PURE|CONSTANT, [("value", "")], [E::AttrDict, E::SymbolUse("value"), COLON, E::Type(Bind::Result)];
        /// Returns from a function with the values of its results.
        FuncReturn = "func.return", PURE|TERMINATOR|RETURN, [], [E::AttrDict, E::OptUsesTypes];
    } };
}

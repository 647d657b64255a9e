//! Rows of `func`: functions and calls.

macro_rules! func {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A function: a symbol with arguments, results and, unless it is a declaration, a body that uses no values from outside.
        FuncFunc = "func.func", ISOLATED|SYMBOL, [("arg_attrs", ""), ("function_type", ""), ("no_inline", ""), ("res_attrs", ""), ("sym_name", ""), ("sym_visibility", "")], [Element::Visibility, Element::SymbolName, Element::FuncSignature, Element::AttrDictWithKeyword, Element::OptRegion];
        /// Calls the function of this name; operands and results have the types of its signature.
        FuncCall = "func.call", NONE, [("arg_attrs", ""), ("callee", ""), ("no_inline", ""), ("res_attrs", "")], [Element::SymbolUse("callee"), Element::ParenUses(Type::UNKNOWN), Element::OptFlags(&format::NO_INLINE), Element::AttrDict, COLON, Element::FunctionType(0)];
        /// Calls a value of function type.
        FuncCallIndirect = "func.call_indirect", NONE, [("arg_attrs", ""), ("res_attrs", "")], [Element::Use(Type::UNKNOWN), Element::ParenUses(Type::UNKNOWN), Element::AttrDict, COLON, Element::FunctionType(1)];
        /// A function of this name as a value.
        FuncConstant = "func.constant", PURE|CONSTANT, [("value", "")], [Element::AttrDict, Element::SymbolUse("value"), COLON, Element::Type(Bind::Result)];
        /// Returns from a function with the values of its results.
        FuncReturn = "func.return", PURE|TERMINATOR|RETURN, [], [Element::AttrDict, Element::OptUsesTypes];
    } };
}

//! Rows of `func`: functions and calls.

macro_rules! func {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A function: a symbol with arguments, results and, unless it is a declaration, a body that uses no values from outside.
        FuncFunc = "func.func" {
            traits: Traits::ISOLATED.union(Traits::SYMBOL),
            regions: Count::exactly(1),
            attrs: &[
                AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
                AttrSpec::required("function_type", AttrClass::FunctionType),
                AttrSpec::optional("no_inline", AttrClass::Unit),
                AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
                AttrSpec::required("sym_name", AttrClass::Str),
                AttrSpec::optional("sym_visibility", AttrClass::Str),
            ],
            form: &[
                Element::Visibility, Element::SymbolName, Element::FuncSignature, Element::AttrDictWithKeyword,
                Element::OptRegion,
            ],
            ..OpSpec::NONE
        }
        /// Calls the function of this name; operands and results have the types of its signature.
        FuncCall = "func.call" {
            operands: Count::ANY,
            results: Count::ANY,
            attrs: &[
                AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
                AttrSpec::required("callee", AttrClass::FlatSymbol),
                AttrSpec::optional("no_inline", AttrClass::Unit),
                AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
            ],
            form: &[
                Element::SymbolUse("callee"), Element::ParenUses(Type::UNKNOWN),
                Element::OptFlags(&format::NO_INLINE), Element::AttrDict, COLON, Element::FunctionType(0),
            ],
            ..OpSpec::NONE
        }
        /// Calls a value of function type.
        FuncCallIndirect = "func.call_indirect" {
            operands: Count::at_least(1),
            results: Count::ANY,
            types: TypeRule::new(&[TypeClass::Function, TypeClass::Any], &[]),
            attrs: &[
                AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
                AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
            ],
            form: &[
                Element::Use(Type::UNKNOWN), Element::ParenUses(Type::UNKNOWN), Element::AttrDict, COLON,
                Element::FunctionType(1),
            ],
            ..OpSpec::NONE
        }
        /// A function of this name as a value.
        FuncConstant = "func.constant" {
            traits: Traits::CONSTANT,
            results: Count::exactly(1),
            attrs: &[AttrSpec::required("value", AttrClass::FlatSymbol)],
            form: &[Element::AttrDict, Element::SymbolUse("value"), COLON, Element::Type(Bind::Result)],
            ..OpSpec::PURE
        }
        /// Returns from a function with the values of its results.
        FuncReturn = "func.return" {
            parents: &[OpKind::FuncFunc],
            form: &[Element::AttrDict, Element::OptUsesTypes],
            ..OpSpec::TERMINATOR
        }
    } };
}

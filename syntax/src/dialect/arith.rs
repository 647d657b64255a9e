//! Rows of `arith`: constants, arithmetic, comparisons and casts.

macro_rules! arith {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A constant: the value of its attribute.
        ArithConstant = "arith.constant", PURE|CONSTANT, [("value", "")], [Element::AttrDict, Element::ConstantValue];
        /// Integer addition, wrapping.
        ArithAddi = "arith.addi", PURE|COMMUTATIVE, [("overflowFlags", "#arith.overflow<none>")], [Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Integer subtraction, wrapping.
        ArithSubi = "arith.subi", PURE, [("overflowFlags", "#arith.overflow<none>")], [Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Integer multiplication, wrapping.
        ArithMuli = "arith.muli", PURE|COMMUTATIVE, [("overflowFlags", "#arith.overflow<none>")], [Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Shift left; the amount must be less than the width.
        ArithShli = "arith.shli", PURE, [("overflowFlags", "#arith.overflow<none>")], [Element::Uses(2), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Signed integer division, towards zero.
        ArithDivsi = "arith.divsi", PURE, [("isExact", "")], [Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Unsigned integer division.
        ArithDivui = "arith.divui", PURE, [("isExact", "")], [Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Arithmetic shift right.
        ArithShrsi = "arith.shrsi", PURE, [("isExact", "")], [Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Logical shift right.
        ArithShrui = "arith.shrui", PURE, [("isExact", "")], [Element::Uses(2), Element::OptWord("exact", "isExact"), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Signed integer division, rounded up.
        ArithCeildivsi = "arith.ceildivsi", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Unsigned integer division, rounded up.
        ArithCeildivui = "arith.ceildivui", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Signed integer division, rounded down.
        ArithFloordivsi = "arith.floordivsi", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Signed remainder, with the sign of the dividend.
        ArithRemsi = "arith.remsi", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Unsigned remainder.
        ArithRemui = "arith.remui", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Bitwise and.
        ArithAndi = "arith.andi", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Bitwise or.
        ArithOri = "arith.ori", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Bitwise exclusive or.
        ArithXori = "arith.xori", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Signed maximum.
        ArithMaxsi = "arith.maxsi", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Unsigned maximum.
        ArithMaxui = "arith.maxui", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Signed minimum.
        ArithMinsi = "arith.minsi", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Unsigned minimum.
        ArithMinui = "arith.minui", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::All)];
        /// Floating-point addition.
        ArithAddf = "arith.addf", PURE|COMMUTATIVE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point subtraction.
        ArithSubf = "arith.subf", PURE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point multiplication.
        ArithMulf = "arith.mulf", PURE|COMMUTATIVE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point division.
        ArithDivf = "arith.divf", PURE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point remainder.
        ArithRemf = "arith.remf", PURE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point maximum; NaN if either is.
        ArithMaximumf = "arith.maximumf", PURE|COMMUTATIVE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point minimum; NaN if either is.
        ArithMinimumf = "arith.minimumf", PURE|COMMUTATIVE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point maximum; the other one if one is NaN.
        ArithMaxnumf = "arith.maxnumf", PURE|COMMUTATIVE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point minimum; the other one if one is NaN.
        ArithMinnumf = "arith.minnumf", PURE|COMMUTATIVE, [("fastmath", "#arith.fastmath<none>")], BINARY_FAST;
        /// Floating-point negation.
        ArithNegf = "arith.negf", PURE, [("fastmath", "#arith.fastmath<none>")], UNARY_FAST;
        /// Compares two integers by the predicate. The result is `i1`, or a shape of `i1`.
        ArithCmpi = "arith.cmpi", PURE, [("predicate", "")], [Element::Predicate(format::CMPI), COMMA, Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::Compared)];
        /// Compares two floating-point numbers by the predicate. The result is `i1`, or a shape of `i1`.
        ArithCmpf = "arith.cmpf", PURE, [("fastmath", "#arith.fastmath<none>"), ("predicate", "")], [Element::Predicate(format::CMPF), COMMA, Element::Uses(2), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::Compared)];
        /// The second operand if the condition is true, else the third.
        ArithSelect = "arith.select", PURE, [], [Element::Uses(3), Element::AttrDict, COLON, Element::Select];
        /// Widens an integer, repeating the sign bit.
        ArithExtsi = "arith.extsi", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Widens an integer with zeros.
        ArithExtui = "arith.extui", PURE, [("nonNeg", "")], [Element::Uses(1), Element::OptWord("nneg", "nonNeg"), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Keeps the low bits of an integer.
        ArithTrunci = "arith.trunci", PURE, [("overflowFlags", "")], [Element::Uses(1), Element::OptFlags(&OVERFLOW), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Widens a floating-point number.
        ArithExtf = "arith.extf", PURE, [("fastmath", "")], [Element::Uses(1), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Narrows a floating-point number, rounding.
        ArithTruncf = "arith.truncf", PURE, [("fastmath", ""), ("roundingmode", "")], [Element::Uses(1), Element::OptRounding, Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Signed integer to floating point.
        ArithSitofp = "arith.sitofp", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Unsigned integer to floating point.
        ArithUitofp = "arith.uitofp", PURE, [("nonNeg", "")], [Element::Uses(1), Element::OptWord("nneg", "nonNeg"), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Floating point to signed integer, towards zero.
        ArithFptosi = "arith.fptosi", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Floating point to unsigned integer, towards zero.
        ArithFptoui = "arith.fptoui", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Between `index` and integers, with the sign.
        ArithIndexCast = "arith.index_cast", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Between `index` and integers, without a sign.
        ArithIndexCastui = "arith.index_castui", PURE, [("nonNeg", "")], [Element::Uses(1), Element::OptWord("nneg", "nonNeg"), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// The same bits as another type of the same width.
        ArithBitcast = "arith.bitcast", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Widens a floating-point number and scales it.
        ArithScalingExtf = "arith.scaling_extf", PURE, [("fastmath", "")], [Element::Uses(2), Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), COMMA, Element::Type(Bind::Operand(1)), Element::Word("to"), Element::Type(Bind::Result)];
        /// Scales a floating-point number and narrows it.
        ArithScalingTruncf = "arith.scaling_truncf", PURE, [("fastmath", ""), ("roundingmode", "")], [Element::Uses(2), Element::OptRounding, Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), COMMA, Element::Type(Bind::Operand(1)), Element::Word("to"), Element::Type(Bind::Result)];
        /// Between floating-point types of the same width.
        ArithConvertf = "arith.convertf", PURE, [("fastmath", ""), ("roundingmode", "")], [Element::Uses(1), Element::OptRounding, Element::OptFlags(&FASTMATH), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Unsigned addition with the carry as second result.
        ArithAdduiExtended = "arith.addui_extended", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(1)), COMMA, Element::Type(Bind::NextResult)];
        /// Unsigned subtraction with the borrow as second result.
        ArithSubuiExtended = "arith.subui_extended", PURE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(1)), COMMA, Element::Type(Bind::NextResult)];
        /// Signed multiplication; low and high half as two results.
        ArithMulsiExtended = "arith.mulsi_extended", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(2))];
        /// Unsigned multiplication; low and high half as two results.
        ArithMuluiExtended = "arith.mului_extended", PURE|COMMUTATIVE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::AllAnd(2))];
    } };
}

//! The built-in ops: each has an [`OpKind`] constant and a row.

use super::ops::{affine, arith, builtin, cf, func, math, memref, noisy, scf, vector};
use super::row::OpSpec;
use crate::OpKind;

/// Defines the constants of [`OpKind`] and the table of their rows.
macro_rules! kinds {
    (
        items { $($(#[doc = $doc:literal])* $item:ident,)* }
        ops { $($kind:ident = $dialect:ident::$row:ident,)* }
    ) => {
        /// Assigns numbers to the kinds.
        #[derive(Debug, Clone, Copy)]
        #[repr(u16)]
        enum Number {
            $($item,)*
            $($kind,)*
        }

        #[allow(non_upper_case_globals, reason = "they are used as the variants of an enum are")]
        impl OpKind {
            $($(#[doc = $doc])* pub const $item: OpKind = OpKind::from_index(Number::$item as u16);)*
            $(
                #[doc = concat!("The op with the row `", stringify!($dialect), "::", stringify!($row), "`.")]
                pub const $kind: OpKind = OpKind::from_index(Number::$kind as u16);
            )*
        }

        /// The rows by number. Items that are not ops have an empty row.
        pub(super) static ROWS: [OpSpec; N_BUILT_IN] =
            [$({ let _ = Number::$item; OpSpec::NONE },)* $($dialect::$row,)*];

        /// The names of the constants, by number.
        pub(super) static NAMES: [&str; N_BUILT_IN] =
            [$(stringify!($item),)* $(stringify!($kind),)*];

        /// Number of built-in kinds. The numbers of registered kinds start here.
        pub const N_BUILT_IN: usize = [$(Number::$item,)* $(Number::$kind,)*].len();

        /// All built-in ops.
        pub const ALL: &[OpKind] = &[$(OpKind::$kind,)*];
    };
}

kinds! {
    items {
        /// An op without a row.
        Unknown,
        /// `^bb0(%a: i32):`
        Label,
        /// `!name = type`
        TypeAlias,
        /// `#name = attribute`
        AttrAlias,
        /// `{-# ... #-}`
        Resources,
        /// A part of the file between two `// -----` lines.
        Chunk,
        /// Text in which no item can start.
        Junk,
    }
    ops {
        BuiltinModule = builtin::MODULE,
        BuiltinUnrealizedConversionCast = builtin::UNREALIZED_CONVERSION_CAST,
        FuncFunc = func::FUNC,
        FuncCall = func::CALL,
        FuncCallIndirect = func::CALL_INDIRECT,
        FuncConstant = func::CONSTANT,
        FuncReturn = func::RETURN,
        ArithConstant = arith::CONSTANT,
        ArithAddi = arith::ADDI,
        ArithSubi = arith::SUBI,
        ArithMuli = arith::MULI,
        ArithShli = arith::SHLI,
        ArithDivsi = arith::DIVSI,
        ArithDivui = arith::DIVUI,
        ArithShrsi = arith::SHRSI,
        ArithShrui = arith::SHRUI,
        ArithCeildivsi = arith::CEILDIVSI,
        ArithCeildivui = arith::CEILDIVUI,
        ArithFloordivsi = arith::FLOORDIVSI,
        ArithRemsi = arith::REMSI,
        ArithRemui = arith::REMUI,
        ArithAndi = arith::ANDI,
        ArithOri = arith::ORI,
        ArithXori = arith::XORI,
        ArithMaxsi = arith::MAXSI,
        ArithMaxui = arith::MAXUI,
        ArithMinsi = arith::MINSI,
        ArithMinui = arith::MINUI,
        ArithAddf = arith::ADDF,
        ArithSubf = arith::SUBF,
        ArithMulf = arith::MULF,
        ArithDivf = arith::DIVF,
        ArithRemf = arith::REMF,
        ArithMaximumf = arith::MAXIMUMF,
        ArithMinimumf = arith::MINIMUMF,
        ArithMaxnumf = arith::MAXNUMF,
        ArithMinnumf = arith::MINNUMF,
        ArithNegf = arith::NEGF,
        ArithCmpi = arith::CMPI,
        ArithCmpf = arith::CMPF,
        ArithSelect = arith::SELECT,
        ArithExtsi = arith::EXTSI,
        ArithExtui = arith::EXTUI,
        ArithTrunci = arith::TRUNCI,
        ArithExtf = arith::EXTF,
        ArithTruncf = arith::TRUNCF,
        ArithSitofp = arith::SITOFP,
        ArithUitofp = arith::UITOFP,
        ArithFptosi = arith::FPTOSI,
        ArithFptoui = arith::FPTOUI,
        ArithIndexCast = arith::INDEX_CAST,
        ArithIndexCastui = arith::INDEX_CASTUI,
        ArithBitcast = arith::BITCAST,
        ArithScalingExtf = arith::SCALING_EXTF,
        ArithScalingTruncf = arith::SCALING_TRUNCF,
        ArithConvertf = arith::CONVERTF,
        ArithAdduiExtended = arith::ADDUI_EXTENDED,
        ArithSubuiExtended = arith::SUBUI_EXTENDED,
        ArithMulsiExtended = arith::MULSI_EXTENDED,
        ArithMuluiExtended = arith::MULUI_EXTENDED,
        CfBr = cf::BR,
        CfCondBr = cf::COND_BR,
        CfSwitch = cf::SWITCH,
        CfAssert = cf::ASSERT,
        ScfIf = scf::IF,
        ScfFor = scf::FOR,
        ScfWhile = scf::WHILE,
        ScfCondition = scf::CONDITION,
        ScfYield = scf::YIELD,
        ScfParallel = scf::PARALLEL,
        ScfReduce = scf::REDUCE,
        ScfReduceReturn = scf::REDUCE_RETURN,
        ScfForall = scf::FORALL,
        ScfForallInParallel = scf::FORALL_IN_PARALLEL,
        ScfExecuteRegion = scf::EXECUTE_REGION,
        ScfIndexSwitch = scf::INDEX_SWITCH,
        AffineFor = affine::FOR,
        AffineIf = affine::IF,
        AffineParallel = affine::PARALLEL,
        AffineYield = affine::YIELD,
        AffineApply = affine::APPLY,
        AffineMin = affine::MIN,
        AffineMax = affine::MAX,
        AffineLoad = affine::LOAD,
        AffineStore = affine::STORE,
        AffineVectorLoad = affine::VECTOR_LOAD,
        AffineVectorStore = affine::VECTOR_STORE,
        AffinePrefetch = affine::PREFETCH,
        AffineDmaStart = affine::DMA_START,
        AffineDmaWait = affine::DMA_WAIT,
        AffineDelinearizeIndex = affine::DELINEARIZE_INDEX,
        AffineLinearizeIndex = affine::LINEARIZE_INDEX,
        MemrefAlloc = memref::ALLOC,
        MemrefAlloca = memref::ALLOCA,
        MemrefLoad = memref::LOAD,
        MemrefStore = memref::STORE,
        MemrefDealloc = memref::DEALLOC,
        MemrefDim = memref::DIM,
        MemrefCast = memref::CAST,
        MemrefMemorySpaceCast = memref::MEMORY_SPACE_CAST,
        MemrefCopy = memref::COPY,
        MemrefSubview = memref::SUBVIEW,
        MemrefReinterpretCast = memref::REINTERPRET_CAST,
        MemrefCollapseShape = memref::COLLAPSE_SHAPE,
        MemrefExpandShape = memref::EXPAND_SHAPE,
        MemrefGlobal = memref::GLOBAL,
        MemrefGetGlobal = memref::GET_GLOBAL,
        MemrefAllocaScope = memref::ALLOCA_SCOPE,
        MemrefAllocaScopeReturn = memref::ALLOCA_SCOPE_RETURN,
        MemrefAtomicRmw = memref::ATOMIC_RMW,
        MemrefGenericAtomicRmw = memref::GENERIC_ATOMIC_RMW,
        MemrefAtomicYield = memref::ATOMIC_YIELD,
        MemrefAssumeAlignment = memref::ASSUME_ALIGNMENT,
        MemrefTranspose = memref::TRANSPOSE,
        MemrefView = memref::VIEW,
        MemrefExtractStridedMetadata = memref::EXTRACT_STRIDED_METADATA,
        MemrefExtractAlignedPointerAsIndex = memref::EXTRACT_ALIGNED_POINTER_AS_INDEX,
        MemrefReshape = memref::RESHAPE,
        MemrefPrefetch = memref::PREFETCH,
        MemrefRank = memref::RANK,
        MathAbsf = math::ABSF,
        MathAbsi = math::ABSI,
        MathAcos = math::ACOS,
        MathAcosh = math::ACOSH,
        MathAsin = math::ASIN,
        MathAsinh = math::ASINH,
        MathAtan = math::ATAN,
        MathAtan2 = math::ATAN2,
        MathAtanh = math::ATANH,
        MathCbrt = math::CBRT,
        MathCeil = math::CEIL,
        MathCopysign = math::COPYSIGN,
        MathCos = math::COS,
        MathCosh = math::COSH,
        MathCtlz = math::CTLZ,
        MathCtpop = math::CTPOP,
        MathCttz = math::CTTZ,
        MathErf = math::ERF,
        MathExp = math::EXP,
        MathExp2 = math::EXP2,
        MathExpm1 = math::EXPM1,
        MathFloor = math::FLOOR,
        MathFma = math::FMA,
        MathFpowi = math::FPOWI,
        MathIpowi = math::IPOWI,
        MathLog = math::LOG,
        MathLog10 = math::LOG10,
        MathLog1p = math::LOG1P,
        MathLog2 = math::LOG2,
        MathPowf = math::POWF,
        MathRound = math::ROUND,
        MathRoundeven = math::ROUNDEVEN,
        MathRsqrt = math::RSQRT,
        MathSin = math::SIN,
        MathSinh = math::SINH,
        MathSqrt = math::SQRT,
        MathTan = math::TAN,
        MathTanh = math::TANH,
        MathTrunc = math::TRUNC,
        VectorLoad = vector::LOAD,
        VectorStore = vector::STORE,
        NoisyAdd = noisy::ADD,
        NoisySub = noisy::SUB,
        NoisyMul = noisy::MUL,
        NoisyEncode = noisy::ENCODE,
        NoisyDecode = noisy::DECODE,
        NoisyReduceNoise = noisy::REDUCE_NOISE,
    }
}

//! The codes of all problems; `catalogue.md` describes them in the same order.

use std::fmt;
use std::sync::LazyLock;

/// Maximum depth of nested regions. Deeper braces are not parsed, and the op with these braces has
/// a problem: [`Code::NestingTooDeep`].
pub const MAX_REGION_DEPTH: usize = 200;

/// The family of a problem. Users see it as the category of the diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Category {
    /// The text violates the grammar.
    Syntax,
    /// A name is undefined, defined twice, or not visible.
    Name,
    /// Types or counts disagree, or a literal does not fit its type.
    Type,
    /// The text is well-formed, but the verifier rejects the program.
    Structure,
}

macro_rules! codes {
    ($($variant:ident = $name:literal,)*) => {
        /// The code of a problem: the kind of mistake, independent of the op. Its name is stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "catalogue.md has a text for each")]
        pub enum Code {
            $($variant,)*
        }

        impl Code {
            /// All codes.
            pub const ALL: &[Code] = &[$(Code::$variant),*];

            /// Returns its name in kebab case, such as `expected-token`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Code::$variant => $name,)*
                }
            }
        }
    };
}

codes! {
    ExpectedToken = "expected-token",
    ExpectedOperation = "expected-operation",
    UnexpectedCharacter = "unexpected-character",
    UnclosedRegion = "unclosed-region",
    UnknownOp = "unknown-op",
    UnregisteredOp = "unregistered-op",
    UnknownType = "unknown-type",
    UnknownAttribute = "unknown-attribute",
    UnknownCase = "unknown-case",
    InvalidType = "invalid-type",
    InvalidAttribute = "invalid-attribute",
    InvalidElement = "invalid-element",
    InvalidDimension = "invalid-dimension",
    InvalidResultNumber = "invalid-result-number",
    InvalidBound = "invalid-bound",
    InvalidStep = "invalid-step",
    NonAffine = "non-affine",
    UndeclaredIdentifier = "undeclared-identifier",
    RedefinedIdentifier = "redefined-identifier",
    DuplicateKey = "duplicate-key",
    DottedAlias = "dotted-alias",
    EmptyName = "empty-name",
    EmptyBody = "empty-body",
    MixedArguments = "mixed-arguments",
    NoResults = "no-results",
    TooWide = "too-wide",
    TooLarge = "too-large",
    LiteralType = "literal-type",
    RaggedLiteral = "ragged-literal",
    UndefinedValue = "undefined-value",
    UndefinedBlock = "undefined-block",
    UndefinedAlias = "undefined-alias",
    RedefinedValue = "redefined-value",
    RedefinedBlock = "redefined-block",
    RedefinedAlias = "redefined-alias",
    RedefinedSymbol = "redefined-symbol",
    UnknownFunction = "unknown-function",
    TypeClash = "type-clash",
    TypesDiffer = "types-differ",
    ShapesDiffer = "shapes-differ",
    OperandType = "operand-type",
    ResultType = "result-type",
    OperandCount = "operand-count",
    ResultCount = "result-count",
    CallOperands = "call-operands",
    CallResults = "call-results",
    FunctionType = "function-type",
    CastWidth = "cast-width",
    CastTypes = "cast-types",
    ElementType = "element-type",
    IndexCount = "index-count",
    Dominance = "dominance",
    Isolated = "isolated",
    MissingTerminator = "missing-terminator",
    EmptyBlock = "empty-block",
    TerminatorNotLast = "terminator-not-last",
    WrongTerminator = "wrong-terminator",
    MisplacedOp = "misplaced-op",
    MisplacedSymbol = "misplaced-symbol",
    PublicDeclaration = "public-declaration",
    BranchToEntry = "branch-to-entry",
    SuccessorOperands = "successor-operands",
    NamedBlock = "named-block",
    NoBlock = "no-block",
    SeveralBlocks = "several-blocks",
    MissingElse = "missing-else",
    EntryArguments = "entry-arguments",
    RegionArguments = "region-arguments",
    RegionValues = "region-values",
    NoBounds = "no-bounds",
    BoundCount = "bound-count",
    StepNotPositive = "step-not-positive",
    CaseCount = "case-count",
    DuplicateCase = "duplicate-case",
    WrongCount = "wrong-count",
    MissingAttribute = "missing-attribute",
    AttributeName = "attribute-name",
    AttributeCount = "attribute-count",
    AttributeValue = "attribute-value",
    AffineOperand = "affine-operand",
    ScalableElements = "scalable-elements",
    NestingTooDeep = "nesting-too-deep",
    TooMany = "too-many",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The documentation of a code.
#[derive(Clone, Copy, Debug)]
struct CodeDocs {
    category: Category,
    title: &'static str,
    text: &'static str,
}

/// The pages with their codes, in the order of `catalogue.md`.
fn pages() -> impl Iterator<Item = (&'static str, CodeDocs)> {
    let book = include_str!("catalogue.md");
    book.split("\n## ").map(|page| {
        let (head, text) = page.split_once('\n').unwrap_or((page, ""));
        let (category, name) = head.trim_start_matches("## ").split_once(' ').unwrap_or(("", head));
        let (name, title) = name.split_once(": ").unwrap_or((name, ""));
        let category = match category {
            "name" => Category::Name,
            "type" => Category::Type,
            "structure" => Category::Structure,
            _ => Category::Syntax,
        };
        (name, CodeDocs { category, title, text: text.trim_matches('\n') })
    })
}

impl Code {
    /// Returns the family of its problems.
    pub fn category(self) -> Category {
        self.page().category
    }

    /// Returns a title of a few words, such as `a name is defined twice`.
    pub fn title(self) -> &'static str {
        self.page().title
    }

    /// Returns a description with an example and a corrected example, in Markdown.
    pub fn docs(self) -> &'static str {
        self.page().text
    }

    fn page(self) -> CodeDocs {
        static PAGES: LazyLock<Vec<CodeDocs>> = LazyLock::new(|| pages().map(|it| it.1).collect());
        PAGES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[test]
    fn every_code_has_a_page_and_every_page_a_code() {
        let codes: Vec<_> = Code::ALL.iter().map(|it| it.name()).collect();
        let pages: Vec<_> = pages().map(|it| it.0).collect();
        assert_eq!(codes, pages);
        let names: std::collections::BTreeSet<_> = codes.iter().collect();
        assert_eq!(names.len(), codes.len(), "each name stands for one code");
        for code in Code::ALL {
            assert!(!code.title().is_empty() && !code.docs().is_empty(), "{code}");
        }
    }

    /// Returns the codes and families of the problems of a program.
    fn problem_codes(text: &str) -> Vec<(Code, Category)> {
        let problems = Source::new(text).problems();
        let mut out: Vec<_> = problems.iter().map(|it| (it.2.code, it.2.category())).collect();
        out.dedup();
        out
    }

    #[test]
    fn first_example_has_the_code_and_second_has_no_problem() {
        for &code in Code::ALL {
            let examples: Vec<_> = code
                .docs()
                .split("```mlir\n")
                .skip(1)
                .map(|it| it.split("```").next().unwrap_or(""))
                .collect();
            match examples[..] {
                [bad, good] => {
                    assert_eq!(problem_codes(bad), [(code, code.category())], "{bad}");
                    assert_eq!(problem_codes(good), [], "{good}");
                }
                // Examples of these limits would fill pages.
                _ => assert!(
                    matches!(code, Code::NestingTooDeep | Code::TooMany),
                    "{code} has {} examples",
                    examples.len()
                ),
            }
        }
    }

    #[test]
    fn text_beyond_the_limits_is_reported() {
        let deep = format!("\"a.b\"() : () -> {}i1{}", "tuple<".repeat(200), ">".repeat(200));
        let dims: Vec<_> = (0..5000).map(|it| format!("d{it}")).collect();
        let many = format!("#m = affine_map<({}) -> (d0)>", dims.join(", "));
        for (text, code) in [(deep, Code::NestingTooDeep), (many, Code::TooMany)] {
            assert_eq!(problem_codes(&text), [(code, code.category())]);
        }
    }
}

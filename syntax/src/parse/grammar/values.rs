//! The grammar of types, attributes, affine maps and locations, in chumsky, over [`Word`]s.
//!
//! It returns syntax trees (`ast.rs`) that borrow the text. The grammar must not intern anything,
//! because chumsky may run a closure any number of times, or not at all. `value_reader.rs`
//! determines the meaning of a tree and checks numbers against their types.
//!
//! The grammar is built once per thread. Its recursion depth is the nesting of the text, which
//! `words.rs` limits.

use chumsky::{
    IterParser as _, Parser,
    cache::{Cache, Cached},
    extra,
    prelude::{Boxed, Recursive, any, choice, empty},
};

use super::ast::{
    AttrTree, ComparisonOp, ConstraintTree, DimTree, ElementsTree, ExprTree, Literal, LocTree,
    MapTree, Number, TypeTree,
};
use super::error::SyntaxError;
use super::words::{Word, Words};
use crate::TokenKind;

type Extra = extra::Err<SyntaxError>;
type Production<'a, O> = Boxed<'a, 'a, Words<'a>, O, Extra>;

/// The entry points of the grammar. Each parses a value, ignores the text after it, and returns the
/// number of parsed words.
#[allow(missing_debug_implementations, reason = "parsers have nothing to show")]
pub(super) struct Grammar<'a> {
    pub(super) ty: Production<'a, (TypeTree<'a>, usize)>,
    pub(super) attr: Production<'a, (AttrTree<'a>, usize)>,
    pub(super) dict: Production<'a, (AttrTree<'a>, usize)>,
    /// `(location)`, after `loc`.
    pub(super) location: Production<'a, (LocTree<'a>, usize)>,
    /// Affine expressions of SSA values, `%i + 1, symbol(%n)`, separated by commas.
    pub(super) exprs: Production<'a, (Vec<ExprTree<'a>>, usize)>,
    /// `dense<literal>` without a type.
    pub(super) elements: Production<'a, (ElementsTree<'a>, usize)>,
}

#[derive(Default)]
pub(super) struct GrammarBuilder;

impl Cached for GrammarBuilder {
    type Parser<'a> = Grammar<'a>;

    fn make_parser<'a>(self) -> Grammar<'a> {
        build_grammar()
    }
}

thread_local! {
    /// The grammar of this thread.
    pub(super) static GRAMMAR: Cache<GrammarBuilder> = Cache::new(GrammarBuilder);
}

fn token<'a>(
    kind: TokenKind,
    label: &'static str,
) -> impl Parser<'a, Words<'a>, Word<'a>, Extra> + Clone {
    any().filter(move |it: &Word<'a>| it.kind == kind).labelled(label)
}

fn keyword<'a>(
    text: &'static str,
    label: &'static str,
) -> impl Parser<'a, Words<'a>, Word<'a>, Extra> + Clone {
    any().filter(move |it: &Word<'a>| it.kind == TokenKind::Bare && it.text == text).labelled(label)
}

/// Returns true if a bare word is a type by itself.
pub(super) fn is_type_word(text: &str) -> bool {
    matches!(text, "index" | "none" | "token")
        || float_keyword(text).is_some()
        || int_type(text).is_some()
}

/// Returns the keyword of a float type.
pub(super) fn float_keyword(text: &str) -> Option<&'static str> {
    const ALL: [&str; 18] = [
        "bf16",
        "f16",
        "f32",
        "f64",
        "f80",
        "f128",
        "tf32",
        "f8E5M2",
        "f8E4M3",
        "f8E4M3FN",
        "f8E5M2FNUZ",
        "f8E4M3FNUZ",
        "f8E4M3B11FNUZ",
        "f8E3M4",
        "f4E2M1FN",
        "f6E2M3FN",
        "f6E3M2FN",
        "f8E8M0FNU",
    ];
    ALL.into_iter().find(|it| *it == text)
}

/// Returns the sign and the width of an integer type. The width may be too large.
pub(super) fn int_type(text: &str) -> Option<(crate::Sign, &str)> {
    let (sign, width) = match text.as_bytes() {
        [b'i', ..] => (crate::Sign::Signless, &text[1..]),
        [b's', b'i', ..] => (crate::Sign::Signed, &text[2..]),
        [b'u', b'i', ..] => (crate::Sign::Unsigned, &text[2..]),
        _ => return None,
    };
    (!width.is_empty() && width.bytes().all(|it| it.is_ascii_digit())).then_some((sign, width))
}

fn build_grammar<'a>() -> Grammar<'a> {
    let mut any_type = Recursive::declare();
    let mut simple_type = Recursive::declare();
    let mut attr = Recursive::declare();
    let mut literal = Recursive::declare();
    let mut location = Recursive::declare();

    let comma = token(TokenKind::Comma, "','").boxed();
    let colon = token(TokenKind::Colon, "':'").boxed();
    let less = token(TokenKind::Less, "'<'").boxed();
    let greater = token(TokenKind::Greater, "'>'").boxed();
    let lparen = token(TokenKind::LParen, "'('").boxed();
    let rparen = token(TokenKind::RParen, "')'").boxed();
    let lsquare = token(TokenKind::LSquare, "'['").boxed();
    let rsquare = token(TokenKind::RSquare, "']'").boxed();
    let minus = token(TokenKind::Minus, "'-'").boxed();
    let int = token(TokenKind::Int, "an integer").boxed();
    let bare = token(TokenKind::Bare, "a name").boxed();
    let string = token(TokenKind::Str, "a string").boxed();

    let number = minus
        .clone()
        .or_not()
        .then(
            any()
                .filter(|it: &Word<'a>| matches!(it.kind, TokenKind::Int | TokenKind::Float))
                .labelled("a number"),
        )
        .map(|(minus, word)| Number { is_negative: minus.is_some(), word })
        .boxed();

    // Types.
    let type_list = any_type
        .clone()
        .separated_by(comma.clone())
        .collect::<Vec<_>>()
        .delimited_by(lparen.clone(), rparen.clone())
        .boxed();
    let x = keyword("x", "'x' in dimension list").boxed();
    let dim = choice((
        any()
            .filter(|it: &Word<'a>| matches!(it.kind, TokenKind::Int | TokenKind::Question))
            .map(|word| DimTree { word, is_scalable: false }),
        int.clone()
            .delimited_by(lsquare.clone(), rsquare.clone())
            .map(|word| DimTree { word, is_scalable: true }),
    ))
    .labelled("a dimension");
    let dims = choice((
        token(TokenKind::Star, "'*'").then(x.clone()).to(None),
        dim.then_ignore(x).repeated().collect::<Vec<_>>().map(Some),
    ));
    let shape = less
        .clone()
        .ignore_then(dims)
        .then(simple_type.clone())
        .then(comma.clone().ignore_then(attr.clone()).repeated().collect::<Vec<_>>())
        .boxed();
    let shaped = choice((
        // `tensor<4xf32, >` has an empty encoding.
        keyword("tensor", "a type").then(shape.clone()).then_ignore(comma.clone().or_not()),
        choice((keyword("vector", "a type"), keyword("memref", "a type"))).then(shape),
    ))
    .then_ignore(greater.clone())
    .map(|(word, ((dims, element), rest))| TypeTree::Shaped(word, dims, Box::new(element), rest));
    let complex = keyword("complex", "a type")
        .then(simple_type.clone().delimited_by(less.clone(), greater.clone()))
        .map(|(word, element)| TypeTree::Complex(word, Box::new(element)));
    let tuple = keyword("tuple", "a type").ignore_then(
        any_type
            .clone()
            .separated_by(comma.clone())
            .collect::<Vec<_>>()
            .delimited_by(less.clone(), greater.clone())
            .map(TypeTree::Tuple),
    );
    let type_word = any()
        .filter(|it: &Word<'a>| match it.kind {
            TokenKind::Bare => is_type_word(it.text),
            TokenKind::Bang | TokenKind::BangBody => true,
            _ => false,
        })
        .map(TypeTree::Word);
    simple_type.define(choice((type_word, shaped, complex, tuple)).labelled("a type").boxed());
    let function = type_list
        .clone()
        .then_ignore(token(TokenKind::Arrow, "'->'"))
        .then(choice((type_list.clone(), simple_type.clone().map(|it| vec![it]))))
        .map(|(inputs, results)| TypeTree::Function(inputs, results));
    any_type.define(choice((simple_type.clone(), function)).labelled("a type").boxed());
    let typed = colon.clone().ignore_then(any_type.clone());
    let opt_type = typed.clone().map(Box::new).or_not().boxed();

    // Literals of elements.
    let literals = literal.clone().separated_by(comma.clone()).collect::<Vec<_>>();
    literal.define(
        choice((
            number.clone().map(Literal::Number),
            any()
                .filter(|it: &Word<'a>| {
                    it.kind == TokenKind::Str || matches!(it.text, "true" | "false")
                })
                .map(Literal::Word),
            lsquare
                .clone()
                .then(literals)
                .then_ignore(rsquare.clone())
                .map(|(word, list)| Literal::List(word, list)),
            lparen
                .clone()
                .then(literal.clone())
                .then_ignore(comma.clone())
                .then(literal.clone())
                .then_ignore(rparen.clone())
                .map(|((word, real), imaginary)| {
                    Literal::Complex(word, Box::new((real, imaginary)))
                }),
        ))
        .labelled("an element literal")
        .boxed(),
    );

    // Affine maps and sets.
    let ids = bare.clone().separated_by(comma.clone()).collect::<Vec<_>>();
    let id_lists = ids
        .clone()
        .delimited_by(lparen.clone(), rparen.clone())
        .then(ids.delimited_by(lsquare.clone(), rsquare.clone()).or_not())
        .boxed();
    let id_expr = expression(bare.clone().map(ExprTree::Word).boxed());
    let map = id_lists
        .clone()
        .then_ignore(token(TokenKind::Arrow, "'->'"))
        .then(
            id_expr
                .clone()
                .map(|it| (it, None))
                .separated_by(comma.clone())
                .collect::<Vec<_>>()
                .delimited_by(lparen.clone(), rparen.clone()),
        )
        .map(map_tree);
    let equal = token(TokenKind::Equal, "'='");
    let compare = choice((
        greater.clone().then(equal.clone()).to(ComparisonOp::Greater),
        less.clone().then(equal.clone()).to(ComparisonOp::Less),
        equal.clone().then(equal.clone()).to(ComparisonOp::Equal),
    ))
    .labelled("'>=', '<=' or '=='");
    let constraint = id_expr.clone().then(compare.then(id_expr).map(Some));
    let set = id_lists
        .then_ignore(colon.clone())
        .then(
            constraint
                .separated_by(comma.clone())
                .collect::<Vec<_>>()
                .delimited_by(lparen.clone(), rparen.clone()),
        )
        .map(map_tree);

    // Attributes.
    let entry = any()
        .filter(|it: &Word<'a>| matches!(it.kind, TokenKind::Bare | TokenKind::Str))
        .labelled("an attribute name")
        .then(equal.ignore_then(attr.clone()).or_not());
    let dict = choice((
        token(TokenKind::Region, "'{'").to(AttrTree::Dict(Vec::new())),
        entry
            .separated_by(comma.clone())
            .collect::<Vec<_>>()
            .delimited_by(token(TokenKind::LBrace, "'{'"), token(TokenKind::RBrace, "'}'"))
            .map(AttrTree::Dict),
    ))
    .boxed();
    let array = attr
        .clone()
        .separated_by(comma.clone())
        .collect::<Vec<_>>()
        .delimited_by(lsquare.clone(), rsquare.clone())
        .map(AttrTree::Array);
    let path = token(TokenKind::At, "a symbol");
    let symbol = path
        .clone()
        .then(colon.clone().then(colon.clone()).ignore_then(path).repeated().collect::<Vec<_>>())
        .map(|(first, more)| AttrTree::Symbol(std::iter::once(first).chain(more).collect()));
    let elements = keyword("dense", "an attribute")
        .then(literal.clone().or_not().delimited_by(less.clone(), greater.clone()))
        .boxed();
    let dense = elements
        .clone()
        .then(typed.clone())
        .map(|((word, literal), ty)| AttrTree::Dense(word, literal, ty));
    let sparse = keyword("sparse", "an attribute")
        .ignore_then(
            literal
                .clone()
                .then_ignore(comma.clone())
                .then(literal.clone())
                .or_not()
                .delimited_by(less.clone(), greater.clone()),
        )
        .then(typed.clone())
        .map(|(both, ty)| AttrTree::Sparse(both, ty));
    let resource = keyword("dense_resource", "an attribute")
        .ignore_then(choice((bare, string.clone())).delimited_by(less.clone(), greater.clone()))
        .then(typed)
        .map(|(key, ty)| AttrTree::Resource(key, ty));
    let dense_array = keyword("array", "an attribute").ignore_then(
        simple_type
            .clone()
            .then(
                colon
                    .clone()
                    .ignore_then(literal.clone().separated_by(comma.clone()).at_least(1).collect())
                    .or_not(),
            )
            .delimited_by(less.clone(), greater.clone())
            .map(|(ty, values)| AttrTree::DenseArray(ty, values.unwrap_or_default())),
    );
    let stride = choice((
        token(TokenKind::Question, "'?'").map(|word| Number { is_negative: false, word }),
        minus
            .clone()
            .or_not()
            .then(int.clone())
            .map(|(minus, word)| Number { is_negative: minus.is_some(), word }),
    ))
    .labelled("an integer or '?'");
    let strided = keyword("strided", "an attribute").ignore_then(
        stride
            .clone()
            .separated_by(comma.clone())
            .collect::<Vec<_>>()
            .delimited_by(lsquare.clone(), rsquare.clone())
            .then(
                comma
                    .clone()
                    .then(keyword("offset", "'offset'"))
                    .then(colon.clone())
                    .ignore_then(stride)
                    .or_not(),
            )
            .delimited_by(less.clone(), greater.clone())
            .map(|(strides, offset)| AttrTree::Strided(strides, offset)),
    );
    let distinct = keyword("distinct", "an attribute").ignore_then(
        int.clone()
            .or_not()
            .delimited_by(lsquare.clone(), rsquare.clone())
            .then(attr.clone().or_not().delimited_by(less.clone(), greater.clone()))
            .map(|(id, attr)| AttrTree::Distinct(id, attr.map(Box::new))),
    );
    let loc_attr = keyword("loc", "an attribute").ignore_then(
        location.clone().delimited_by(lparen.clone(), rparen.clone()).map(AttrTree::Location),
    );
    let hash = any()
        .filter(|it: &Word<'a>| matches!(it.kind, TokenKind::Hash | TokenKind::HashBody))
        .then(opt_type.clone())
        .map(|(word, ty)| AttrTree::Hash(word, ty));
    attr.define(
        choice((
            number.then(opt_type.clone()).map(|(number, ty)| AttrTree::Number(number, ty)),
            string.clone().then(opt_type).map(|(word, ty)| AttrTree::String(word, ty)),
            hash,
            symbol,
            array,
            dict.clone(),
            keyword("true", "an attribute").to(AttrTree::Bool(true)),
            keyword("false", "an attribute").to(AttrTree::Bool(false)),
            keyword("unit", "an attribute").to(AttrTree::Unit),
            keyword("affine_map", "an attribute")
                .ignore_then(map.delimited_by(less.clone(), greater.clone()))
                .map(AttrTree::Map),
            keyword("affine_set", "an attribute")
                .ignore_then(set.delimited_by(less.clone(), greater.clone()))
                .map(AttrTree::Set),
            dense,
            sparse,
            resource,
            dense_array,
            strided,
            distinct,
            loc_attr,
            any_type.clone().map(AttrTree::Type),
        ))
        .labelled("an attribute")
        .boxed(),
    );

    // Locations.
    let position = colon.clone().ignore_then(int.clone());
    let to = keyword("to", "'to'")
        .then(int.clone().or_not())
        .then(position.clone())
        .map(|((to, line), column)| [Some(to), line, Some(column)].into_iter().flatten().collect());
    let range = position.clone().then(position).then(to.or_not()).map(
        |((line, column), to): (_, Option<Vec<Word<'a>>>)| {
            [line, column].into_iter().chain(to.unwrap_or_default()).collect::<Vec<_>>()
        },
    );
    let nested = location.clone().delimited_by(lparen.clone(), rparen.clone());
    let named = string
        .then(choice((
            nested.clone().map(|it| (Vec::new(), Some(Box::new(it)))),
            range.map(|it| (it, None)),
            empty().to((Vec::new(), None)),
        )))
        .map(|(name, (place, inner))| {
            if place.is_empty() {
                LocTree::Named(name, inner)
            } else {
                LocTree::FileLineCol(name, place)
            }
        });
    let callsite = keyword("callsite", "a location").ignore_then(
        location
            .clone()
            .then_ignore(keyword("at", "'at'"))
            .then(location.clone())
            .delimited_by(lparen.clone(), rparen.clone())
            .map(|both| LocTree::CallSite(Box::new(both))),
    );
    let fused = keyword("fused", "a location")
        .ignore_then(attr.clone().delimited_by(less, greater).map(Box::new).or_not())
        .then(
            location
                .clone()
                .separated_by(comma.clone())
                .collect::<Vec<_>>()
                .delimited_by(lsquare, rsquare),
        )
        .map(|(attr, list)| LocTree::Fused(attr, list));
    location.define(
        choice((
            named,
            callsite,
            fused,
            keyword("unknown", "a location").to(LocTree::Unknown),
            any()
                .filter(|it: &Word<'a>| matches!(it.kind, TokenKind::Hash | TokenKind::HashBody))
                .map(LocTree::Alias),
        ))
        .labelled("a location")
        .boxed(),
    );

    // Expressions of SSA values.
    let ssa = token(TokenKind::Percent, "an SSA value")
        .then(
            token(TokenKind::Hash, "a result number")
                .filter(|it: &Word<'a>| is_number(it.text))
                .or_not(),
        )
        .boxed();
    let exprs = expression(
        choice((
            keyword("symbol", "'symbol'")
                .ignore_then(ssa.clone().delimited_by(lparen, rparen))
                .map(|(name, number)| ExprTree::Use(name, number, true)),
            ssa.map(|(name, number)| ExprTree::Use(name, number, false)),
        ))
        .boxed(),
    );

    Grammar {
        ty: entry_point(any_type),
        attr: entry_point(attr),
        dict: entry_point(dict),
        location: entry_point(nested),
        elements: entry_point(elements),
        exprs: entry_point(exprs.separated_by(comma).collect::<Vec<_>>()),
    }
}

/// Returns true for a result number, such as `#4`.
fn is_number(text: &str) -> bool {
    text.len() > 1 && text[1..].bytes().all(|it| it.is_ascii_digit())
}

type Ids<'a> = (Vec<Word<'a>>, Option<Vec<Word<'a>>>);

fn map_tree<'a>(((dims, symbols), results): (Ids<'a>, Vec<ConstraintTree<'a>>)) -> MapTree<'a> {
    MapTree { dims, symbols: symbols.unwrap_or_default(), results }
}

/// Affine expressions with these leaves. `+` and `-` bind less tightly than `*`, `floordiv`,
/// `ceildiv` and `mod`; a minus sign binds most tightly.
fn expression<'a>(leaf: Production<'a, ExprTree<'a>>) -> Production<'a, ExprTree<'a>> {
    let mut expr = Recursive::declare();
    let atom = choice((
        leaf,
        token(TokenKind::Int, "an integer").map(ExprTree::Word),
        expr.clone().delimited_by(token(TokenKind::LParen, "'('"), token(TokenKind::RParen, "')'")),
    ))
    .labelled("an affine expression");
    let signed = token(TokenKind::Minus, "'-'")
        .repeated()
        .count()
        .then(atom)
        .map(|(n, it)| if n % 2 == 1 { ExprTree::Negated(Box::new(it)) } else { it })
        .boxed();
    let strong = any().filter(|it: &Word<'a>| {
        it.kind == TokenKind::Star
            || it.kind == TokenKind::Bare && matches!(it.text, "floordiv" | "ceildiv" | "mod")
    });
    let product = signed
        .clone()
        .then(strong.then(signed).repeated().collect::<Vec<_>>())
        .map(|(first, rest)| chain(first, rest))
        .boxed();
    let weak = any().filter(|it: &Word<'a>| matches!(it.kind, TokenKind::Plus | TokenKind::Minus));
    expr.define(
        product
            .clone()
            .then(weak.then(product).repeated().collect::<Vec<_>>())
            .map(|(first, rest)| chain(first, rest))
            .boxed(),
    );
    expr.boxed()
}

fn chain<'a>(first: ExprTree<'a>, rest: Vec<(Word<'a>, ExprTree<'a>)>) -> ExprTree<'a> {
    if rest.is_empty() { first } else { ExprTree::Chain(Box::new(first), rest) }
}

fn entry_point<'a, O: 'a>(
    rule: impl Parser<'a, Words<'a>, O, Extra> + 'a,
) -> Production<'a, (O, usize)> {
    rule.map_with(|it, extra| {
        let span: chumsky::span::SimpleSpan<usize> = extra.span();
        (it, span.end)
    })
    .lazy()
    .boxed()
}
